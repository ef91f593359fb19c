//! Sampling CPUs in place of threads, from some moment on. The same events of everybody are open from the
//! start, and off. Their clocks go on from process to process, however short the processes are.

use crate::control::DumpSize;
use crate::cpu_or_thread::CpuOrThread;
use crate::error::Error;
use crate::opening::{EventCounters, Group, Opened, Rings, Scope, SmallDumps};
use rprof_abi::{AttrFlags, PerfEventAttr, event_type};
use rprof_ringbuf::Target;
use std::io;

impl Opened {
    /// Samples by CPU from now on.
    pub(crate) fn go_by_cpu(&mut self) -> io::Result<()> {
        let Some(by_cpu) = &self.by_cpu else {
            return Ok(());
        };
        self.sampling.disable()?;
        by_cpu.enable(self.dump_size)?;
        self.is_by_cpu = true;
        self.sampling.detach()
    }

    /// Dumps have this size from now on.
    pub(crate) fn set_dump_size(&mut self, size: DumpSize) -> io::Result<()> {
        if self.dump_size == size {
            return Ok(());
        }
        self.dump_size = size;
        self.on().resize_dumps(size)
    }

    /// Whether CPUs can be sampled, and are not yet.
    pub(crate) fn may_go_by_cpu(&self) -> bool {
        self.by_cpu.is_some() && !self.is_by_cpu
    }

    /// What samples just now.
    pub(crate) fn on(&self) -> &Group {
        let by_cpu = self.by_cpu.as_ref().filter(|_| self.is_by_cpu);
        by_cpu.unwrap_or(&self.sampling)
    }

    /// All groups that sample, now or at another time.
    pub(crate) fn samplers(&self) -> impl Iterator<Item = &Group> {
        [&self.sampling].into_iter().chain(&self.by_cpu)
    }
}

impl Group {
    /// The same events of everybody, which are off and write into this group's rings; `None` if they
    /// cannot be opened.
    pub(crate) fn of_everybody(&self, scope: &Scope<'_>) -> Result<Option<Self>, Error> {
        let mut group = Self::default();
        let events = self.events.iter().map(EventCounters::of_everybody);
        group.events.extend(events);
        for &cpu in &scope.cpus {
            match group.add(
                &[Target::All],
                CpuOrThread::Cpu(cpu),
                Rings::In(self),
                scope.interrupts,
            ) {
                Ok(()) => {}
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(_) => return Ok(None),
            }
        }
        Ok(Some(group))
    }
}

impl EventCounters {
    /// The same of everybody.
    fn of_everybody(&self) -> Self {
        let changed = |attr: &PerfEventAttr| {
            let mut attr = attr.clone();
            attr.flags = attr.flags.without(AttrFlags::ENABLE_ON_EXEC);
            if attr.kind == event_type::SOFTWARE {
                attr.flags = attr.flags.with(AttrFlags::EXCLUDE_IDLE);
            }
            attr
        };
        Self {
            name: self.name.clone(),
            attr: changed(&self.attr),
            counters: Vec::new(),
            opened_for: Vec::new(),
            small_dumps: (self.small_dumps.as_ref())
                .map(|small| SmallDumps::new(changed(&small.attr))),
            is_on: self.is_on,
            cpus: self.cpus.clone(),
            grouping: self.grouping.clone(),
            text: self.text.clone(),
            cgroup: self.cgroup.clone(),
            filter: self.filter.clone(),
            purpose: self.purpose,
        }
    }
}
