//! What runs, as sideband has told it: what a file describes that begins in mid-recording.
//!
//! `/proc` would have lost by then a process that has just ended, from which another has its mappings.

use foldhash::HashMap;
use rprof_abi::record::{Comm, Mmap2, Record, Task};
use rprof_abi::{CpuMode, Endian, Misc, RawRecord, SampleLayout};
use rprof_process::{Synthesized, describe_process};
use std::rc::Rc;
use std::time::Duration;

/// Threads that began and have not ended, and what their processes have mapped.
///
/// Sideband comes CPU after CPU, so it is applied in order of time, up to a moment before which nothing more
/// can come. What is newer is known as it came.
#[derive(Debug)]
pub(crate) struct Alive {
    layout: SampleLayout,
    /// What is newer than this is not applied: a file that begins now may get samples from before.
    lag_ns: u64,
    newer: Vec<Newer>,
    /// Its bytes.
    newer_bytes: usize,
    kept: Vec<Vec<u8>>,
    threads: HashMap<i32, Thread>,
    processes: HashMap<i32, Process>,
    /// Threads that have ended not long ago: the kernel may still work for them.
    ended: Vec<i32>,
    /// Memory that is left for mappings, bytes.
    left: usize,
}

/// A record that is not applied yet.
#[derive(Debug)]
struct Newer {
    time_ns: u64,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Thread {
    pid: i32,
    comm: Rc<[u8]>,
    has_ended: bool,
}

#[derive(Clone, Debug, Default)]
struct Process {
    ppid: i32,
    n_threads: u32,
    /// In the order that they were mapped in; a child has its parent's.
    maps: Rc<Vec<Mapping>>,
    /// There was no room for its mappings.
    is_overfull: bool,
}

#[derive(Clone, Debug)]
struct Mapping {
    misc: Misc,
    /// Without its name.
    map: Mmap2<'static>,
    filename: Rc<[u8]>,
}

/// More threads are not remembered.
const MAX_THREADS: usize = 1 << 20;

/// Memory for mappings, bytes. What has no room is read from `/proc` when it is described.
const MAX_MAP_BYTES: usize = 64 << 20;

/// Memory for records that are not applied yet, if they could be.
const MAX_NEWER_BYTES: usize = 64 << 20;

/// Mappings of one process that are remembered.
const MAX_MAPS: usize = 1 << 14;

impl Mapping {
    fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.filename.len()
    }

    /// Whether nothing is left of it once another is there.
    fn is_within(&self, map: &Mmap2<'_>) -> bool {
        let end = |map: &Mmap2<'_>| map.addr.saturating_add(map.len);
        map.addr <= self.map.addr && end(&self.map) <= end(map)
    }
}

impl Process {
    fn n_bytes(&self) -> usize {
        self.maps.iter().map(Mapping::n_bytes).sum()
    }
}

impl Alive {
    /// `layout` is that of sideband.
    pub(crate) fn new(layout: SampleLayout) -> Self {
        Self {
            layout,
            lag_ns: 0,
            newer: Vec::new(),
            newer_bytes: 0,
            kept: Vec::new(),
            threads: HashMap::default(),
            processes: HashMap::default(),
            ended: Vec::new(),
            left: MAX_MAP_BYTES,
        }
    }

