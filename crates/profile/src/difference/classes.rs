//! Classes of things of two sides.

use super::Side;
use foldhash::{HashMap, HashSet};
use std::hash::Hash;

/// Which sides have something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sides {
    /// The recordings before.
    pub before: bool,
    /// The recordings after.
    pub after: bool,
}

impl Sides {
    /// Whether both have it.
    pub fn are_both(self) -> bool {
        self.before && self.after
    }

    pub(super) fn add(&mut self, side: Side) {
        match side {
            Side::Before => self.before = true,
            Side::After => self.after = true,
        }
    }
}

/// Those of `keys` that both sides have, of things that are not matched yet.
pub(super) fn shared<K: Eq + Hash>(keys: impl Iterator<Item = (Side, K)>) -> HashSet<K> {
    let mut sides: HashMap<K, Sides> = HashMap::default();
    for (side, key) in keys {
        sides.entry(key).or_default().add(side);
    }
    let shared = sides.into_iter().filter(|(_, sides)| sides.are_both());
    shared.map(|(key, _)| key).collect()
}
