//! Giving something up, so that the recorder takes less CPU time.

use crate::Error;
use crate::control::StackCare;
use crate::cpu_budget::Cut;
use crate::opening::{EventCounters, Group};
use crate::run::Run;
use rprof_abi::{AttrFlags, PerfEventAttr};
use rprof_ringbuf::sys::Clock;
use std::io;

impl Run<'_> {
    /// Gives up something if the recorder takes more than it may; returns what.
    pub(crate) fn keep_budget(&mut self) -> Result<Option<Cut>, Error> {
        let (cpu_ns, now_ns) = (Clock::OwnCpu.now_ns(), Clock::Monotonic.now_ns());
        let budget = self.budget.as_mut();
        let cut = budget.and_then(|budget| budget.next_cut(cpu_ns, now_ns));
        match cut {
            None => {}
            Some(Cut::LargeDumps) => {
                self.control.keep_dumps_small();
                self.sink.care_for_stacks(StackCare::DumpOnly)?;
            }
            Some(Cut::Unwinding) => self.sink.care_for_stacks(StackCare::None)?,
            Some(Cut::Samples(hz)) => {
                let mut groups = self.opened.samplers();
                let lowered = groups.try_for_each(|group| group.set_frequency(hz));
                lowered.map_err(Error::system("lowering the frequency"))?;
            }
        }
        Ok(cut)
    }
}

impl Group {
    /// Samples this often, where the kernel aims at a frequency.
    fn set_frequency(&self, hz: u64) -> io::Result<()> {
        let is_frequency =
            |attr: &PerfEventAttr| attr.flags.has(AttrFlags::FREQ) && attr.sample_period > hz;
        let events = self.events.iter();
        let mut counters = events
            .filter(|event| is_frequency(&event.attr))
            .flat_map(EventCounters::all);
        counters.try_for_each(|counter| counter.set_period(hz))
    }
}
