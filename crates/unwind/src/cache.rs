//! Rules by address: what was found for an address in an address space is not looked up again.

use crate::rule::Rule;

/// Slots: 512 KiB, half of what a core's own cache holds.
const SLOTS: usize = 1 << 13;

/// A direct-mapped table: it forgets, and so stays small.
pub(crate) struct Cache {
    slots: Box<[Slot]>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    address: u64,
    space: u32,
    is_used: bool,
    rule: Rule,
}

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); SLOTS].into(),
        }
    }

    /// The rule at an address, found by `find` if it is not here.
    #[inline]
    pub(crate) fn rule(&mut self, space: u32, address: u64, find: impl FnOnce() -> Rule) -> &Rule {
        let hash = (address ^ u64::from(space) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The top 13 bits: always below the number of slots.
        let slot = &mut self.slots[(hash >> 51) as usize % SLOTS];
        if slot.address != address || slot.space != space || !slot.is_used {
            *slot = Slot {
                address,
                space,
                is_used: true,
                rule: find(),
            };
        }
        &slot.rule
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}
