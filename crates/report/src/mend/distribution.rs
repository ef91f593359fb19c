//! Which distribution this is: how it packs debug files, and which server has them.

/// How packages are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packages {
    /// Debian and its children: files of packages are listed in `/var/lib/dpkg/info`.
    Dpkg,
    /// Fedora and its children: `dnf` knows packages by the files in them.
    Dnf,
    /// Others.
    Unknown,
}

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distribution {
    pub(super) packages: Packages,
    /// Its debuginfod server.
    pub(super) server: &'static str,
}

/// Source: <https://debuginfod.elfutils.org>, which lists them and asks all of them.
const KNOWN: &[(&str, Packages, &str)] = &[
    ("debian", Packages::Dpkg, "https://debuginfod.debian.net"),
    ("ubuntu", Packages::Dpkg, "https://debuginfod.ubuntu.com"),
    (
        "fedora",
        Packages::Dnf,
        "https://debuginfod.fedoraproject.org",
    ),
    ("centos", Packages::Dnf, "https://debuginfod.centos.org"),
    (
        "arch",
        Packages::Unknown,
        "https://debuginfod.archlinux.org",
    ),
    (
        "opensuse",
        Packages::Unknown,
        "https://debuginfod.opensuse.org",
    ),
];

impl Distribution {
    /// This machine's.
    pub(super) fn here() -> Self {
        let text = std::fs::read_to_string("/etc/os-release");
        Self::of(&text.unwrap_or_default())
    }

    /// By the text of `os-release`: its own name, or those that it is like, nearest first.
    fn of(text: &str) -> Self {
        let value = |key: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            value.unwrap_or_default().trim_matches(['"', '\''])
        };
        let names = [value("ID"), value("ID_LIKE")];
        let mut names = names.iter().flat_map(|names| names.split_whitespace());
        let known = names.find_map(|name| {
            // openSUSE's are called opensuse-leap and opensuse-tumbleweed.
            KNOWN.iter().find(|(known, ..)| name.starts_with(known))
        });
        let elsewhere = (Packages::Unknown, "https://debuginfod.elfutils.org");
        let (packages, server) =
            known.map_or(elsewhere, |&(_, packages, server)| (packages, server));
        Self { packages, server }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_like_their_parents() {
        let of = |text| Distribution::of(text);
        let debian = of("PRETTY_NAME=\"x\"\nID=debian\n");
        assert_eq!(debian.packages, Packages::Dpkg);
        assert_eq!(debian.server, "https://debuginfod.debian.net");
        let mint = of("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n");
        assert_eq!(mint.server, "https://debuginfod.ubuntu.com");
        assert_eq!(
            of("ID=\"rhel\"\nID_LIKE=\"fedora\"\n").packages,
            Packages::Dnf
        );
        assert_eq!(of("ID=\"opensuse-leap\"\n").server, KNOWN[5].2);
        assert_eq!(of("").packages, Packages::Unknown);
    }
}
