//! A part of a recording: what one message is made of.

use crate::Labels;
use sha2::{Digest, Sha256};
use std::fmt;

/// One message, but for what the protocol puts around it.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// A pprof profile or an OTLP request, not compressed.
    pub body: &'a [u8],
    /// What it is called.
    pub id: PartId,
    /// What tells its series from others; OTLP's body has them already.
    pub labels: &'a Labels,
    /// When its samples were taken, nanoseconds since 1970; 0 if that is not known.
    pub start_ns: u64,
    /// From there to the last sample, nanoseconds.
    pub duration_ns: u64,
}

/// What a part is called: it follows from its content, so that what is sent again has the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId([u8; 16]);

impl fmt::Debug for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Display for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl PartId {
    /// Of a part's body.
    pub fn of(body: &[u8]) -> Self {
        let mut id = [0; 16];
        let hash = Sha256::digest(body);
        id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self(id)
    }

    /// Of the nth part with the same body, from 0: each is a part of its own.
    #[must_use]
    pub fn nth(self, nth: u64) -> Self {
        if nth == 0 {
            return self;
        }
        Self::of(&[&self.0[..], &nth.to_be_bytes()].concat())
    }

    /// Reads 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let number = u128::from_str_radix(text, 16).ok()?;
        Some(Self(number.to_be_bytes()))
    }

    /// In the form of UUIDs.
    pub(crate) fn as_uuid(self) -> String {
        let digits = hex(&self.0);
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        let parts = [
            part(0, 8),
            part(8, 12),
            part(12, 16),
            part(16, 20),
            part(20, 32),
        ];
        parts.join("-")
    }
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = PartId::of(b"a");
        assert_eq!(PartId::parse(&id.to_string()), Some(id));
        assert_ne!(id, PartId::of(b"b"));
        assert_eq!(id.nth(0), id);
        assert!(id.nth(1) != id && id.nth(1) != id.nth(2));
        assert_eq!(PartId::parse("+1234567890123456789012345678901"), None);
        assert_eq!(id.as_uuid(), "ca978112-ca1b-bdca-fac2-31b39a23dc4d");
    }
}
