//! The account of each thread and each CPU.

use crate::runs::{RunOfTask, RunsRead, SchedOptions, SchedRecording, Stopped};
use rprof_machine::Key;
use rprof_scheduling::{SwitchState, ThreadTotals};
use rprof_untrusted::Untrusted;
use std::borrow::Cow;
use std::cell::RefCell;
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
        let accounts: RefCell<Self> = RefCell::default();
        let mut pause = |paused: &Stopped<'_>| {
            let mut accounts = accounts.borrow_mut();
            accounts.add_open(recording, paused);
            accounts.add_running(paused);
        };
        let read = recording.for_each_run(&mut pause, |of_task| {
            accounts.borrow_mut().add(of_task);
            true
        })?;
        let mut accounts = accounts.into_inner();
        accounts.add_open(recording, &read.end());
        if read.is_of_some_threads {
            accounts.cpus.clear();
        }
        let filter = &options.filter;
        let is_shown = |one: &ThreadAccount| filter.accepts_task(one.pid, one.tid, one.name.raw());
        accounts.threads.retain(is_shown);
        Ok((accounts, read))
    }

    /// Adds what threads do at a moment at which the recording ends, or is paused.
    fn add_open(&mut self, recording: &SchedRecording<'_>, stopped: &Stopped<'_>) {
        for (tid, open) in stopped.open() {
            let name = recording.name(tid, Key::LAST);
            let row = self.row(tid, tid, name);
            self.threads[row].totals.add_open(&open, stopped.at_ns);
        }
    }

    /// Adds what CPUs do as the recording is paused.
    fn add_running(&mut self, paused: &Stopped<'_>) {
        for (cpu, tid, start_ns) in paused.scheduler.running() {
            if (paused.lost)
                .first_on(Some(cpu), start_ns, paused.at_ns)
                .is_some()
            {
                continue;
            }
            let cpu = self.cpus.entry(cpu).or_default();
            let ran_ns = paused.at_ns.saturating_sub(start_ns);
            match tid {
                0 => cpu.idle_ns += ran_ns,
                _ => cpu.busy_ns += ran_ns,
            }
        }
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
        let thread = &mut self.threads[row];
        thread.pid = pid;
        thread.totals.add(&run);
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
