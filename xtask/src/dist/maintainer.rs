//! Who maintains the package: as Debian's tools are told, or as `Cargo.toml` says.

use anyhow::{Result, ensure};

/// Who it is where nobody says it. `.invalid` is nobody's domain (RFC 2606).
pub(super) const NOBODY: &str = "The rprof authors <authors@rprof.invalid>";

/// The maintainer: `$DEBFULLNAME <$DEBEMAIL>` (DEBEMAIL may hold both), else the first of Cargo's authors that has an
/// address.
pub(super) fn of(variable: impl Fn(&str) -> Option<String>, authors: &[String]) -> Result<String> {
    let variable = |name| variable(name).filter(|text| !text.trim().is_empty());
    let maintainer = match variable("DEBEMAIL") {
        Some(whole) if whole.contains('<') => whole,
        Some(address) => {
            let name = variable("DEBFULLNAME").unwrap_or_else(|| "The rprof authors".to_owned());
            format!("{} <{}>", name.trim(), address.trim())
        }
        None => {
            let mut authors = authors.iter().filter(|author| author.contains('<'));
            authors.next().map_or(NOBODY, String::as_str).to_owned()
        }
    };
    let is_whole = maintainer.ends_with('>') && !maintainer.contains('\n');
    ensure!(
        is_whole,
        "'{maintainer}' is no maintainer: DEBEMAIL is an address, or Name <address>"
    );
    Ok(maintainer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maintainer(variables: &[(&str, &str)], authors: &[&str]) -> Result<String> {
        let variable = |name: &str| {
            let mut found = variables.iter().filter(|(known, _)| *known == name);
            found.next().map(|(_, value)| (*value).to_owned())
        };
        let authors: Vec<String> = authors.iter().map(|&author| author.to_owned()).collect();
        of(variable, &authors)
    }

    #[test]
    fn variables_of_debians_tools_come_before_cargos_authors() {
        let authors = ["nobody", "A B <a@b.c>", "D <d@e.f>"];
        let address = ("DEBEMAIL", "x@y.z");
        for (variables, authors, expected) in [
            (&[][..], &[][..], NOBODY),
            (&[], &authors, "A B <a@b.c>"),
            (&[("DEBFULLNAME", "X")], &authors, "A B <a@b.c>"),
            (&[address], &authors, "The rprof authors <x@y.z>"),
            (&[address, ("DEBFULLNAME", "X Y")], &authors, "X Y <x@y.z>"),
            (&[("DEBEMAIL", "Z <z@y.x>")], &authors, "Z <z@y.x>"),
            (&[("DEBEMAIL", "")], &authors, "A B <a@b.c>"),
        ] {
            assert_eq!(maintainer(variables, authors).unwrap(), expected);
        }
    }

    #[test]
    fn what_would_break_the_control_file_is_refused() {
        for bad in ["a@b.c>\nDepends: x <y", "Z <z"] {
            assert!(maintainer(&[("DEBEMAIL", bad)], &[]).is_err(), "{bad}");
        }
    }
}
