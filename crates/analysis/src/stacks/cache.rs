//! The stack cache: what a pass made of a stack, so that it need not go along the same stack again. Samples of long
//! recordings repeat, and each frame costs a look-up.

use super::chain::{ChainOptions, UserPart, UserStack};
use super::ends::Missing;
use crate::locations::Mappings;
use crate::samples::DecodedSample;
use rprof_abi::{Callchain, CpuMode};
use std::hash::{BuildHasher, RandomState};

/// A stack in its address space, told from others by 128 seeded bits, of which the cache compares 104 at least: stacks
/// of two are taken for one only by chance, whatever the recording holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct StackKey {
    hash: u64,
    check: u64,
}

/// A table of stacks in sets: each remembers its four newest, and so the table stays small. In sets of one, stacks that
/// take turns would push each other out, even in a table that is mostly empty.
pub(crate) struct StackCache<T> {
    sets: Box<[Set<T>]>,
    seeds: Seeds,
}

/// A stack's key, without what its set's number says, and what was made of it. With four bytes of that, it is a quarter
/// of a cache line.
#[derive(Clone, Copy, Default)]
struct Slot<T> {
    check: u64,
    hash: u32,
    value: T,
}

/// Slots of a set.
const WAYS: usize = 4;

/// The newest stack comes first.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Set<T>([Slot<T>; WAYS]);

impl<T: Copy> Set<T> {
    #[inline]
    fn find(&self, key: StackKey) -> Option<T> {
        let mut slots = self.0.iter();
        let found = slots.find(|slot| slot.check == key.check && slot.hash == key.rest());
        found.map(|slot| slot.value)
    }
}

impl StackKey {
    /// The half of the hash that no set's number is made of.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
    fn rest(self) -> u32 {
        self.hash as u32
    }
}

impl<T: Copy + Default> StackCache<T> {
    /// For a recording of this many samples.
    pub(crate) fn new(n_samples: u64) -> Self {
        let wanted = usize::try_from(n_samples / 4).unwrap_or(usize::MAX);
        let n_slots = wanted.clamp(1 << 10, 1 << 20).next_power_of_two();
        Self {
            sets: vec![Set::default(); n_slots / WAYS].into(),
            seeds: Seeds::new(),
        }
    }

    /// The key of a sample's stack, with its user part; `group` is what else tells samples apart.
    #[inline]
    pub(crate) fn key(
        &self,
        (decoded, user): (&DecodedSample<'_>, UserStack<'_>),
        mappings: Mappings,
        chains: ChainOptions,
        group: u64,
    ) -> StackKey {
        let mut key = Hasher::new(self.seeds);
        key.add(u64::from(decoded.raw.misc.0));
        key.add(group);
        let mode = decoded.raw.misc.cpu_mode();
        key.add(if chains.stacks {
            mappings.number()
        } else {
            mappings.number_at(mode)
        });
        if matches!(mode, CpuMode::GuestKernel | CpuMode::GuestUser) {
            // A guest's mappings have no number here: no two such stacks are the same.
            key.add(decoded.key.offset);
        }
        key.add(decoded.head.ip.unwrap_or(0));
        if let Some(chain) = decoded.head.callchain.filter(|_| chains.stacks) {
            key.add_chain(chain);
        }
        key.add(match user.missing {
            Missing::Nothing => 0,
            Missing::Outermost => 1,
            Missing::After(entries) => 2 + u64::from(entries),
        });
        match user.part {
            UserPart::Recorded => {}
            UserPart::Later(chain) => key.add_chain(chain),
            UserPart::Unwound(frames) => {
                // Addresses leave room for one bit more.
                let entries = frames.iter();
                let words = entries.map(|one| one.avma << 1 | u64::from(one.is_return));
                words.for_each(|word| key.add(word));
                key.add(!(frames.len() as u64));
            }
        }
        StackKey {
            hash: key.hash,
            check: key.check,
        }
    }

    /// Brings the sets of some keys near, all at once: the table is larger than caches are, and
    /// one look-up after the other would wait for each.
    pub(crate) fn prefetch(&self, keys: impl Iterator<Item = StackKey>) {
        let near = keys.fold(0, |sum: u64, key| {
            sum.wrapping_add(self.sets[self.index(key)].0[0].check)
        });
        std::hint::black_box(near);
    }

    #[inline]
    fn index(&self, key: StackKey) -> usize {
        // The length is a power of two.
        usize::try_from(key.hash >> 32).unwrap_or(0) & (self.sets.len() - 1)
    }

    /// What was inserted for a stack.
    #[inline]
    pub(crate) fn get(&self, key: StackKey) -> Option<T> {
        self.sets[self.index(key)].find(key)
    }

    /// Inserts it, in place of the oldest stack of its set.
    #[inline]
    pub(crate) fn insert(&mut self, key: StackKey, value: T) {
        let at = self.index(key);
        let slots = &mut self.sets[at].0;
        slots.rotate_right(1);
        slots[0] = Slot {
            check: key.check,
            hash: key.rest(),
            value,
        };
    }
}

/// What nobody knows who made a recording: where the two hashes begin, and their factors.
#[derive(Clone, Copy)]
struct Seeds {
    hash: u64,
    check: u64,
    hash_factor: u64,
    check_factor: u64,
}

