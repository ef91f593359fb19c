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
        self.core() == other.core()
    }

    /// What is the same however it was recorded: what [`Self::matches`] compares, with zeros behind it up to a length
    /// that linkers use, 8, 16 or 20 bytes.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut bytes = self.core().to_vec();
        let usual = [8, 16, Self::RECORDED];
        let len = usual.into_iter().find(|&len| bytes.len() <= len);
        bytes.resize(len.unwrap_or(Self::RECORDED), 0);
        Self(bytes.into())
    }

    /// Without what records cut off, and without zeros at its end.
    fn core(&self) -> &[u8] {
        let cut = &self.0[..self.0.len().min(Self::RECORDED)];
        let last = cut.iter().rposition(|&byte| byte != 0);
        &cut[..last.map_or(0, |at| at + 1)]
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
    fn a_canonical_id_is_the_same_however_it_was_recorded() {
        let canonical = |bytes: &[u8]| BuildId::new(bytes).unwrap().canonical().0.to_vec();
        for len in [8, 16, 20] {
            let id = vec![7; len];
            let padded = [&id[..], &[0; 20][len..]].concat();
            assert_eq!(canonical(&id), id);
            assert_eq!(canonical(&padded), id);
        }
        assert_eq!(canonical(&[7; 32]), [7; 20]);
        // Its last byte is 0.
        let ends_so = [&[7; 19][..], &[0]].concat();
        assert_eq!(canonical(&ends_so), ends_so);
        assert_eq!(canonical(&[1, 2]), [1, 2, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn files_are_named_by_the_first_byte_and_the_others() {
        let path = |bytes: &[u8]| BuildId::new(bytes).unwrap().path();
        assert_eq!(path(&[0xab, 0xcd, 0x0e]), Some(".build-id/ab/cd0e".into()));
        assert_eq!(path(&[0xab]), None);
    }
}
