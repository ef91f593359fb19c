//! The finished history: look-ups by moment.

use crate::change::{DEFAULT_GUEST, Space};
use crate::ranges::{Range, Ranges, Root};
use crate::timeline::{Journal, Key, Timelines};
use crate::{ImageId, ImageKind, Images, RecordedImage};
use foldhash::{HashMap, HashSet};
use rprof_base::{Avma, FileOffset};

/// A span in which an address space does not change. Equal epochs mean equal mappings, also of
/// different processes and different times: what was looked up in one holds in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch(pub(crate) Root);

impl Epoch {
    /// A number to key caches with.
    pub fn number(self) -> u32 {
        self.0.0
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
    pub comm: Option<CommId>,
    /// From here on (inclusive).
    pub from: Key,
    /// Up to here (exclusive).
    pub until: Key,
}

/// What an address of a process is in: perf's `addr_location`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressLocation {
    /// A mapped file, or memory with code.
    User {
        /// Which.
        image: ImageId,
        /// Where in it.
        offset: FileOffset,
    },
    /// A kernel, a module or a BPF program.
    Kernel {
        /// Which.
        image: ImageId,
        /// The address itself.
        avma: Avma,
    },
    /// Nothing that the recording knows of.
    Unmapped(Avma),
}

/// A thread's name, by number: the same name has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommId(pub(crate) u32);

rprof_base::impl_id!(CommId);

impl CommId {
    /// Of a thread whose id had another one's name before, and whose own nobody told.
    pub(crate) const UNKNOWN: Self = Self(u32::MAX);
}

/// The mappings of all address spaces, while their changes come in order of time.
pub(crate) type SpaceJournals = Spaces<Journal<Root>>;

/// Something for each sort of address space. Host and guests never share one.
#[derive(Debug, Default)]
pub(crate) struct Spaces<T> {
    user: T,
    kernel: T,
    guest_kernel: T,
    guest_user: T,
}

impl<T> Spaces<T> {
    /// That of one space's sort, and the space's number there.
    fn of(&self, space: Space) -> (&T, i32) {
        match space {
            Space::User(pid) => (&self.user, pid),
            Space::Kernel => (&self.kernel, 0),
            Space::GuestKernel(pid) => (&self.guest_kernel, pid),
            Space::GuestUser(pid) => (&self.guest_user, pid),
        }
    }
}

impl SpaceJournals {
    pub(crate) fn last(&self, space: Space) -> Option<Root> {
        let (journal, id) = self.of(space);
        journal.last(id)
    }

    /// The mappings of a process at a moment not long ago.
    pub(crate) fn recent(&self, pid: i32, key: Key) -> Option<Root> {
        self.user.recent(pid, key)
    }

    /// Forgets changes before a moment.
    pub(crate) fn forget(&mut self, before: Key) {
        for journal in self.all_mut() {
            journal.forget(before);
        }
    }

    /// Forgets a process that has ended.
    pub(crate) fn remove(&mut self, pid: i32, ended: Key) {
        self.user.remove(pid, ended);
    }

    /// Forgets processes that live.
    pub(crate) fn drop_processes(&mut self, pids: &HashSet<i32>) {
        self.user.drop_all(pids);
    }

    /// Changes of processes that are remembered.
    pub(crate) fn n_changes(&self) -> usize {
        self.user.n_entries()
    }

    /// The same of each process.
    pub(crate) fn n_changes_of_each(&self) -> HashMap<i32, usize> {
        self.user.n_entries_of_each()
    }

    /// All processes, with their mappings now.
    pub(crate) fn processes(&self) -> impl Iterator<Item = (i32, Root)> {
        self.user.all()
    }

    pub(crate) fn roots_mut(&mut self) -> impl Iterator<Item = &mut Root> {
        self.all_mut().into_iter().flat_map(Journal::values_mut)
    }

    fn all_mut(&mut self) -> [&mut Journal<Root>; 4] {
        let Self {
            user,
            kernel,
            guest_kernel,
            guest_user,
        } = self;
        [user, kernel, guest_kernel, guest_user]
    }

    pub(crate) fn push(&mut self, key: Key, space: Space, root: Root) {
        match space {
            Space::User(pid) => self.user.push(key, pid, root),
            Space::Kernel => self.kernel.push(key, 0, root),
            Space::GuestKernel(pid) => self.guest_kernel.push(key, pid, root),
            Space::GuestUser(pid) => self.guest_user.push(key, pid, root),
        }
    }

    pub(crate) fn finish(self) -> Spaces<Timelines<Root>> {
        Spaces {
            user: self.user.finish(),
            kernel: self.kernel.finish(),
            guest_kernel: self.guest_kernel.finish(),
            guest_user: self.guest_user.finish(),
        }
    }
}

/// Names and mappings of a recording as functions of time.
#[derive(Debug, Default)]
pub struct History {
    pub(crate) ranges: Ranges,
    pub(crate) spaces: Spaces<Timelines<Root>>,
    pub(crate) comms: Timelines<CommId>,
    pub(crate) names: Vec<Vec<u8>>,
    pub(crate) images: Images,
    /// Of images without a build id.
    pub(crate) first_mapped_ns: HashMap<ImageId, u64>,
}

impl History {
    /// The images of the recording.
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// The number of an image that samples of other recordings are in; no process here has it mapped.
    pub fn add_image(&mut self, image: RecordedImage) -> ImageId {
        self.images.intern(image)
    }

