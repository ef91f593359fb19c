//! GNU build ids.

use std::fmt;

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
    pub fn same(&self, other: &Self) -> bool {
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

    /// Finds the build id in ELF notes (`NT_GNU_BUILD_ID` of owner `GNU`), native byte order.
    pub fn in_notes(mut notes: &[u8]) -> Option<Self> {
        const NT_GNU_BUILD_ID: u32 = 3;
        loop {
            let (head, rest) = notes.split_first_chunk::<12>()?;
            let word = |at: usize| {
                let bytes = [head[at], head[at + 1], head[at + 2], head[at + 3]];
                u32::from_ne_bytes(bytes)
            };
            let padded = |len: u32| usize::try_from(len).ok()?.checked_next_multiple_of(4);
            let (name_len, desc_len, kind) = (word(0), word(4), word(8));
            let (name, rest) = rest.split_at_checked(padded(name_len)?)?;
            let (desc, rest) = rest.split_at_checked(padded(desc_len)?)?;
            if kind == NT_GNU_BUILD_ID && name == b"GNU\0" {
                return Self::new(desc.get(..usize::try_from(desc_len).ok()?)?);
            }
            notes = rest;
        }
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
        assert!(id(&[7; 32]).same(&id(&[7; 20])));
        assert!(id(&[1, 2, 3]).same(&id(&[1, 2, 3, 0, 0])));
        assert!(!id(&[1, 2, 3]).same(&id(&[1, 2])));
        assert_eq!(BuildId::new(&[0; 20]), None);
    }

    #[test]
    fn the_note_is_found_behind_others_and_damage_is_none() {
        let mut notes = Vec::new();
        for (kind, desc) in [(1u32, &b"abcde\0\0\0"[..]), (3, b"idid")] {
            let desc_len = if kind == 1 { 5u32 } else { 4 };
            notes.extend(4u32.to_ne_bytes());
            notes.extend(desc_len.to_ne_bytes());
            notes.extend(kind.to_ne_bytes());
            notes.extend(b"GNU\0");
            notes.extend(desc);
        }
        assert_eq!(BuildId::in_notes(&notes).unwrap().as_bytes(), b"idid");
        for len in 0..notes.len() {
            assert_eq!(BuildId::in_notes(&notes[..len]), None);
        }
    }
}
