//! The token that says who we are: from a file or the environment, in no text.

use crate::Error;
use rprof_base::base64_text;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The variable that a token may be in.
const VARIABLE: &str = "RPROF_PUSH_TOKEN";

/// Bytes of a token.
const MAX_TOKEN: usize = 16 << 10;

/// Where the token is, if there is one. A file is read for each message: it may be replaced at any time.
#[derive(Clone, Default)]
pub struct Credentials {
    file: Option<PathBuf>,
    variable: Option<String>,
    user: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// A header's value that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Authorization {
    pub(crate) header: String,
    token: String,
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorization")
    }
}

impl Authorization {
    /// What gives it away: the token, and what is sent of it.
    pub(crate) fn secrets(&self) -> [&str; 2] {
        let encoded = self.header.rsplit(' ').next().unwrap_or_default();
        [&self.token, encoded]
    }
}

impl Credentials {
    /// The token of a file, or else of the environment. With a user, it is that user's password.
    ///
    /// # Errors
    /// [`Error::Token`] if it cannot be used now.
    pub fn new(file: Option<&Path>, user: Option<&str>) -> Result<Self, Error> {
        if user.is_some_and(|user| user.is_empty() || user.contains([':', '\n', '\r'])) {
            return Err(Error::Token {
                place: "--user".to_owned(),
                why: "expected a name without a colon".to_owned(),
            });
        }
        let credentials = Self {
            file: file.map(Path::to_owned),
            variable: match file {
                Some(_) => None,
                None => variable()?,
            },
            user: user.map(str::to_owned),
        };
        let is_there = credentials.authorization()?.is_some();
        if user.is_some() && !is_there {
            return Err(Error::Token {
                place: "--user".to_owned(),
                why: format!("there is no password: use --token-file FILE or {VARIABLE}"),
            });
        }
        Ok(credentials)
    }

    /// Whether there is a token.
    pub(crate) fn are_given(&self) -> bool {
        self.file.is_some() || self.variable.is_some()
    }

    pub(crate) fn authorization(&self) -> Result<Option<Authorization>, Error> {
        let (place, text) = match (&self.file, &self.variable) {
            (Some(path), _) => (path.display().to_string(), read(path)?),
            (None, Some(text)) => (VARIABLE.to_owned(), text.clone()),
            (None, None) => return Ok(None),
        };
        let token = text.trim_end_matches(['\n', '\r']);
        let wrong = |why: &str| Error::Token {
            place: place.clone(),
            why: why.to_owned(),
        };
        if token.is_empty() {
            return Err(wrong("the token is empty"));
        }
        if token.len() > MAX_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(
                "not a token: expected one line of visible ASCII characters",
            ));
        }
        let header = match &self.user {
            Some(user) => {
                let pair = format!("{user}:{token}");
                format!("Basic {}", base64_text(pair.as_bytes()))
            }
            None => format!("Bearer {token}"),
        };
        Ok(Some(Authorization {
            header,
            token: token.to_owned(),
        }))
    }
}

/// The token in the environment, if there is one.
fn variable() -> Result<Option<String>, Error> {
    match std::env::var(VARIABLE) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        // Without it we would push as somebody else.
        Err(std::env::VarError::NotUnicode(_)) => Err(Error::Token {
            place: VARIABLE.to_owned(),
            why: "not a token: expected one line of visible ASCII characters".to_owned(),
        }),
    }
}

/// Reads the file of a token. One of ours that others may read is refused, as ssh refuses keys.
fn read(path: &Path) -> Result<String, Error> {
    let wrong = |why: String| Error::Token {
        place: path.display().to_string(),
        why,
    };
    let (file, meta) = rprof_untrusted::open(path).map_err(|error| wrong(error.to_string()))?;
    let us = rustix::process::geteuid().as_raw();
    if meta.uid() == us && meta.mode() & 0o077 != 0 {
        let mode = meta.mode() & 0o777;
        let why = format!("other users may read the token (mode {mode:03o}): chmod 600");
        return Err(wrong(why));
    }
    let mut text = String::new();
    let read = file.take(MAX_TOKEN as u64 + 2).read_to_string(&mut text);
    read.map_err(|error| wrong(error.to_string()))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(file.path(), mode).unwrap();
        file
    }

    #[test]
    fn a_token_is_one_line_of_a_file_that_is_ours_alone() {
        let header = |text: &str, mode, user| {
            let file = file(text, mode);
            let credentials = Credentials::new(Some(file.path()), user);
            credentials.map(|one| one.authorization().unwrap().unwrap().header)
        };
        assert_eq!(header("hunter2\n", 0o600, None).unwrap(), "Bearer hunter2");
        let basic = header("hunter2\r\n", 0o400, Some("me")).unwrap();
        assert_eq!(basic, "Basic bWU6aHVudGVyMg==");
        for (text, mode, why) in [
            ("hunter2", 0o640, "chmod 600"),
            ("hunter2", 0o604, "chmod 600"),
            ("", 0o600, "empty"),
            ("\n", 0o600, "empty"),
            ("hunter2\nhunter3", 0o600, "one line"),
            ("hunter2 ", 0o600, "one line"),
        ] {
            let error = header(text, mode, None).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_gives_a_token_away_is_known() {
        let file = file("hunter2", 0o600);
        let credentials = Credentials::new(Some(file.path()), Some("me")).unwrap();
        let authorization = credentials.authorization().unwrap().unwrap();
        assert_eq!(authorization.secrets(), ["hunter2", "bWU6aHVudGVyMg=="]);
        assert!(!format!("{authorization:?} {credentials:?}").contains("hunter"));
    }

    #[test]
    fn a_user_has_no_colon() {
        for user in ["", "a:b", "a\nb"] {
            assert!(Credentials::new(None, Some(user)).is_err(), "{user}");
        }
    }
}
