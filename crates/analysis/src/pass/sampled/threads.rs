//! The threads of samples, and what else is known of times.

use crate::locations::{NamedThread, comm_text};
use crate::pass::query::Query;
use foldhash::HashMap;
use rprof_profile::{Strings, Thread, TimedLoss};

/// Threads, numbered in the order in which samples are of them.
pub(super) struct SeenThreads<'a> {
    query: &'a Query<'a>,
    named: Vec<NamedThread>,
    /// Where each of those is in the list; `u32::MAX` while it is not there.
    numbers: Vec<u32>,
    threads: Vec<Thread>,
}

impl<'a> SeenThreads<'a> {
    /// None of these has been seen yet.
    pub(super) fn new(query: &'a Query<'a>, named: Vec<NamedThread>) -> Self {
        Self {
            query,
            numbers: vec![u32::MAX; named.len()],
            named,
            threads: Vec::new(),
        }
    }

    /// The number of a sample's thread, which it extends to its time; samples come in order.
    #[inline]
    pub(super) fn see(&mut self, named: u32, time_ns: u64, strings: &mut Strings) -> Option<u32> {
        let number = self.numbers.get(named as usize).copied()?;
        if let Some(thread) = self.threads.get_mut(number as usize) {
            thread.end_ns = time_ns;
            return Some(number);
        }
        let number = u32::try_from(self.threads.len()).ok()?;
        let group = self.named.get(named as usize)?;
        let history = &self.query.recording.index.history;
        let comm = comm_text(history, group.name).into_raw();
        self.threads.push(Thread {
            pid: group.pid,
            tid: group.tid,
            comm: strings.intern(&comm),
            start_ns: time_ns,
            end_ns: time_ns,
        });
        self.numbers[named as usize] = number;
        Some(number)
    }

    /// All of them; where there are times, with those of processes, as records have them.
    pub(super) fn into_threads(mut self, has_times: bool) -> Vec<Thread> {
        if !has_times {
            return self.threads;
        }
        let lifetimes = &self.query.recording.index.lifetimes;
        let mut last: HashMap<i32, usize> = HashMap::default();
        for (idx, thread) in self.threads.iter_mut().enumerate() {
            if thread.pid != thread.tid {
                continue;
            }
            // A process that executed another program is several threads in a row.
            if last.insert(thread.pid, idx).is_none()
                && let (Some(start_ns), _) = lifetimes.span_ns(thread.pid)
            {
                thread.start_ns = thread.start_ns.min(start_ns);
            }
        }
        for (pid, idx) in last {
            if let (_, Some(end_ns)) = lifetimes.span_ns(pid)
                && let Some(thread) = self.threads.get_mut(idx)
            {
                thread.end_ns = thread.end_ns.max(end_ns);
            }
        }
        self.threads
    }
}

/// Losses within the times that are asked for, in their order.
pub(super) fn timed_losses(query: &Query<'_>) -> Vec<TimedLoss> {
    let losses = query.recording.index.lost_at.iter().copied();
    let is_wanted = |loss: &TimedLoss| query.samples.has_time(Some(loss.time_ns));
    let mut losses: Vec<TimedLoss> = losses.filter(is_wanted).collect();
    losses.sort_by_key(|loss| loss.time_ns);
    losses
}
