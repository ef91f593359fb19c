//! Readable names of any length, as much of them as anybody reads.

use std::fmt::{self, Write};

/// A name that is readable as it is: as much of it as anybody reads.
pub(crate) fn shown(name: &[u8]) -> String {
    let kept = name.get(..LONGEST + 4).unwrap_or(name);
    cut(String::from_utf8_lossy(kept).into_owned())
}

/// Longer names are cut here, bytes.
pub(super) const LONGEST: usize = 16 << 10;

/// A name of any length, as much of it as anybody reads.
pub(super) fn cut(mut name: String) -> String {
    if name.len() > LONGEST {
        let mut end = LONGEST;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
        name.shrink_to(end + 3);
        name.push_str("...");
    }
    name
}

/// A text that takes little more than is kept of it.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    pub(super) text: String,
    pub(super) is_full: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.is_full |= self.text.len() > LONGEST;
        if self.is_full {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}
