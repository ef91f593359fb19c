//! Hashes of content: the same on every machine and in every release. PARQUET.md says what is hashed, and how.

use foldhash::HashMap;
use sha2::{Digest, Sha256};

/// A hash as the tables have it, with as much of the digest again to tell a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContentHash {
    pub(super) hash: i64,
    pub(super) check: u64,
}

impl ContentHash {
    /// 32 digits: the first 16 bytes of the digest.
    pub(super) fn digits(self) -> String {
        let first = self.hash.cast_unsigned().swap_bytes();
        format!("{first:016x}{:016x}", self.check.swap_bytes())
    }
}

/// Hashes parts, each told apart from the next.
pub(super) struct ContentHasher(Sha256);

impl ContentHasher {
    /// Begins with what kind of content it is: other kinds have other hashes.
    pub(super) fn new(kind: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.bytes(kind.as_bytes());
        hasher
    }

    /// Adds bytes, after their number.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    /// Adds a number: 8 bytes, little-endian.
    pub(super) fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// Adds numbers, some at a time: each call of the digest costs as much as the bytes of one.
    pub(super) fn numbers(&mut self, numbers: &[i64]) {
        let mut bytes = [0; 8 * 16];
        for some in numbers.chunks(16) {
            for (slot, number) in bytes.chunks_exact_mut(8).zip(some) {
                slot.copy_from_slice(&number.to_le_bytes());
            }
            self.0.update(&bytes[..8 * some.len()]);
        }
    }

    /// The first 16 bytes of the digest.
    pub(super) fn finish(self) -> ContentHash {
        let digest = self.0.finalize();
        let word = |at: usize| {
            let bytes = digest.get(at..).and_then(<[u8]>::first_chunk);
            u64::from_le_bytes(bytes.copied().unwrap_or_default())
        };
        ContentHash {
            hash: word(0).cast_signed(),
            check: word(8),
        }
    }
}

/// The hash of a stack: of the hashes of its frames, innermost first.
pub(super) fn stack_hash(frames: &[i64]) -> ContentHash {
    let mut hasher = ContentHasher::new("rprof stack");
    hasher.numbers(frames);
    hasher.finish()
}

/// The hashes that a table has so far.
#[derive(Debug, Default)]
pub(super) struct KnownHashes(HashMap<i64, u64>);

/// Different content has one hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collision(pub(super) i64);

impl KnownHashes {
    /// Adds one; whether it is new.
    pub(super) fn add(&mut self, content: ContentHash) -> Result<bool, Collision> {
        let mut is_new = false;
        let check = *self.0.entry(content.hash).or_insert_with(|| {
            is_new = true;
            content.check
        });
        if check == content.check {
            Ok(is_new)
        } else {
            Err(Collision(content.hash))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of one of these raises the version of the schema: old files would not join new ones.
    #[test]
    fn hashes_stay_what_they_are() {
        assert!(include_str!("../../PARQUET.md").contains("has the hash -1263399988705395862,"));
        assert_eq!(stack_hash(&[1, -2]).hash, -1_263_399_988_705_395_862);
        assert_eq!(stack_hash(&[]).hash, -2_033_029_754_176_444_166);
        let mut hasher = ContentHasher::new("a");
        hasher.bytes(b"bc");
        assert_eq!(hasher.finish().hash, -4_701_539_523_273_913_702);
    }

    #[test]
    fn digits_are_those_of_the_digest() {
        let content = ContentHash {
            hash: 0x0807_0605_0403_0201,
            check: 0x100f_0e0d_0c0b_0a09,
        };
        assert_eq!(content.digits(), "0102030405060708090a0b0c0d0e0f10");
    }

    #[test]
    fn parts_are_told_apart() {
        let hash = |parts: [&[u8]; 2]| {
            let mut hasher = ContentHasher::new("kind");
            parts.iter().for_each(|part| hasher.bytes(part));
            hasher.finish()
        };
        assert_ne!(hash([b"ab", b"c"]), hash([b"a", b"bc"]));
        assert_ne!(stack_hash(&[1, 2]), stack_hash(&[2, 1]));
    }

    #[test]
    fn numbers_are_hashed_as_one_after_the_other() {
        for n in [0, 1, 15, 16, 17, 40] {
            let numbers: Vec<i64> = (-3..n).collect();
            let [mut one_by_one, mut together] = [(); 2].map(|()| ContentHasher::new("kind"));
            numbers
                .iter()
                .for_each(|number| one_by_one.number(number.cast_unsigned()));
            together.numbers(&numbers);
            assert_eq!(one_by_one.finish(), together.finish());
        }
    }

    #[test]
    fn a_collision_is_an_error_and_the_same_content_is_not() {
        let mut known = KnownHashes::default();
        let content = |hash, check| ContentHash { hash, check };
        assert_eq!(known.add(content(1, 5)), Ok(true));
        assert_eq!(known.add(content(2, 5)), Ok(true));
        assert_eq!(known.add(content(1, 5)), Ok(false));
        assert_eq!(known.add(content(1, 6)), Err(Collision(1)));
    }
}
