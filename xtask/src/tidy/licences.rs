//! Every dependency's licence is one of those that `deny.toml` allows.
//!
//! Reads what is locked and already downloaded; asks nobody.

use anyhow::{Context, Result};
use serde_json::Value;

use super::spdx::satisfies;
use super::{Violation, line_of, text_of};
use crate::command::{host, metadata};
use crate::files::File;

/// The one package with a licence of its own; `NOTICE` says what follows from that.
const EXCEPTION: (&str, &str) = ("inferno", "CDDL-1.0");

/// Checks the dependencies of all packages of the workspace.
pub(super) fn check(files: &[File]) -> Result<Vec<Violation>> {
    let deny = text_of(files, "deny.toml").context("deny.toml is missing")?;
    let allowed = allow_list(deny).context("deny.toml has no line `allow = [`")?;
    let target = host()?;
    let metadata = metadata(&["--filter-platform", &target])
        .context("a dependency is not here: `cargo fetch --locked` once")?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.context("cargo metadata lists no packages")?;
    let lock = text_of(files, "Cargo.lock").unwrap_or_default();
    let mut violations = Vec::new();
    for package in packages {
        let name = package.get("name").and_then(Value::as_str);
        let name = name.context("a package without a name")?;
        let licence = package.get("license").and_then(Value::as_str);
        if let Some(what) = broken(name, licence, &allowed) {
            let line = line_of(lock, &format!("name = \"{name}\""));
            violations.push(Violation::new("Cargo.lock", line, what));
        }
    }
    Ok(violations)
}

/// The strings of the array `allow = [...]`.
fn allow_list(deny: &str) -> Option<Vec<String>> {
    let (_, after) = deny.split_once("\nallow = [")?;
    let (array, _) = after.split_once(']')?;
    // What stands between quotes is every second part.
    Some(
        array
            .split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect(),
    )
}

fn broken(name: &str, licence: Option<&str>, allowed: &[String]) -> Option<String> {
    let Some(licence) = licence else {
        return Some(format!("{name} names no licence: do without it"));
    };
    if (name, licence) == EXCEPTION {
        return None;
    }
    match satisfies(licence, allowed) {
        Ok(true) => None,
        Ok(false) => Some(format!(
            "{name} is licensed {licence}, which deny.toml does not allow: do without it"
        )),
        Err(error) => Some(format!(
            "{name} has a licence that cannot be read: {error:#}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allow_list_is_read_from_toml() {
        let deny = "[licenses]\nallow = [\n    \"MIT\",\n    \"A WITH B\",\n]\nexceptions = []\n";
        assert_eq!(allow_list(deny).unwrap(), ["MIT", "A WITH B"]);
        assert_eq!(allow_list("[licenses]\n"), None);
    }

    #[test]
    fn one_package_is_an_exception() {
        let allowed = ["MIT".to_owned()];
        assert_eq!(broken("inferno", Some("CDDL-1.0"), &allowed), None);
        assert_eq!(broken("serde", Some("MIT OR Apache-2.0"), &allowed), None);
        for (name, licence) in [
            ("other", Some("CDDL-1.0")),
            ("inferno", Some("GPL-3.0")),
            ("other", Some("MIT OR")),
            ("other", None),
        ] {
            assert!(
                broken(name, licence, &allowed).is_some(),
                "{name} {licence:?}"
            );
        }
    }
}
