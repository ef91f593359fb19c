//! The mappings of tasks at moments.

use super::address::Address;
use super::location::{Location, location_by_mapping, location_of};
use rprof_abi::CpuMode;
use rprof_base::Avma;
use rprof_machine::{AddressLocation, CommId, Epoch, History, Key, Moment};
use rprof_profile::Level;

/// The mappings of a task at the moment of one sample.
#[derive(Clone, Copy, Debug)]
pub struct Mappings {
    user: Epoch,
    kernel: Epoch,
    pid: i32,
    key: Key,
}

impl Mappings {
    /// Where an address points.
    pub fn location(self, history: &History, address: Address) -> Location {
        let epoch = self.epoch(history, address.level);
        location_of(history, epoch, address.level, address.avma)
    }

    /// Where the source or target of a branch is: in user or kernel code, by what is mapped there.
    pub(crate) fn branch_location(self, history: &History, avma: Avma) -> Location {
        location_by_mapping(history, [self.user, self.kernel], avma)
    }

    /// The mappings of its process.
    pub fn user(self) -> Epoch {
        self.user
    }

    /// Where an address is in its file, or for kernel code in its mapping; the address itself
    /// where nothing is mapped.
    pub fn offset(self, history: &History, address: Address) -> u64 {
        let epoch = self.epoch(history, address.level);
        match history.resolve(epoch, address.avma) {
            AddressLocation::User { offset, .. } => offset.0,
            AddressLocation::Kernel { .. } => history
                .offset_in_mapping(epoch, address.avma)
                .unwrap_or(address.avma.0),
            AddressLocation::Unmapped(avma) => avma.0,
        }
    }

    /// Bytes of the mapping that an address is in; `None` if nothing is mapped there.
    pub(crate) fn len_of_mapping(self, history: &History, address: Address) -> Option<u64> {
        history.len_of_mapping(self.epoch(history, address.level), address.avma)
    }

    /// Equal for equal mappings.
    #[inline]
    pub fn number(self) -> u64 {
        u64::from(self.user.number()) << 32 | u64::from(self.kernel.number())
    }

    /// Equal where equal addresses of one mode are at the same place: kernel code is, in all processes.
    #[inline]
    pub(crate) fn number_at(self, mode: CpuMode) -> u64 {
        match mode {
            CpuMode::Kernel => self.kernel.number().into(),
            CpuMode::User => self.user.number().into(),
            _ => self.number(),
        }
    }

    #[inline]
    pub(super) fn epoch(self, history: &History, level: Option<Level>) -> Epoch {
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
#[derive(Debug)]
pub(crate) struct TaskCache {
    slots: Box<[Option<Task>; Self::SLOTS]>,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    pid: i32,
    tid: i32,
    moment: Moment,
}

impl Default for TaskCache {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskCache {
    /// More tasks than run while a chunk of a file is recorded. Takes 32 KiB.
    const SLOTS: usize = 512;

    /// An empty one.
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
    ) -> (Mappings, Option<CommId>) {
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
        let mappings = Mappings {
            user: moment.user,
            kernel: moment.kernel,
            pid,
            key,
        };
        (mappings, moment.comm)
    }
}
