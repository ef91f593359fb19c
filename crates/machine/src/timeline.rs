//! The finished history: look-ups by moment.

use crate::ranges::{Ranges, Root};
use crate::{ImageId, ImageKind, Images};
use rprof_images::{Avma, FileOffset};
use rustc_hash::FxHashMap;

/// A moment of a recording: time, then place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key {
    /// Nanoseconds; 0 in recordings without times, and in records made up at their start.
    pub time_ns: u64,
    /// Bytes from the start of the file.
    pub offset: u64,
}

/// A span in which an address space does not change. Equal epochs mean equal mappings, also of
/// different processes: what was looked up in one holds in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch(pub(crate) Root);

impl Epoch {
    /// A number to key caches with.
    pub fn number(self) -> u32 {
        self.0.0
    }
}

impl Key {
    /// Before everything.
    pub const FIRST: Self = Self {
        time_ns: 0,
        offset: 0,
    };

    /// After everything.
    pub const LAST: Self = Self {
        time_ns: u64::MAX,
        offset: u64::MAX,
    };

    /// The moment of a record at this offset; its time counts only in a recording where all
    /// records have one.
    #[inline]
    pub fn new(has_times: bool, time_ns: Option<u64>, offset: u64) -> Self {
        Self {
            time_ns: time_ns.filter(|_| has_times).unwrap_or(0),
            offset,
        }
    }
}

/// What a thread was called and where its addresses point, and how long nothing of it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The mappings of its process.
    pub user: Epoch,
    /// The mappings of the kernel.
    pub kernel: Epoch,
    /// Its name; `None` if the recording never names it.
    pub comm: Option<Comm>,
    /// From here on (inclusive).
    pub from: Key,
    /// Up to here (exclusive).
    pub until: Key,
}

/// Where an address points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Into a mapped file.
    User {
        /// Which.
        image: ImageId,
        /// Where in it.
        offset: FileOffset,
    },
    /// Into the kernel, a module or a BPF program.
    Kernel {
        /// Which.
        image: ImageId,
        /// The address itself.
        avma: Avma,
    },
    /// To nothing that the recording knows of.
    Unmapped(Avma),
}

/// A thread's name, by number: the same name has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Comm(pub(crate) u32);

/// A value that changes over time: sorted by moment.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<T>(pub(crate) Vec<(Key, T)>);

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + PartialEq> Timeline<T> {
    /// The value at a moment; before the first one is known, the first.
    pub(crate) fn at(&self, key: Key) -> Option<T> {
        let after = self.0.partition_point(|&(from, _)| from <= key);
        let entry = self.0.get(after.saturating_sub(1))?;
        Some(entry.1)
    }

    /// The value at a moment, and the span in which it does not change.
    pub(crate) fn span_at(&self, key: Key) -> (Option<T>, Key, Key) {
        let after = self.0.partition_point(|&(from, _)| from <= key);
        let at = |idx: usize| self.0.get(idx).map(|&(key, _)| key);
        // The first value holds before it, too.
        let idx = after.saturating_sub(1);
        let from = if idx == 0 { None } else { at(idx) };
        let until = at(idx + 1);
        let value = self.0.get(idx).map(|&(_, value)| value);
        (
            value,
            from.unwrap_or(Key::FIRST),
            until.unwrap_or(Key::LAST),
        )
    }

    pub(crate) fn last(&self) -> Option<T> {
        self.0.last().map(|&(_, value)| value)
    }

    /// From a moment, later than all before, it has this value.
    pub(crate) fn set(&mut self, key: Key, value: T) {
        if self.last() != Some(value) {
            self.0.push((key, value));
        }
    }
}

/// Whose mappings. A guest's are never mixed with the host's, though it has processes and a kernel
/// at the same addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Process(i32),
    /// By the process that runs the guest.
    GuestKernel(i32),
    GuestProcess(i32),
}

/// Names and mappings of a recording as functions of time.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) ranges: Ranges,
    pub(crate) spaces: FxHashMap<Owner, Timeline<Root>>,
    pub(crate) kernel: Timeline<Root>,
    pub(crate) comms: FxHashMap<i32, Timeline<Comm>>,
    pub(crate) names: Vec<Vec<u8>>,
    pub(crate) images: Images,
}

impl History {
    /// The images of the recording.
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// The mappings of a process at a moment.
    pub fn epoch(&self, pid: i32, key: Key) -> Epoch {
        self.epoch_of(Owner::Process(pid), key)
    }

    /// The mappings of the kernel of the guest that a process runs.
    pub fn guest_kernel_epoch(&self, pid: i32, key: Key) -> Epoch {
        self.epoch_of(Owner::GuestKernel(pid), key)
    }

    /// The mappings of a process of a guest.
    pub fn guest_epoch(&self, pid: i32, key: Key) -> Epoch {
        self.epoch_of(Owner::GuestProcess(pid), key)
    }

    fn epoch_of(&self, owner: Owner, key: Key) -> Epoch {
        let timeline = self.spaces.get(&owner);
        Epoch(
            timeline
                .and_then(|timeline| timeline.at(key))
                .unwrap_or_default(),
        )
    }

    /// The mappings of the kernel at a moment.
    pub fn kernel_epoch(&self, key: Key) -> Epoch {
        Epoch(self.kernel.at(key).unwrap_or_default())
    }

    /// All that is known of a thread at a moment.
    pub fn moment(&self, pid: i32, tid: i32, key: Key) -> Moment {
        let nothing = (None, Key::FIRST, Key::LAST);
        let space = self.spaces.get(&Owner::Process(pid));
        let (user, from_1, until_1) = space.map_or(nothing, |space| space.span_at(key));
        let (kernel, from_2, until_2) = self.kernel.span_at(key);
        let nothing = (None, Key::FIRST, Key::LAST);
        let comms = self.comms.get(&tid);
        let (comm, from_3, until_3) = comms.map_or(nothing, |comms| comms.span_at(key));
        Moment {
            user: Epoch(user.unwrap_or_default()),
            kernel: Epoch(kernel.unwrap_or_default()),
            comm,
            from: from_1.max(from_2).max(from_3),
            until: until_1.min(until_2).min(until_3),
        }
    }

    /// Where an address points in an epoch.
    #[inline]
    pub fn place(&self, epoch: Epoch, avma: Avma) -> Place {
        let Some(range) = self.ranges.find(epoch.0, avma.0) else {
            return Place::Unmapped(avma);
        };
        let image = range.image;
        match self.images.of(image).map(|image| image.kind) {
            Some(ImageKind::User) => Place::User {
                image,
                offset: FileOffset(range.pgoff.wrapping_add(avma.0 - range.start)),
            },
            _ => Place::Kernel { image, avma },
        }
    }

    /// A thread's name at a moment; `None` if the recording never names it.
    pub fn comm(&self, tid: i32, key: Key) -> Option<Comm> {
        self.comms.get(&tid)?.at(key)
    }

    /// The bytes of a name.
    pub fn comm_name(&self, comm: Comm) -> &[u8] {
        self.names.get(comm.0 as usize).map_or(b"", Vec::as_slice)
    }
}
