//! Targets that are not ids.

use crate::usage::usage;
use anyhow::Result;
use rprof_record::Matching;

/// The processes of a user, by name or number.
pub(super) fn user(name: &str) -> Result<Matching> {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    match uid_in(&passwd, name).or_else(|| name.parse().ok()) {
        Some(uid) => Ok(Matching::User {
            uid,
            name: name.to_owned(),
        }),
        None => Err(usage(format_args!(
            "-u: no user '{name}' in /etc/passwd (try the numeric id: id -u '{name}')"
        ))),
    }
}

/// The number of a user, by the text of `/etc/passwd`: name, password, number.
fn uid_in(passwd: &str, name: &str) -> Option<u32> {
    let mut users = passwd.lines().map(|line| line.split(':'));
    let mut user = users.find(|fields| fields.clone().next() == Some(name))?;
    user.nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names_or_numbers() {
        let passwd = "root:x:0:0::/root:/bin/sh\n12:x:34:1::/:/bin/sh\nodd\nbad:x:y:1\n";
        let found = ["root", "12", "odd", "bad", ""].map(|name| uid_in(passwd, name));
        assert_eq!(found, [Some(0), Some(34), None, None, None]);
        assert!(matches!(user("4711"), Ok(Matching::User { uid: 4711, .. })));
        assert!(user("no such user").is_err());
    }
}
