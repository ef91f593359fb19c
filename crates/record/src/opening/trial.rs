//! Trying out what the kernel takes, before anything is opened for good.

use crate::settings::{Settings, Watch};
use rprof_abi::PerfEventAttr;
use rprof_ringbuf::{Counter, Cpu, OpenError, OpenWith, Target};

/// What settings are tried on: ourselves, or everybody if everybody will be watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) target: Target,
    cpu: Cpu,
}

impl Trial {
    pub(crate) fn new(settings: &Settings) -> Self {
        match (&settings.watch, &settings.cpus) {
            (Watch::All, cpus) => {
                let first = cpus.as_ref().and_then(|cpus| cpus.first()).copied();
                Self {
                    target: Target::All,
                    cpu: Cpu::On(first.unwrap_or(0)),
                }
            }
            _ => Self {
                target: Target::Thread(0),
                cpu: Cpu::Any,
            },
        }
    }

    /// The same where an event's PMU has its CPUs.
    pub(crate) fn on_cpus_of(self, cpus: Option<&[u32]>) -> Self {
        match (self.target, cpus.and_then(<[u32]>::first)) {
            (Target::All, Some(&first)) => Self {
                cpu: Cpu::On(first),
                ..self
            },
            _ => self,
        }
    }

    pub(crate) fn open(self, attr: &PerfEventAttr) -> Result<(), OpenError> {
        self.open_with(attr, OpenWith::default()).map(drop)
    }

    /// Opens an event for a moment.
    pub(crate) fn open_with(
        self,
        attr: &PerfEventAttr,
        with: OpenWith<'_>,
    ) -> Result<Counter, OpenError> {
        Counter::open_with(attr, self.target, self.cpu, with)
    }
}
