//! What has a ring of its own: a CPU, or with `--per-thread` a thread.

use rprof_ringbuf::{Cpu, Target};
use std::fmt;

/// What has a ring of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuOrThread {
    /// A CPU, for all that runs there.
    Cpu(u32),
    /// A thread, wherever it runs.
    Thread(i32),
}

impl CpuOrThread {
    /// Where events of it are opened.
    pub(crate) fn cpu(self) -> Cpu {
        match self {
            Self::Cpu(cpu) => Cpu::On(cpu),
            Self::Thread(_) => Cpu::Any,
        }
    }

    /// Whether an event can be opened there whose PMU has these CPUs.
    pub(crate) fn is_on(self, cpus: Option<&[u32]>) -> bool {
        match (self, cpus) {
            (Self::Cpu(cpu), Some(cpus)) => cpus.contains(&cpu),
            _ => true,
        }
    }

    /// The places for these targets, each with its own.
    pub(crate) fn of_threads(targets: &[Target]) -> Vec<(Self, Vec<Target>)> {
        let place = |&target: &Target| match target {
            Target::Thread(tid) => Some((Self::Thread(tid), vec![target])),
            _ => None,
        };
        targets.iter().filter_map(place).collect()
    }

    /// The places for these targets: each CPU has all of them.
    pub(crate) fn of_cpus(cpus: &[u32], targets: &[Target]) -> Vec<(Self, Vec<Target>)> {
        let place = |&cpu: &u32| (Self::Cpu(cpu), targets.to_vec());
        cpus.iter().map(place).collect()
    }
}

impl fmt::Display for CpuOrThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(cpu) => write!(f, "CPU {cpu}"),
            Self::Thread(tid) => write!(f, "thread {tid}"),
        }
    }
}
