//! The same knowledge while a recording goes on: for now and for moments ago, and no more.

use crate::apply::Now;
use crate::change::Change;
use crate::{AddressLocation, Epoch, HistoryBuilder, Images, Key, MovedImages};
use foldhash::{HashMap, HashSet};
use rprof_abi::record::{Comm, Record};
use rprof_abi::{Misc, SampleId};
use rprof_base::{Avma, FileOffset};
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names and mappings as they are, and as they were moments ago.
///
/// Sideband comes ring by ring, and samples after it: records are added as they come, and applied
/// in order of time up to a moment before which nothing more can come ([`Live::settle`]).
#[derive(Debug)]
pub struct Live {
    builder: HistoryBuilder,
    pending: Vec<(Key, Change)>,
    now: Now,
    /// Threads that live, with their processes.
    threads: HashMap<i32, i32>,
    /// How many threads each process has.
    n_threads: HashMap<i32, u32>,
    /// Processes whose last thread has ended, with when.
    ended: VecDeque<(Key, i32)>,
    n_added: u64,
    /// How many were added when changes were last applied, and up to when: before each sample it is
    /// asked for the same again.
    settled: (u64, u64),
    /// Nodes that were in use when it was last looked.
    n_in_use: usize,
    /// The same of images.
    n_images: usize,
    /// Processes with more mappings than there is room for.
    overfull: HashSet<i32>,
    generation: u32,
    /// Nothing older than this moment is asked for, ns.
    forgotten_ns: u64,
    /// So many changes wait at most before those are applied that can be.
    max_pending: usize,
    steps: Steps,
}

/// Counts what is done, for another thread that wants to know whether anything is.
#[derive(Clone, Debug, Default)]
pub struct Steps(Arc<AtomicU64>);