impl Seeds {
    fn new() -> Self {
        let random = RandomState::new();
        Self {
            hash: random.hash_one(0),
            check: random.hash_one(1),
            hash_factor: random.hash_one(2) | 1,
            check_factor: random.hash_one(3) | 1,
        }
    }
}

/// Two hashes that have nothing to do with each other.
struct Hasher {
    hash: u64,
    check: u64,
    seeds: Seeds,
}

impl Hasher {
    fn new(seeds: Seeds) -> Self {
        Self {
            hash: seeds.hash,
            check: seeds.check,
            seeds,
        }
    }

    #[inline]
    fn add(&mut self, word: u64) {
        self.hash = fold(self.hash ^ word, self.seeds.hash_factor);
        self.check = fold(self.check ^ word, self.seeds.check_factor);
    }
}

impl Hasher {
    /// Adds entries, two for each multiplication: the second takes the place of the factor that nobody knows.
    #[inline]
    fn add_chain(&mut self, chain: Callchain<'_>) {
        let mut entries = chain.entries();
        while let (Some(one), other) = (entries.next(), entries.next()) {
            self.add_two(one, other.unwrap_or(0));
        }
        self.add(chain.len() as u64);
    }

    #[inline]
    fn add_two(&mut self, one: u64, other: u64) {
        let Seeds {
            hash_factor,
            check_factor,
            ..
        } = self.seeds;
        self.hash = fold(self.hash ^ one, hash_factor ^ other);
        self.check = fold(self.check ^ one, check_factor ^ other);
    }
}

/// Multiplied to twice the width and folded: every bit counts for every bit, and what a change of
/// one comes to depends on the factor.
#[inline]
fn fold(word: u64, factor: u64) -> u64 {
    let wide = u128::from(word).wrapping_mul(u128::from(factor));
    low_half(wide ^ wide >> 64).wrapping_add(0xf39c_c060_5ced_c835)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
fn low_half(wide: u128) -> u64 {
    wide as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Endian;

    fn hashed(words: &[u64]) -> StackKey {
        hashed_with(Seeds::new(), words)
    }

    fn hashed_with(seeds: Seeds, words: &[u64]) -> StackKey {
        let mut hasher = Hasher::new(seeds);
        words.iter().for_each(|&word| hasher.add(word));
        StackKey {
            hash: hasher.hash,
            check: hasher.check,
        }
    }

    #[test]
    fn order_length_and_every_bit_count() {
        let seeds = Seeds::new();
        let hashed = |words: &[u64]| hashed_with(seeds, words);
        let mut keys = vec![
            hashed(&[]),
            hashed(&[0]),
            hashed(&[0, 0]),
            hashed(&[1, 2]),
            hashed(&[2, 1]),
        ];
        keys.extend((0..64).map(|bit| hashed(&[1 << bit, 7])));
        for (n, key) in keys.iter().enumerate() {
            let same = keys
                .iter()
                .filter(|other| other.hash == key.hash || other.check == key.check);
            assert_eq!(same.count(), 1, "key {n}");
        }
    }

    #[test]
    fn order_length_and_every_bit_of_chains_count() {
        let seeds = Seeds::new();
        let hashed = |words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut hasher = Hasher::new(seeds);
            hasher.add_chain(Callchain::from_encoded(&bytes, Endian::Little));
            (hasher.hash, hasher.check)
        };
        let base = [7, 9, 11];
        let mut keys = vec![hashed(&[]), hashed(&[0]), hashed(&[0, 0]), hashed(&base)];
        keys.extend([[9, 7, 11], [11, 9, 7], [7, 11, 9]].map(|words| hashed(&words)));
        for (at, bit) in (0..3).flat_map(|at| (0..64).map(move |bit| (at, bit))) {
            let mut words = base;
            words[at] ^= 1 << bit;
            keys.push(hashed(&words));
        }
        for (n, key) in keys.iter().enumerate() {
            let same = keys
                .iter()
                .filter(|other| other.0 == key.0 || other.1 == key.1);
            assert_eq!(same.count(), 1, "key {n}");
        }
    }

    /// By a factor that is known, what the highest bit of one word changes is undone by one bit of
    /// the next, whatever the seed.
    #[test]
    fn no_difference_of_stacks_is_undone_by_another_whatever_the_seeds() {
        for _ in 0..100 {
            let seeds = Seeds::new();
            let one = hashed_with(seeds, &[7, 9]);
            for bit in 0..64 {
                let other = hashed_with(seeds, &[7 ^ 1 << 63, 9 ^ 1 << bit]);
                assert!(one.hash != other.hash && one.check != other.check);
            }
        }
    }

    #[test]
    fn a_stack_is_found_until_its_set_has_four_newer_ones() {
        let mut cache: StackCache<u32> = StackCache::new(0);
        let first = hashed(&[7]);
        let in_its_set = |nth: u64| StackKey {
            check: first.check ^ nth,
            ..first
        };
        for nth in 0..6 {
            assert_eq!(cache.get(in_its_set(nth)), None);
            cache.insert(in_its_set(nth), 10 + u32::try_from(nth).unwrap());
            let known = (0..6).filter(|&nth| cache.get(in_its_set(nth)).is_some());
            let newest: Vec<u64> = (nth.saturating_sub(3)..=nth).collect();
            assert_eq!(known.collect::<Vec<_>>(), newest);
            assert_eq!(cache.get(first), (nth < 4).then_some(10));
        }
    }
}
