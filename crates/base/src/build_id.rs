//! GNU build ids.

use std::fmt;
use std::path::{Path, PathBuf};

/// The identity of a file's contents, usually 20 bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(Box<[u8]>);

impl BuildId {
    /// Records carry no more than this many bytes of a build id.
    const RECORDED: usize = 20;

    /// From raw bytes; `None` if there are none, or all are zero (a record's "not known").
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let known = bytes.iter().any(|&byte| byte != 0);
        known.then(|| Self(bytes.into()))
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether both name the same contents. Records cut ids to 20 bytes and old ones fill
    /// shorter ids with zeros, so those differences do not count.
    pub fn matches(&self, other: &Self) -> bool {
        fn core(id: &BuildId) -> &[u8] {
            let cut = &id.0[..id.0.len().min(BuildId::RECORDED)];
            let used = cut
                .iter()
                .rposition(|&byte| byte != 0)
                .map_or(0, |at| at + 1);
            &cut[..used]
        }
        core(self) == core(other)
    }

    /// Where caches and folders of debug files have what belongs to it: `.build-id/ab/cdef...`; `None`
    /// if it is a single byte.
    pub fn path(&self) -> Option<PathBuf> {
        let hex = self.to_string();
        let (first, rest) = hex.split_at_checked(2)?;
        (!rest.is_empty()).then(|| Path::new(".build-id").join(first).join(rest))
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_and_zero_filled_ids_are_the_same() {
        let id = |bytes: &[u8]| BuildId::new(bytes).unwrap();
        assert!(id(&[7; 32]).matches(&id(&[7; 20])));
        assert!(id(&[1, 2, 3]).matches(&id(&[1, 2, 3, 0, 0])));
        assert!(!id(&[1, 2, 3]).matches(&id(&[1, 2])));
        assert_eq!(BuildId::new(&[0; 20]), None);
    }

    #[test]
    fn files_are_named_by_the_first_byte_and_the_others() {
        let path = |bytes: &[u8]| BuildId::new(bytes).unwrap().path();
        assert_eq!(path(&[0xab, 0xcd, 0x0e]), Some(".build-id/ab/cd0e".into()));
        assert_eq!(path(&[0xab]), None);
    }
}