impl Steps {
    /// One more is done.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many are done by now.
    pub fn done(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A process is forgotten so long after its end: the kernel still works for it.
const LINGER_NS: u64 = 5_000_000_000;

/// Nodes that are not worth looking through: 5 MB.
const FEW_NODES: usize = 100_000;

/// Mappings of all processes that are followed at most: 25 MB, and twice that while they change.
const MAX_NODES: usize = 500_000;

/// Changes that wait to be applied: 5 MB.
const MAX_PENDING: usize = 1 << 16;

/// Images that are not worth looking through.
const FEW_IMAGES: usize = 1024;

/// Memory for images, bytes: some hundred thousand of them that are mapped at a time. Those that come later are one.
const MAX_IMAGE_BYTES: u64 = 32 << 20;

impl Default for Live {
    fn default() -> Self {
        Self {
            builder: HistoryBuilder::with_images_up_to(MAX_IMAGE_BYTES),
            pending: Vec::new(),
            now: Now::new(0, None),
            threads: HashMap::default(),
            n_threads: HashMap::default(),
            ended: VecDeque::new(),
            n_added: 0,
            settled: (0, 0),
            n_in_use: 0,
            n_images: 0,
            overfull: HashSet::default(),
            generation: 0,
            forgotten_ns: 0,
            max_pending: MAX_PENDING,
            steps: Steps::default(),
        }
    }
}

impl Live {
    /// Takes one record of sideband.
    pub fn add(&mut self, misc: Misc, record: &Record<'_>, id: &SampleId) {
        self.n_added += 1;
        // Nobody asks for names here, and programs may give themselves any number.
        let nameless;
        let record = match record {
            Record::Comm(comm) => {
                nameless = Record::Comm(Comm { comm: b"", ..*comm });
                &nameless
            }
            _ => record,
        };
        match record {
            Record::Fork(task) => self.begin_thread(task.pid, task.tid),
            Record::Comm(comm) => self.begin_thread(comm.pid, comm.tid),
            Record::Exit(task) => self.end_thread(task.pid, task.tid, id.time_ns),
            _ => {}
        }
        self.builder.add(self.n_added, misc, record, id);
        self.pending.extend(self.builder.take_changes());
        if self.pending.len() >= self.max_pending {
            // What ran before is described without times: any number of mappings, long before anything is settled.
            self.apply_until(self.settled.1);
            // Those that are left are of now: as many as the rings hold.
            self.max_pending = MAX_PENDING.max(2 * self.pending.len());
        }
    }

    /// Counts the changes that are applied, and what is looked through to make room.
    pub fn steps(&self) -> Steps {
        self.steps.clone()
    }

    fn begin_thread(&mut self, pid: i32, tid: i32) {
        if let Some(before) = self.threads.insert(tid, pid) {
            self.forget_thread(before);
        }
        *self.n_threads.entry(pid).or_default() += 1;
    }

    /// A process goes on without its first thread.
    fn end_thread(&mut self, pid: i32, tid: i32, time_ns: Option<u64>) {
        if let Some(pid) = self.threads.remove(&tid) {
            self.forget_thread(pid);
        }
        if !self.n_threads.contains_key(&pid) {
            let ended = self.builder.key(time_ns, self.n_added);
            self.ended.push_back((ended, pid));
        }
    }

    fn forget_thread(&mut self, pid: i32) {
        if let Entry::Occupied(mut n) = self.n_threads.entry(pid) {
            *n.get_mut() -= 1;
            if *n.get() == 0 {
                n.remove();
            }
        }
    }

    /// Applies what happened up to a moment; everything up to then must have been added.
    pub fn settle(&mut self, until_ns: u64) {
        let settled = (self.n_added, until_ns);
        if std::mem::replace(&mut self.settled, settled) == settled {
            return;
        }
        if !self.pending.is_empty() {
            self.apply_until(until_ns);
        }
        self.max_pending = MAX_PENDING;
        self.now.end_execs(Key {
            time_ns: until_ns,
            offset: u64::MAX,
        });
    }

    /// Applies what happened up to a moment, in order of time.
    fn apply_until(&mut self, until_ns: u64) {
        self.now.vdso = self.builder.images().named(b"[vdso]");
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_unstable_by_key(|&(key, _)| key);
        let n = pending.partition_point(|(key, _)| key.time_ns <= until_ns);
        for (key, change) in pending.drain(..n) {
            self.now.apply(key, change);
            self.steps.count();
            // Here, and not when the pass is over: others map as much as they like until then.
            if self.now.weight() > 2 * MAX_NODES {
                self.make_room();
            }
        }
        self.pending = pending;
    }

    /// Forgets what nobody asks for any more; if that is not enough, the processes that have most.
    fn make_room(&mut self) {
        // What has no time is older than every sample.
        let time_ns = self.forgotten_ns.max(1);
        self.now.forget(Key { time_ns, offset: 0 });
        self.forget_mappings();
        self.generation += 1;
    }

    /// Forgets what was before a moment: nothing older will be asked for. If images got other numbers, they are
    /// returned.
    #[must_use = "numbers of images are void"]
    pub fn forget(&mut self, before_ns: u64) -> Option<MovedImages> {
        let at = |time_ns| Key { time_ns, offset: 0 };
        self.forgotten_ns = self.forgotten_ns.max(before_ns);
        self.now.forget(at(before_ns));
        let long_ago = at(before_ns.saturating_sub(LINGER_NS));
        while let Some(&(ended, pid)) = self.ended.front()
            && ended < long_ago
        {
            self.ended.pop_front();
            // Unless its id is another's by now.
            if !self.n_threads.contains_key(&pid) {
                self.now.remove(pid, ended);
            }
        }
        let has_many_nodes = self.now.n_nodes() > FEW_NODES.max(2 * self.n_in_use);
        let has_many_images = self.images().len() > FEW_IMAGES.max(2 * self.n_images);
        if has_many_nodes {
            self.forget_mappings();
        }
        if has_many_nodes || has_many_images {
            self.generation += 1;
        }
        has_many_images.then(|| self.forget_images())
    }

    /// Forgets mappings that nobody has any more.
    fn forget_mappings(&mut self) {
        let steps = self.steps.clone();
        // Asked of every node that is kept.
        let mut same_image = |image| {
            steps.count();
            image
        };
        self.now.compact(&mut same_image);
        while self.now.weight() > MAX_NODES {
            let largest = self.now.forget_largest();
            if largest.is_empty() {
                break;
            }
            self.overfull.extend(largest);
            self.now.compact(&mut same_image);
        }
        self.n_in_use = self.now.n_nodes();
    }

    /// Forgets images that nobody has mapped any more; the others get other numbers.
    fn forget_images(&mut self) -> MovedImages {
        let mut moved = MovedImages::of_images(self.images().len());
        let steps = self.steps.clone();
        self.now.compact(&mut |image| {
            steps.count();
            moved.keep(image)
        });
        let pending = self.pending.iter_mut();
        for image in pending.filter_map(|(_, change)| change.image_mut()) {
            *image = moved.keep(*image);
        }
        self.builder.keep_images(&moved);
        self.n_images = self.images().len();
        moved
    }

    /// Changes when numbers of epochs do: what is kept by [`Epoch::number`] is void then.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// How many processes had more mappings than there is room for: what they had mapped by some
    /// moment is not known.
    pub fn n_overfull(&self) -> usize {
        self.overfull.len()
    }

    /// Whether a process has threads, as far as it was said to have any.
    pub fn is_alive(&self, pid: i32) -> bool {
        self.n_threads.contains_key(&pid)
    }

    /// The mappings of a process at a moment.
    pub fn epoch(&self, pid: i32, time_ns: u64) -> Epoch {
        let key = Key {
            time_ns,
            offset: u64::MAX,
        };
        Epoch(self.now.recent(pid, key).unwrap_or_default())
    }

    /// What an address of user space is in.
    pub fn resolve(&self, epoch: Epoch, avma: Avma) -> AddressLocation {
        match self.now.ranges().find(epoch.0, avma.0) {
            Some(range) => AddressLocation::User {
                image: range.image,
                offset: FileOffset(range.pgoff.wrapping_add(avma.0 - range.start)),
            },
            None => AddressLocation::Unmapped(avma),
        }
    }

    /// The images seen so far.
    pub fn images(&self) -> &Images {
        self.builder.images()
    }
}

#[cfg(test)]
mod tests;
