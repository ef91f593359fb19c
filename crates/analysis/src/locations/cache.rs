//! What addresses stand for, so that each is not looked up again.

use super::address::Address;
use super::location::{Location, location_of};
use super::mappings::Mappings;
use rprof_base::parallel;
use rprof_machine::History;

/// Sets of a small [`LocationCache`]: 1 MiB, about what a core's own cache holds.
const SETS: usize = 1 << 14;

/// Sets of the largest one: 16 MiB.
const MOST_SETS: usize = 1 << 18;

/// Sets of the caches of all threads: 64 MiB.
const SETS_OF_THREADS: usize = 1 << 20;

/// One cached value: 16 bytes, four to a cache line.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Address, level and whether it is a return address; 0 in an empty slot.
    address: u64,
    epoch: u32,
    value: u32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Set([Slot; 4]);

/// What addresses stand for, by epoch and level: the four newest of each set.
#[derive(Debug)]
pub struct LocationCache {
    sets: Box<[Set]>,
}

impl Default for LocationCache {
    fn default() -> Self {
        Self::new()
    }
}

impl LocationCache {
    /// A small empty one, for values that are cheap to recompute.
    pub fn new() -> Self {
        Self::with_sets(SETS)
    }

    /// An empty one for one of the threads that read this number of samples: sized for two addresses a sample.
    pub fn for_samples(n_samples: u64) -> Self {
        Self::for_addresses(n_samples.saturating_mul(2))
    }

    /// The same, sized for this number of addresses. Each thread has one: the more threads, the smaller they are.
    pub(crate) fn for_addresses(n_addresses: u64) -> Self {
        let most = (SETS_OF_THREADS / parallel::n_cpus()).clamp(SETS, MOST_SETS);
        let wanted = usize::try_from(n_addresses / 4).unwrap_or(usize::MAX);
        // The power of two below.
        Self::with_sets(1 << wanted.clamp(SETS, most).ilog2())
    }

    /// The number is a power of two.
    fn with_sets(n_sets: usize) -> Self {
        Self {
            sets: vec![Set::default(); n_sets].into(),
        }
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.sets.fill(Set::default());
    }

    /// The value for an address, made by `find` if it is not here.
    #[inline]
    pub fn value(
        &mut self,
        history: &History,
        mappings: Mappings,
        address: Address,
        find: impl FnOnce(Location) -> u32,
    ) -> u32 {
        let epoch = mappings.epoch(history, address.level);
        let find = || find(location_of(history, epoch, address.level, address.avma));
        let Some(wanted) = packed(address) else {
            return find();
        };
        let epoch = epoch.number();
        let hash = (wanted ^ u64::from(epoch) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The highest bits are the best mixed.
        let at = hash >> (u64::BITS - self.sets.len().ilog2());
        let set = &mut self.sets[usize::try_from(at).unwrap_or(0)].0;
        let found = set
            .iter()
            .find(|slot| slot.address == wanted && slot.epoch == epoch);
        if let Some(slot) = found {
            return slot.value;
        }
        let value = find();
        set.rotate_right(1);
        set[0] = Slot {
            address: wanted,
            epoch,
            value,
        };
        value
    }
}

/// Address, level and kind in one word, never 0; `None` for what no machine has as an address:
/// bits 57 to 63 are all the same in those.
#[inline]
fn packed(address: Address) -> Option<u64> {
    let Address {
        level,
        avma,
        is_return,
    } = address;
    let top = avma.0 >> 57;
    if top != 0 && top != 0x7f {
        return None;
    }
    let low = avma.0 & ((1 << 58) - 1);
    let level = level.map_or(7, |level| level as u64);
    Some(low << 5 | level << 2 | u64::from(is_return) << 1 | 1)
}