    /// The mappings of a process at a moment.
    pub fn epoch(&self, pid: i32, key: Key) -> Epoch {
        Epoch(self.root(Space::User(pid), key).unwrap_or_default())
    }

    /// The processes whose mappings are known, in no order.
    pub fn processes(&self) -> impl Iterator<Item = i32> {
        self.spaces.user.ids()
    }

    /// The images that are mapped in an epoch, in no order; those that are mapped more than once, so
    /// many times.
    pub fn mapped(&self, epoch: Epoch) -> impl Iterator<Item = ImageId> {
        self.ranges.all(epoch.0).map(|range| range.image)
    }

    /// The time at which the first process mapped the code of a file without a build id; 0 if that
    /// was before the recording. `None` without times.
    pub fn first_mapped_ns(&self, image: ImageId) -> Option<u64> {
        self.first_mapped_ns.get(&image).copied()
    }

    /// By file, the lowest offset that code was ever mapped from. Nothing of images whose locations
    /// are addresses: kernel code, and memory without a file.
    pub fn first_code(&self) -> HashMap<ImageId, FileOffset> {
        let all = self.ranges.of_all_sets();
        let code = all.filter(|range| range.is_code && range.pgoff != range.start);
        let mut first: HashMap<ImageId, FileOffset> = HashMap::default();
        for range in code {
            let offset = first.entry(range.image).or_insert(FileOffset(u64::MAX));
            offset.0 = offset.0.min(range.pgoff);
        }
        first
    }

    /// The mappings of the kernel at a moment.
    pub fn kernel_epoch(&self, key: Key) -> Epoch {
        Epoch(self.root(Space::Kernel, key).unwrap_or_default())
    }

    /// The mappings of the kernel of a guest at a moment. A guest is known by the process that
    /// runs it, which is that of its samples; one that nothing was said of is taken for the
    /// default guest, as perf does.
    pub fn guest_kernel_epoch(&self, pid: i32, key: Key) -> Epoch {
        let own = self.root(Space::guest_kernel(pid), key);
        let default = || self.root(Space::GuestKernel(DEFAULT_GUEST), key);
        Epoch(own.or_else(default).unwrap_or_default())
    }

    /// The mappings of a process in a guest at a moment.
    pub fn guest_epoch(&self, pid: i32, key: Key) -> Epoch {
        Epoch(self.root(Space::GuestUser(pid), key).unwrap_or_default())
    }

    fn root(&self, space: Space, key: Key) -> Option<Root> {
        let (timelines, id) = self.spaces.of(space);
        timelines.at(id, key)
    }

    /// All that is known of a thread at a moment.
    pub fn moment(&self, pid: i32, tid: i32, key: Key) -> Moment {
        let span = |space| {
            let (timelines, id) = self.spaces.of(space);
            timelines.span_at(id, key)
        };
        let (user, kernel) = (span(Space::User(pid)), span(Space::Kernel));
        let comm = self.comms.span_at(tid, key);
        Moment {
            user: Epoch(user.value.unwrap_or_default()),
            kernel: Epoch(kernel.value.unwrap_or_default()),
            comm: comm.value.filter(|&comm| comm != CommId::UNKNOWN),
            from: user.from.max(kernel.from).max(comm.from),
            until: user.until.min(kernel.until).min(comm.until),
        }
    }

    /// What an address is in.
    #[inline]
    pub fn resolve(&self, epoch: Epoch, avma: Avma) -> AddressLocation {
        match self.ranges.find(epoch.0, avma.0) {
            Some(range) => self.location_in(range, avma),
            None => AddressLocation::Unmapped(avma),
        }
    }

    /// The same for an address of code: mappings of data (`mmap_data`) do not count.
    pub fn resolve_code(&self, epoch: Epoch, avma: Avma) -> AddressLocation {
        match self.ranges.find(epoch.0, avma.0) {
            Some(range) if range.is_code => self.location_in(range, avma),
            _ => AddressLocation::Unmapped(avma),
        }
    }

    #[inline]
    fn location_in(&self, range: Range, avma: Avma) -> AddressLocation {
        let image = range.image;
        match self.images.of(image).map(|image| image.kind) {
            Some(ImageKind::User | ImageKind::GuestUser) => AddressLocation::User {
                image,
                offset: FileOffset(range.pgoff.wrapping_add(avma.0 - range.start)),
            },
            _ => AddressLocation::Kernel { image, avma },
        }
    }

    /// How many bytes into its mapping an address is; `None` if nothing is mapped there.
    pub fn offset_in_mapping(&self, epoch: Epoch, avma: Avma) -> Option<u64> {
        let range = self.ranges.find(epoch.0, avma.0)?;
        Some(avma.0 - range.start)
    }

    /// Bytes of the mapping that an address is in; `None` if nothing is mapped there.
    pub fn len_of_mapping(&self, epoch: Epoch, avma: Avma) -> Option<u64> {
        let range = self.ranges.find(epoch.0, avma.0)?;
        Some(range.end - range.start)
    }

    /// A thread's name at a moment; `None` if the recording never names it.
    pub fn comm(&self, tid: i32, key: Key) -> Option<CommId> {
        let comm = self.comms.at(tid, key);
        comm.filter(|&comm| comm != CommId::UNKNOWN)
    }

    /// The bytes of a name.
    pub fn comm_name(&self, comm: CommId) -> &[u8] {
        self.names.get(comm.0 as usize).map_or(b"", Vec::as_slice)
    }
}
