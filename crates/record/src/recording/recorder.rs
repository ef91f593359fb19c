//! What takes records from the kernel into the file, from the first one to the last.

use crate::control::{PassStatistics, StackCare};
use crate::cpu_budget::{Budget, Cut};
use crate::drain::Drain;
use crate::drain::losses;
use crate::error::Error;
use crate::interrupts::{Interrupts, WriterStalled};
use crate::opening::{Group, Opened};
use crate::output::files::Files;
use crate::pauses::Pauses;
use crate::settings::{Output, Settings};
use crate::sink::Sink;
use rprof_abi::SampleLayout;
use rprof_probes::Defined;
use rprof_ringbuf::sys::Clock;
use std::rc::Rc;

/// What takes records from the kernel into the file.
pub(crate) struct Recorder {
    pub(crate) settings: Settings,
    pub(crate) drain: Drain,
    pub(crate) sink: Sink,
    pub(crate) opened: Opened,
    pub(crate) files: Files,
    /// Sideband as the file has it.
    pub(crate) sideband_layout: SampleLayout,
    pub(crate) budget: Option<Budget>,
    pub(crate) pauses: Pauses,
    /// What is defined goes after all that is opened.
    pub(crate) defined: Option<Defined>,
    /// The last field: signals are held back until the probes are gone.
    pub(crate) interrupts: Rc<Interrupts>,
}

impl Recorder {
    /// One pass over all rings.
    pub(super) fn pass(&mut self) -> Result<PassStatistics, WriterStalled> {
        let writer = self.sink.writer_state();
        let pass = self.drain.pass(&mut self.opened, &mut self.sink)?;
        Ok(PassStatistics {
            fullest_ring_percent: pass.fullest_ring_percent,
            writer,
            has_ample_rings: self.opened.sampling.has_ample_rings(),
            unwinding: self.sink.take_statistics(),
        })
    }

    /// Gives up something if the recorder takes more CPU time than it may; returns what.
    pub(crate) fn keep_budget(&mut self) -> Result<Option<Cut>, Error> {
        let Some(budget) = &mut self.budget else {
            return Ok(None);
        };
        let cut = budget.next_cut(Clock::OwnCpu.now_ns(), Clock::Monotonic.now_ns());
        match cut {
            None => {}
            Some(Cut::LargeDumps) => self.sink.care_for_stacks(StackCare::DumpOnly)?,
            Some(Cut::Unwinding) => self.sink.care_for_stacks(StackCare::None)?,
            Some(Cut::Samples(hz)) => {
                let lowered =
                    (self.opened.samplers()).try_for_each(|group| group.set_frequency(hz));
                lowered.map_err(Error::system("lowering the frequency"))?;
            }
        }
        Ok(cut)
    }

    /// Notes which events are paused since a moment, or no more.
    pub(super) fn note_pauses(&mut self, before_ns: u64) {
        let after_ns = self.settings.clock.now_ns();
        let events = self.opened.sampling.events.iter();
        (self.pauses).toggled((before_ns, after_ns), events.map(|event| event.is_on));
    }

    /// Whether the file has as many bytes as it may have.
    pub(super) fn is_full(&self) -> bool {
        let most = self.settings.writing.max_bytes;
        most.is_some_and(|most| self.files.current.n_taken() >= most)
    }

    /// Whether nobody looks any more at a recording in memory.
    pub(super) fn is_unwatched(&self) -> bool {
        matches!(&self.settings.output, Output::Segments(to) if to.is_over())
    }

    /// Writes what was lost since this was last done; returns the sums of samples and of sideband.
    pub(super) fn write_losses(&mut self) -> Result<Losses, Error> {
        let samples: Vec<_> = (self.opened.samplers())
            .flat_map(Group::lost_by_event)
            .collect();
        let sideband = self.opened.sideband.lost_by_event();
        let last_ns = self.drain.counts.span_ns.map(|(_, last)| last);
        let (written, sink) = (&mut self.files.losses, &mut self.sink);
        let samples = losses::write(&samples, last_ns, &mut written.samples, sink);
        let sideband = losses::write(&sideband, last_ns, &mut written.sideband, sink);
        Ok(Losses {
            samples: samples?,
            sideband: sideband?,
        })
    }
}

/// What the kernel lost, by its own count; `None` where it does not count that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    pub(super) samples: Option<u64>,
    pub(super) sideband: Option<u64>,
}
