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

impl<T: Copy> Timeline<T> {
    /// The value at a moment; before the first one is known, the first.
    pub(crate) fn at(&self, key: Key) -> Option<T> {
        let after = self.0.partition_point(|&(from, _)| from <= key);
        let entry = self.0.get(after.saturating_sub(1))?;
        Some(entry.1)
    }

    pub(crate) fn last(&self) -> Option<T> {
        self.0.last().map(|&(_, value)| value)
    }

    pub(crate) fn push(&mut self, key: Key, value: T) {
        self.0.push((key, value));
    }
}

/// Names and mappings of a recording as functions of time.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) ranges: Ranges,
    pub(crate) processes: FxHashMap<i32, Timeline<Root>>,
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
        let timeline = self.processes.get(&pid);
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
