//! What is asked of servers.

use rprof_base::BuildId;

/// Which file of a build id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Symbols and DWARF.
    Debuginfo,
    /// The program or library itself.
    Executable,
}

impl Kind {
    /// As servers and the folder of fetched files call it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Debuginfo => "debuginfo",
            Self::Executable => "executable",
        }
    }
}

/// What is wanted of a build id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wanted {
    /// A file with code or DWARF.
    Elf(Kind),
    /// A source file, by its absolute path in DWARF.
    Source(String),
}

impl Wanted {
    /// The longest name of a file (`NAME_MAX` of linux/limits.h), without what temporary names add.
    const LONGEST: usize = 240;

    /// A source file, if servers can be asked for it and it can be kept.
    pub(super) fn source(path: &str) -> Option<Self> {
        let wanted = Self::Source(path.to_owned());
        let is_short = wanted.file_name().len() <= Self::LONGEST;
        (path.starts_with('/') && !path.contains('\0') && is_short).then_some(wanted)
    }

    /// What follows the build id in a request: bytes of paths that URLs have no room for are written as numbers.
    #[cfg(feature = "debuginfod")]
    pub(super) fn url(&self) -> String {
        match self {
            Self::Elf(kind) => kind.word().to_owned(),
            Self::Source(path) => {
                let mut url = "source".to_owned();
                for byte in path.bytes() {
                    match byte {
                        b'a'..=b'z'
                        | b'A'..=b'Z'
                        | b'0'..=b'9'
                        | b'/'
                        | b'-'
                        | b'.'
                        | b'_'
                        | b'~' => {
                            url.push(char::from(byte));
                        }
                        _ => url += &format!("%{byte:02X}"),
                    }
                }
                url
            }
        }
    }

    /// The name in the folder of fetched files, as elfutils has it (`path_escape` of debuginfod-client.c, 0.188).
    pub(super) fn file_name(&self) -> String {
        match self {
            Self::Elf(kind) => kind.word().to_owned(),
            Self::Source(path) => {
                let escaped = path.replace('#', "#_").replace('/', "##");
                format!("source{escaped}")
            }
        }
    }
}

/// A file that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Request {
    pub(super) id: BuildId,
    pub(super) wanted: Wanted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_file_is_asked_for_by_its_path_and_kept_beside_the_code() {
        let wanted = Wanted::source("/usr/src/a b#/c++/x.cc").unwrap();
        #[cfg(feature = "debuginfod")]
        assert_eq!(wanted.url(), "source/usr/src/a%20b%23/c%2B%2B/x.cc");
        assert_eq!(wanted.file_name(), "source##usr##src##a b#_##c++##x.cc");
    }

    #[test]
    fn what_is_no_absolute_path_or_has_no_room_is_not_asked_for() {
        assert_eq!(Wanted::source("src/x.c"), None);
        assert_eq!(Wanted::source(&"/long".repeat(100)), None);
        assert_eq!(Wanted::source("/a\0b"), None);
    }
}
