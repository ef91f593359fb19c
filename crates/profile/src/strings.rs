//! Strings, each once.

use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_untrusted::Untrusted;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Number of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StrId(u32);

impl StrId {
    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

rprof_base::impl_id!(StrId);

/// All strings of a profile.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    all: Interner<StrId, Box<str>, RandomState>,
    /// By number, the place in the order of texts, if that was asked for.
    ranks: OnceLock<Box<[u32]>>,
}

impl Strings {
    /// The number of a string, new or seen before.
    pub fn intern(&mut self, text: &str) -> StrId {
        let n_known = self.all.len();
        let id = self.all.intern_ref(text);
        if self.all.len() > n_known {
            self.ranks = OnceLock::new();
        }
        id
    }

    /// All of them, by number.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.values().iter().map(|text| &**text)
    }

    /// The string with a number; empty for one of another profile.
    pub fn of(&self, id: StrId) -> Untrusted<&str> {
        Untrusted::new(self.all.get(id).map_or("", |text| text))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Gets ready for many calls of [`Self::compare`].
    pub(crate) fn rank(&self) {
        self.ranks.get_or_init(|| {
            let texts = (0u32..).zip(self.iter());
            let mut order: Vec<(u128, &str, u32)> = texts
                .map(|(number, text)| (start_of(text.bytes()), text, number))
                .collect();
            order.sort_unstable();
            let mut ranks = vec![0; order.len()];
            for (rank, (.., number)) in (0u32..).zip(order) {
                ranks[number as usize] = rank;
            }
            ranks.into()
        });
    }

    /// Whether [`Self::rank_of`] is known.
    pub(crate) fn is_ranked(&self) -> bool {
        self.ranks.get().is_some()
    }

    /// The place of a text in their order, after [`Self::rank`].
    #[inline]
    pub(crate) fn rank_of(&self, id: StrId) -> u32 {
        let ranks = self.ranks.get().map_or(&[][..], |ranks| ranks);
        ranks.get(id.0 as usize).copied().unwrap_or(0)
    }

    /// The order of two texts.
    #[inline]
    pub(crate) fn compare(&self, a: StrId, b: StrId) -> Ordering {
        let rank = |ranks: &[u32], id: StrId| ranks.get(id.0 as usize).copied();
        match self.ranks.get() {
            // Equal texts have one number.
            _ if a == b => Ordering::Equal,
            Some(ranks) => rank(ranks, a).cmp(&rank(ranks, b)),
            None => self.of(a).cmp(&self.of(b)),
        }
    }
}

/// Where a text begins, as a number: none that comes later has a lower one.
pub(crate) fn start_of(text: impl Iterator<Item = u8>) -> u128 {
    let mut start = [0; 16];
    start.iter_mut().zip(text).for_each(|(to, byte)| *to = byte);
    u128::from_be_bytes(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_the_order_of_texts(texts in prop::collection::vec("[ab\0é]{0,20}", 0..20), last in "[ab]{0,2}") {
            let mut strings = Strings::default();
            let mut ids: Vec<StrId> = texts.iter().map(|text| strings.intern(text)).collect();
            strings.rank();
            ids.push(strings.intern(&last));
            for is_ranked in [false, true] {
                if is_ranked {
                    strings.rank();
                }
                for (&a, &b) in ids.iter().zip(ids.iter().rev()) {
                    prop_assert_eq!(strings.compare(a, b), strings.of(a).cmp(&strings.of(b)));
                }
            }
        }
    }
}
