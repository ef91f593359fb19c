//! The threads and processes that are seized.

use super::account::{Account, CpuTimes, StoppedIn};
use foldhash::HashMap;
use rprof_abi::{MapsLine, parse_maps};
use rprof_process::{CpuTime, ThreadStat, is_in_system_call};

/// A seized thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) pid: i32,
    /// The process that made it.
    pub(super) parent: i32,
    cpu_time: CpuTime,
    /// What its samples stand for.
    account: Account,
    /// Its CPU time when it was last looked at.
    seen_ns: u64,
    pub(super) comm: Vec<u8>,
    pub(super) cpu: u32,
    /// A sample is taken when it stops.
    pub(super) is_due: bool,
}

impl Thread {
    /// One whose CPU time counts from now on.
    pub(super) fn new(pid: i32, tid: i32) -> Self {
        let cpu_time = CpuTime::new(pid, tid);
        let now = cpu_times(&cpu_time, pid, tid).unwrap_or_default();
        Self {
            pid,
            parent: pid,
            cpu_time,
            account: Account::new(now),
            seen_ns: now.total_ns,
            comm: Vec::new(),
            cpu: 0,
            is_due: false,
        }
    }

    /// Its state, if it runs and has had CPU time since this was last asked.
    pub(super) fn look(&mut self, tid: i32) -> Option<ThreadStat> {
        let now_ns = self.cpu_time.now_ns()?;
        let before_ns = std::mem::replace(&mut self.seen_ns, now_ns);
        if before_ns == now_ns {
            return None;
        }
        ThreadStat::read(self.pid, tid).filter(|state| state.is_running)
    }

    /// The CPU time that a sample of the stopped thread stands for.
    pub(super) fn take_cpu_time(&mut self, tid: i32) -> u64 {
        let stopped_in = match is_in_system_call(self.pid, tid) {
            Some(true) => StoppedIn::SystemCall,
            Some(false) => StoppedIn::UserSpace,
            None => StoppedIn::Either,
        };
        let now = cpu_times(&self.cpu_time, self.pid, tid);
        now.map_or(0, |now| self.account.take(now, stopped_in))
    }
}

/// The CPU time of a thread until now; `None` if it is gone.
fn cpu_times(total: &CpuTime, pid: i32, tid: i32) -> Option<CpuTimes> {
    let state = ThreadStat::read(pid, tid)?;
    Some(CpuTimes {
        total_ns: total.now_ns()?,
        user_ticks: state.user_ticks,
        system_ticks: state.system_ticks,
    })
}

/// What a process has mapped, as far as it was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings {
    text: Vec<u8>,
    told: Vec<MapsLine>,
}

impl Mappings {
    /// Looks again; what is new. Of data, too, if that is wanted.
    pub(super) fn look(&mut self, pid: i32, with_data: bool) -> Vec<MapsLine> {
        let text = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        if text == self.text {
            return Vec::new();
        }
        let wanted = |map: &MapsLine| with_data || map.is_code();
        let now: Vec<MapsLine> = parse_maps(&text).filter(wanted).collect();
        let before = std::mem::replace(&mut self.told, now);
        self.text = text;
        let mut before = before.iter().peekable();
        // Both are in order of addresses.
        let is_new = |map: &&MapsLine| {
            while before.next_if(|old| old.start < map.start).is_some() {}
            before.peek() != Some(map)
        };
        self.told.iter().filter(is_new).cloned().collect()
    }
}

/// All that are seized.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    pub(super) threads: HashMap<i32, Thread>,
    pub(super) mappings: HashMap<i32, Mappings>,
}

impl Tasks {
    /// Forgets a thread, and its process with the last one.
    pub(super) fn remove(&mut self, tid: i32) -> Option<Thread> {
        let thread = self.threads.remove(&tid)?;
        let is_left = self.threads.values().any(|other| other.pid == thread.pid);
        if !is_left {
            self.mappings.remove(&thread.pid);
        }
        Some(thread)
    }

    /// The other threads of a process, which are gone when it executes another program.
    pub(super) fn others_of(&self, pid: i32) -> Vec<i32> {
        let others = self.threads.iter();
        let others = others.filter(|&(&tid, thread)| thread.pid == pid && tid != pid);
        others.map(|(&tid, _)| tid).collect()
    }
}
