//! Which distribution this is: how it packs debug files, and which server has them.

use std::path::PathBuf;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Distribution {
    pub(super) packages: Packages,
    /// Its debuginfod server.
    pub(super) server: &'static str,
    /// The archive that has debug packages, if it is one of its own that `apt` does not ask yet.
    pub(super) debug_archive: Option<String>,
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
        let mut here = Self::of(&text.unwrap_or_default());
        if here.debug_archive.is_some() && asks_debug_archive(&apt_sources()) {
            here.debug_archive = None;
        }
        here
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
        // Debian's and Ubuntu's debug packages are not where their packages are.
        let codename = value("VERSION_CODENAME");
        let debug_archive = match value("ID") {
            // Those that are like it have suites of other names.
            _ if codename.is_empty() => None,
            "debian" => Some(format!("debian-debug, suite {codename}-debug")),
            "ubuntu" => Some(format!("ddebs, suite {codename}")),
            _ => None,
        };
        Self {
            packages,
            server,
            debug_archive,
        }
    }
}

/// All that `apt` is told about archives.
fn apt_sources() -> String {
    let folder = std::fs::read_dir("/etc/apt/sources.list.d");
    let folder = folder.into_iter().flatten();
    let is_read = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("list" | "sources"))
    };
    let files = folder.filter_map(|entry| Some(entry.ok()?.path()).filter(is_read));
    let files = std::iter::once(PathBuf::from("/etc/apt/sources.list")).chain(files);
    files
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect()
}

/// Whether an archive of debug packages is among them.
fn asks_debug_archive(sources: &str) -> bool {
    let is_on = |stanza: &&str| !stanza.contains("Enabled: no");
    let stanzas = sources.split("\n\n").filter(is_on);
    let lines = stanzas.flat_map(str::lines).map(str::trim);
    let told = lines.filter(|line| !line.starts_with('#'));
    let mut words = told.flat_map(str::split_whitespace);
    words.any(|word| {
        word.ends_with("-debug") || word.contains("debian-debug") || word.contains("ddebs")
    })
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

    #[test]
    fn debug_packages_may_be_in_an_archive_of_their_own() {
        let of = |text| Distribution::of(text).debug_archive;
        let debian = of("ID=debian\nVERSION_CODENAME=bookworm\n");
        assert_eq!(
            debian.as_deref(),
            Some("debian-debug, suite bookworm-debug")
        );
        assert_eq!(of("ID=fedora\n"), None);
        assert_eq!(
            of("ID=linuxmint\nID_LIKE=ubuntu\nVERSION_CODENAME=wilma\n"),
            None
        );
        assert_eq!(of("ID=debian\n"), None);
        for (sources, is_there) in [
            ("deb http://mirror/debian bookworm main", false),
            (
                "# deb http://mirror/debian-debug bookworm-debug main",
                false,
            ),
            ("deb http://mirror/debian-debug/ bookworm-debug main", true),
            ("Types: deb\nSuites: bookworm bookworm-debug\n", true),
            (
                "Enabled: no\nSuites: bookworm-debug\n\nSuites: bookworm\n",
                false,
            ),
            ("deb http://ddebs.mirror noble main", true),
        ] {
            assert_eq!(asks_debug_archive(sources), is_there, "{sources}");
        }
    }
}
