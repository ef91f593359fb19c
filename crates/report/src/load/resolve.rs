//! From an address in a task at a moment to a place, with a cache in front.

use super::chain::Address;
use rprof_base::Avma;
use rprof_machine::{Comm, Epoch, History, Key, Moment, Place};
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
/// Frames that are missing.
pub(crate) const TRUNCATED: u32 = u32::MAX - 3;

impl PlaceKey {
    /// The place as stacks are counted by it: all addresses that no mapping holds are one, or the
    /// garbage of broken chains would fill the memory.
    pub(crate) fn in_stacks(self) -> Self {
        match self.image {
            UNMAPPED_USER | UNMAPPED_KERNEL | UNMAPPED_OTHER => Self { address: 0, ..self },
            _ => self,
        }
    }
}

/// The mappings of a task at the moment of one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    user: Epoch,
    kernel: Epoch,
    pid: i32,
    key: Key,
}

impl Space {
    /// Where an address points.
    pub(crate) fn place(self, history: &History, address: Address) -> PlaceKey {
        let epoch = self.epoch(history, address.level);
        place_key(history, epoch, address.level, address.avma)
    }

    /// The mappings of its process.
    pub(crate) fn user(self) -> Epoch {
        self.user
    }

    /// Where an address is in its file, or for kernel code in its mapping; the address itself
    /// where nothing is mapped.
    pub(crate) fn offset(self, history: &History, address: Address) -> u64 {
        let epoch = self.epoch(history, address.level);
        match history.place(epoch, address.avma) {
            Place::User { offset, .. } => offset.0,
            Place::Kernel { .. } => history
                .offset_in_mapping(epoch, address.avma)
                .unwrap_or(address.avma.0),
            Place::Unmapped(avma) => avma.0,
        }
    }

    /// Equal for equal mappings.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        u64::from(self.user.number()) << 32 | u64::from(self.kernel.number())
    }

    #[inline]
    fn epoch(self, history: &History, level: Option<Level>) -> Epoch {
        match level {
            Some(Level::User) | None => self.user,
            Some(Level::Kernel) => self.kernel,
            Some(Level::GuestKernel) => history.guest_kernel_epoch(self.pid, self.key),
            Some(Level::GuestUser | Level::Hypervisor) => history.guest_epoch(self.pid, self.key),
        }
    }
}

/// Tasks seen last, with what holds for them and until when: samples of one thread come together,
/// and its mappings change far less often than it is sampled.
pub(crate) struct Tasks {
    slots: Box<[Option<Task>; Self::SLOTS]>,
}

#[derive(Clone, Copy)]
struct Task {
    pid: i32,
    tid: i32,
    moment: Moment,
}

impl Tasks {
    const SLOTS: usize = 64;

    pub(crate) fn new() -> Self {
        Self {
            slots: Box::new([None; Self::SLOTS]),
        }
    }

    /// The mappings and the name of a task at a moment.
    #[inline]
    pub(crate) fn at(
        &mut self,
        history: &History,
        (pid, tid): (i32, i32),
        key: Key,
    ) -> (Space, Option<Comm>) {
        let slot = &mut self.slots[tid.cast_unsigned() as usize % Self::SLOTS];
        let moment = match slot {
            Some(task)
                if (task.pid, task.tid) == (pid, tid)
                    && task.moment.from <= key
                    && key < task.moment.until =>
            {
                task.moment
            }
            _ => {
                let moment = history.moment(pid, tid, key);
                *slot = Some(Task { pid, tid, moment });
                moment
            }
        };
        let space = Space {
            user: moment.user,
            kernel: moment.kernel,
            pid,
            key,
        };
        (space, moment.comm)
    }
}

/// Sets of a [`Cache`]: 1 MiB, about what a core's own cache holds.
const SETS: usize = 1 << 14;

/// One cached value: 16 bytes, four to a cache line.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// Address, level and whether it is a return address; 0 in an empty slot.
    address: u64,
    epoch: u32,
    value: u32,
}

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Set([Slot; 4]);

/// What addresses stand for, by epoch and level: the four newest of each set.
pub(crate) struct Cache {
    sets: Box<[Set]>,
}

impl Cache {
    pub(crate) fn new() -> Self {
        Self {
            sets: vec![Set::default(); SETS].into(),
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.sets.fill(Set::default());
    }

    /// The value for an address, made by `find` if it is not here.
    #[inline]
    pub(crate) fn value(
        &mut self,
        history: &History,
        space: Space,
        address: Address,
        find: impl FnOnce(PlaceKey) -> u32,
    ) -> u32 {
        let epoch = space.epoch(history, address.level);
        let find = || find(place_key(history, epoch, address.level, address.avma));
        let Some(wanted) = packed(address) else {
            return find();
        };
        let epoch = epoch.number();
        let hash = (wanted ^ u64::from(epoch) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let set = &mut self.sets[(hash >> 50) as usize % SETS].0;
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

fn place_key(history: &History, epoch: Epoch, level: Option<Level>, avma: Avma) -> PlaceKey {
    let Some(level) = level else {
        return PlaceKey {
            image: TRUNCATED,
            address: 0,
        };
    };
    let unmapped = |image| PlaceKey {
        image,
        address: avma.0,
    };
    let is_kernel = matches!(level, Level::Kernel | Level::GuestKernel);
    match history.place(epoch, avma) {
        // A hypervisor's code is in no recording.
        _ if level == Level::Hypervisor => unmapped(UNMAPPED_OTHER),
        Place::Kernel { image, avma } if is_kernel => PlaceKey {
            image: image.0,
            address: avma.0,
        },
        Place::User { image, offset } if !is_kernel => PlaceKey {
            image: image.0,
            address: offset.0,
        },
        _ => match level {
            Level::Kernel => unmapped(UNMAPPED_KERNEL),
            Level::User => unmapped(UNMAPPED_USER),
            _ => unmapped(UNMAPPED_OTHER),
        },
    }
}
