//! From an address in a task at a moment to a place, with a cache in front.

use super::chain::Address;
use rprof_images::Avma;
use rprof_machine::{Epoch, History, Key, Place};
use rprof_profile::Level;

/// A place as a key: sorts by image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PlaceKey {
    /// Number of the image, or one of the pseudo images below.
    pub(crate) image: u32,
    /// Offset in its file, or for kernel code and unmapped addresses the address itself.
    pub(crate) address: u64,
}

/// Addresses that no mapping holds, by level.
pub(crate) const UNMAPPED_USER: u32 = u32::MAX;
pub(crate) const UNMAPPED_KERNEL: u32 = u32::MAX - 1;
pub(crate) const UNMAPPED_OTHER: u32 = u32::MAX - 2;

/// The mappings of a task at the moment of one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    user: Epoch,
    kernel: Epoch,
}

impl Space {
    pub(crate) fn at(history: &History, pid: i32, key: Key) -> Self {
        Self {
            user: history.epoch(pid, key),
            kernel: history.kernel_epoch(key),
        }
    }

    /// Where an address points.
    pub(crate) fn place(self, history: &History, address: Address) -> PlaceKey {
        place_key(
            history,
            self.epoch(address.level),
            address.level,
            address.avma,
        )
    }

    #[inline]
    fn epoch(self, level: Level) -> Epoch {
        match level {
            Level::Kernel => self.kernel,
            _ => self.user,
        }
    }
}

/// Entries of a [`Cache`]: 768 KiB, about what a core's own cache holds.
const SLOTS: usize = 1 << 15;

#[derive(Clone, Copy)]
struct Slot<T> {
    avma: u64,
    /// Epoch, level and whether it is a return address, plus one so that 0 is an empty slot.
    tag: u64,
    value: T,
}

/// A direct-mapped cache of what addresses point to, by epoch and level.
pub(crate) struct Cache<T> {
    slots: Box<[Slot<T>]>,
}

impl<T: Copy + Default> Cache<T> {
    pub(crate) fn new() -> Self {
        let empty = Slot {
            avma: 0,
            tag: 0,
            value: T::default(),
        };
        Self {
            slots: vec![empty; SLOTS].into(),
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        for slot in &mut self.slots {
            slot.tag = 0;
        }
    }

    /// The value for an address, made by `find` if it is not here.
    #[inline]
    pub(crate) fn value(
        &mut self,
        history: &History,
        space: Space,
        address: Address,
        find: impl FnOnce(PlaceKey) -> T,
    ) -> T {
        let Address {
            level,
            avma,
            is_return,
        } = address;
        let epoch = space.epoch(level);
        let tag = (u64::from(epoch.number()) << 4 | (level as u64) << 1 | u64::from(is_return)) + 1;
        let hash = (avma.0 ^ tag << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = &mut self.slots[(hash >> 49) as usize % SLOTS];
        if slot.avma == avma.0 && slot.tag == tag {
            return slot.value;
        }
        let value = find(place_key(history, epoch, level, avma));
        *slot = Slot {
            avma: avma.0,
            tag,
            value,
        };
        value
    }
}

fn place_key(history: &History, epoch: Epoch, level: Level, avma: Avma) -> PlaceKey {
    let unmapped = |image| PlaceKey {
        image,
        address: avma.0,
    };
    match level {
        Level::User => {}
        Level::Kernel => {
            return match history.place(epoch, avma) {
                Place::Kernel { image, avma } => PlaceKey {
                    image: image.0,
                    address: avma.0,
                },
                _ => unmapped(UNMAPPED_KERNEL),
            };
        }
        // A recording says nothing of what a hypervisor or a guest has mapped.
        _ => return unmapped(UNMAPPED_OTHER),
    }
    match history.place(epoch, avma) {
        Place::User { image, offset } => PlaceKey {
            image: image.0,
            address: offset.0,
        },
        _ => unmapped(UNMAPPED_USER),
    }
}