    /// The same for files that may get samples from this long before they begin.
    pub(crate) fn with_lag(mut self, lag: Duration) -> Self {
        self.lag_ns = u64::try_from(lag.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Takes a record of sideband.
    pub(crate) fn see(&mut self, record: &[u8], time_ns: u64) {
        self.newer_bytes += record.len() + size_of::<Newer>();
        self.newer.push(Newer {
            time_ns,
            bytes: record.to_vec(),
        });
    }

    /// Applies what happened up to a moment; everything up to then must have been seen.
    pub(crate) fn settle(&mut self, until_ns: u64) {
        for tid in std::mem::take(&mut self.ended) {
            if self
                .threads
                .get(&tid)
                .is_some_and(|thread| thread.has_ended)
            {
                self.forget_thread(tid);
            }
        }
        self.newer.sort_by_key(|record| record.time_ns);
        let lag_ns = if self.newer_bytes > MAX_NEWER_BYTES {
            0
        } else {
            self.lag_ns
        };
        let until_ns = until_ns.saturating_sub(lag_ns);
        let n = (self.newer).partition_point(|record| record.time_ns <= until_ns);
        let newer = self.newer.split_off(n);
        let layout = self.layout.clone();
        for record in std::mem::replace(&mut self.newer, newer) {
            self.newer_bytes -= record.bytes.len() + size_of::<Newer>();
            if let Ok(raw) = RawRecord::parse(&record.bytes, Endian::NATIVE)
                && let Ok((record, _)) = Record::parse(raw, &layout)
            {
                self.apply(raw.misc, &record);
            }
        }
    }

    /// Takes a record that each file is to have.
    pub(crate) fn keep(&mut self, record: Vec<u8>) {
        self.kept.push(record);
    }

    /// Records beside what [`Alive::describe`] tells: those of each file, and newer ones, in order of time.
    pub(crate) fn newer(&mut self) -> impl Iterator<Item = &[u8]> {
        self.newer.sort_by_key(|record| record.time_ns);
        let newer = self.newer.iter().map(|record| &record.bytes[..]);
        self.kept.iter().map(|record| &record[..]).chain(newer)
    }

    /// Notes what a record says.
    pub(crate) fn apply(&mut self, misc: Misc, record: &Record<'_>) {
        match record {
            Record::Fork(task) => self.fork(task),
            Record::Comm(comm) => self.name(misc, comm),
            Record::Exit(task) => {
                if let Some(thread) = self.threads.get_mut(&task.tid) {
                    thread.has_ended = true;
                    self.ended.push(task.tid);
                }
            }
            Record::Mmap2(map) if misc.cpu_mode() == CpuMode::User => self.map(misc, map),
            _ => {}
        }
    }

    fn fork(&mut self, task: &Task) {
        let parent = self.threads.get(&task.ptid);
        let comm = parent.map_or_else(Rc::default, |parent| Rc::clone(&parent.comm));
        if !self.begin_thread(task.pid, task.tid, comm) || task.pid == task.ppid {
            return;
        }
        let parent = self.processes.get(&task.ppid).cloned().unwrap_or_default();
        self.set_maps(task.pid, parent.maps, parent.is_overfull);
        if let Some(process) = self.processes.get_mut(&task.pid) {
            process.ppid = task.ppid;
        }
    }

    fn name(&mut self, misc: Misc, comm: &Comm<'_>) {
        let &Comm { pid, tid, comm } = comm;
        if !self.begin_thread(pid, tid, comm.into()) || !misc.has(Misc::COMM_EXEC) {
            return;
        }
        self.set_maps(pid, Rc::default(), false);
        if self
            .processes
            .get(&pid)
            .is_some_and(|process| process.n_threads > 1)
        {
            // The one that executes gets the first one's id: its own is never said to end.
            let others = self
                .threads
                .iter()
                .filter(|&(&other, thread)| other != tid && thread.pid == pid);
            let others: Vec<i32> = others.map(|(&other, _)| other).collect();
            others
                .into_iter()
                .for_each(|other| self.forget_thread(other));
        }
    }

    /// Whether there is room for it.
    fn begin_thread(&mut self, pid: i32, tid: i32, comm: Rc<[u8]>) -> bool {
        let is_new = !self.threads.contains_key(&tid);
        if pid <= 0 || is_new && self.threads.len() >= MAX_THREADS {
            return false;
        }
        // First, as it may be of the same process.
        self.processes.entry(pid).or_default().n_threads += 1;
        self.forget_thread(tid);
        let has_ended = false;
        let thread = Thread {
            pid,
            comm,
            has_ended,
        };
        self.threads.insert(tid, thread);
        true
    }

    fn forget_thread(&mut self, tid: i32) {
        let Some(thread) = self.threads.remove(&tid) else {
            return;
        };
        if let Some(process) = self.processes.get_mut(&thread.pid) {
            process.n_threads = process.n_threads.saturating_sub(1);
            if process.n_threads == 0 {
                self.set_maps(thread.pid, Rc::default(), false);
                self.processes.remove(&thread.pid);
            }
        }
    }

    /// Gives a process mappings in place of its own.
    fn set_maps(&mut self, pid: i32, maps: Rc<Vec<Mapping>>, is_overfull: bool) {
        let Some(process) = self.processes.get_mut(&pid) else {
            return;
        };
        self.left += process.n_bytes();
        process.maps = maps;
        process.is_overfull = is_overfull;
        match self.left.checked_sub(process.n_bytes()) {
            Some(left) => self.left = left,
            None => {
                process.maps = Rc::default();
                process.is_overfull = true;
            }
        }
    }

    fn map(&mut self, misc: Misc, map: &Mmap2<'_>) {
        let Some(process) = self.processes.get_mut(&map.pid) else {
            return;
        };
        if process.is_overfull {
            return;
        }
        let mapping = Mapping {
            misc,
            map: Mmap2 {
                filename: b"",
                ..map.clone()
            },
            filename: map.filename.into(),
        };
        let maps = Rc::make_mut(&mut process.maps);
        let mut freed = 0;
        maps.retain(|old| {
            let stays = !old.is_within(map);
            freed += if stays { 0 } else { old.n_bytes() };
            stays
        });
        self.left += freed;
        let n_bytes = mapping.n_bytes();
        if maps.len() < MAX_MAPS && n_bytes <= self.left {
            self.left -= n_bytes;
            maps.push(mapping);
        } else {
            self.set_maps(map.pid, Rc::default(), true);
        }
    }

    /// Processes with their threads, both ascending.
    fn tasks(&self) -> Vec<(i32, i32)> {
        let threads = self.threads.iter();
        let mut tasks: Vec<_> = threads.map(|(&tid, thread)| (thread.pid, tid)).collect();
        tasks.sort_unstable();
        tasks
    }

    /// Describes all that runs, as [`describe_process`] does.
    pub(crate) fn describe(&self, emit: &mut impl FnMut(Synthesized<'_>)) {
        for tasks in self.tasks().chunk_by(|one, other| one.0 == other.0) {
            let Some(&(pid, _)) = tasks.first() else {
                continue;
            };
            let Some(process) = self.processes.get(&pid) else {
                continue;
            };
            if process.is_overfull {
                describe_process(pid, emit);
                continue;
            }
            for &(_, tid) in tasks {
                let parent = if tid == pid { process.ppid } else { pid };
                let comm = self.threads.get(&tid).map(|thread| &thread.comm[..]);
                let described = Synthesized::thread(pid, tid, parent, comm.unwrap_or_default());
                described.into_iter().for_each(&mut *emit);
            }
            for Mapping {
                misc,
                map,
                filename,
            } in process.maps.iter()
            {
                let map = Mmap2 {
                    pid,
                    tid: pid,
                    filename,
                    ..map.clone()
                };
                emit(Synthesized::mapping(*misc, map));
            }
        }
    }
}

#[cfg(test)]
mod tests;
