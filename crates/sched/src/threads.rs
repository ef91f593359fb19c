//! The account of each thread and each CPU.

use crate::runs::{RunOfTask, RunsRead, SchedOptions, SchedRecording};
use rprof_machine::Key;
use rprof_scheduling::{SwitchState, ThreadTotals};
use rprof_untrusted::Untrusted;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What threads and CPUs did.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    pub(crate) threads: Vec<ThreadAccount>,
    pub(crate) cpus: BTreeMap<u32, CpuAccount>,
    /// The rows of threads that have not ended, by id.
    living: BTreeMap<i32, usize>,
}

/// A thread: an id that is used again is another one.
#[derive(Debug)]
pub(crate) struct ThreadAccount {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    /// As it was called at last.
    pub(crate) name: Untrusted<String>,
    pub(crate) totals: ThreadTotals,
}

/// A CPU, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuAccount {
    pub(crate) busy_ns: u64,
    pub(crate) idle_ns: u64,
    pub(crate) n_switches: u64,
}

impl Accounts {
    /// Reads a recording.
    pub(crate) fn of(
        recording: &SchedRecording<'_>,
        options: &SchedOptions,
    ) -> Result<(Self, RunsRead), rprof_analysis::Error> {
        let mut accounts = Self::default();
        let read = recording.for_each_run(|of_task| {
            accounts.add(of_task);
            true
        })?;
        let end_ns = read.times.as_ref().map_or(0, |times| *times.end());
        for (tid, open) in read.scheduler.open() {
            let name = recording.name(tid, Key::LAST);
            let row = accounts.row(tid, tid, name);
            accounts.threads[row].totals.add_open(&open, end_ns);
        }
        let filter = &options.filter;
        let is_shown = |one: &ThreadAccount| filter.accepts_task(one.pid, one.tid, one.name.raw());
        accounts.threads.retain(is_shown);
        Ok((accounts, read))
    }

    fn add(&mut self, of_task: RunOfTask<'_>) {
        let RunOfTask { run, pid, name, .. } = of_task;
        let cpu = self.cpus.entry(run.cpu).or_default();
        cpu.n_switches += 1;
        if run.tid == 0 {
            cpu.idle_ns += run.ran_ns();
            return;
        }
        cpu.busy_ns += run.ran_ns();
        let row = self.row(pid, run.tid, name);
        self.threads[row].totals.add(&run);
        if run.state == SwitchState::Dead {
            self.living.remove(&run.tid);
        }
    }

    /// The row of a thread. Its process and name are those that it had at last.
    fn row(&mut self, pid: i32, tid: i32, name: Untrusted<Cow<'_, str>>) -> usize {
        let next = self.threads.len();
        let row = *self.living.entry(tid).or_insert(next);
        match self.threads.get_mut(row) {
            Some(known) if known.name.raw() != name.raw() => {
                known.name = Untrusted::new(name.into_raw().into_owned());
            }
            Some(_) => {}
            None => self.threads.push(ThreadAccount {
                pid,
                tid,
                name: Untrusted::new(name.into_raw().into_owned()),
                totals: ThreadTotals::default(),
            }),
        }
        row
    }
}
