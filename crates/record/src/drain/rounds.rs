//! The ends of passes: samples that were held back, and rounds, which tell readers how far records can be sorted.

use super::Drain;
use super::Tracked;
use super::held_switches::HeldSwitches;
use super::off_cpu::OffCpuSamples;
use crate::control::POLL_INTERVAL;
use crate::interrupts::WriterStalled;
use crate::sink::Sink;
use rprof_abi::{Endian, Misc, RawRecord};
use rprof_perfdata::{FeatureId, file_kind};
use rprof_ringbuf::Ring;
use std::time::Duration;

/// No record is longer: its size has 16 bits.
const MOST_SAMPLE_BYTES: u64 = 64 << 10;

/// What is known of the last rounds.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// When the last one ended.
    ended_ns: u64,
    /// There are records since then.
    is_due: bool,
    /// A ring may have been full since the last pass.
    may_have_lost: bool,
    /// Samples of this pass that are about others.
    pub(super) n_foreign: u64,
}

impl Tracked {
    /// Samples of switches that are held back, if any ever are.
    pub(crate) fn held_switches(&mut self) -> Option<&mut HeldSwitches> {
        self.off_cpu.as_mut()?.held.as_mut()
    }
}

impl Drain {
    /// How many samples of waits have one frame on purpose.
    pub(crate) fn short_waits(&self) -> u64 {
        let off_cpu = self.tracked.off_cpu.as_ref();
        let held = off_cpu.and_then(|off_cpu| off_cpu.held.as_ref());
        held.map_or(0, HeldSwitches::short_waits)
    }

    /// The section that says what threads waited for, if their stacks are read later.
    pub(crate) fn waited_files(&self) -> Option<(FeatureId, Vec<u8>)> {
        let off_cpu = self.tracked.off_cpu.as_ref();
        let held = off_cpu.and_then(|off_cpu| off_cpu.held.as_ref());
        held.map(HeldSwitches::waited_files)
    }

    /// Lets the next file have names of its own for what threads wait for, unless it may get older samples.
    pub(crate) fn begin_waited_files(&mut self) {
        if self.tracked.flight.is_none()
            && let Some(held) = self.tracked.held_switches()
        {
            held.begin_waited_files();
        }
    }

    /// The longest time to the next pass.
    pub(crate) fn poll_interval(&self) -> Duration {
        let held = self
            .tracked
            .off_cpu
            .as_ref()
            .and_then(|off_cpu| off_cpu.held.as_ref());
        held.map_or(POLL_INTERVAL, HeldSwitches::poll_interval)
    }

    /// Notes whether a ring, drained from this position on, may have had no room for a record.
    pub(super) fn check_room(&mut self, ring: &Ring, from: u64, most_bytes: u64) {
        let written = ring.head().wrapping_sub(from);
        self.rounds.may_have_lost |= written.saturating_add(most_bytes) > ring.size_bytes();
    }

    /// The same of a ring of samples, if these say who runs next.
    pub(super) fn check_sample_room(&mut self, ring: &Ring, from: u64) {
        let off_cpu = self.tracked.off_cpu.as_ref();
        if off_cpu.is_some_and(OffCpuSamples::says_next) {
            self.check_room(ring, from, MOST_SAMPLE_BYTES);
        }
    }

    /// Writes the samples that are held back no longer, at the end of a pass that began at this time.
    pub(super) fn release_switches(
        &mut self,
        began_ns: u64,
        is_empty: bool,
        sink: &mut Sink,
    ) -> Result<(), WriterStalled> {
        let may_have_lost = std::mem::take(&mut self.rounds.may_have_lost);
        let Some(off_cpu) = &mut self.tracked.off_cpu else {
            return Ok(());
        };
        if let (Some(held), true) = (&mut off_cpu.held, may_have_lost) {
            held.doubt();
        }
        off_cpu.end_pass(began_ns, is_empty);
        self.write_released(sink)
    }

    /// Writes all that are held back.
    pub(super) fn release_all_switches(&mut self, sink: &mut Sink) -> Result<(), WriterStalled> {
        if let Some(held) = self.tracked.held_switches() {
            held.release_all();
        }
        self.write_released(sink)?;
        if self.rounds.is_due {
            self.end_round(sink)?;
        }
        Ok(())
    }

    fn write_released(&mut self, sink: &mut Sink) -> Result<(), WriterStalled> {
        let Some(off_cpu) = &mut self.tracked.off_cpu else {
            return Ok(());
        };
        let released = off_cpu.held.as_mut().map(HeldSwitches::take_released);
        let functions = off_cpu
            .held
            .as_mut()
            .map(|held| held.tell_functions(&self.sideband_layout));
        for record in functions.into_iter().flatten() {
            sink.push(&record)?;
            if let Some(alive) = &mut self.tracked.alive {
                alive.keep(record);
            }
        }
        for sample in released.into_iter().flatten() {
            if let Some(layout) = off_cpu.layout(sample.event) {
                self.counts.samples += u64::from(sample.is_made);
                sink.push_sample(&sample.record, layout)?;
            }
        }
        Ok(())
    }

    /// Ends a round after a pass, if that had records. Readers take what comes after the end of a round for newer than
    /// the end of the one before: as long as older samples are held back, the round goes on.
    pub(super) fn end_round_if_due(
        &mut self,
        any: bool,
        sink: &mut Sink,
    ) -> Result<(), WriterStalled> {
        self.rounds.is_due |= any && self.tracked.flight.is_none();
        let ended_ns = self.rounds.ended_ns;
        let oldest_ns = self
            .tracked
            .held_switches()
            .and_then(|held| held.oldest_ns());
        let holds_older = oldest_ns.is_some_and(|oldest_ns| oldest_ns <= ended_ns);
        // Samples that come later are older than sideband that is written now.
        if self.rounds.is_due && !holds_older {
            self.rounds.is_due = false;
            self.rounds.ended_ns = self.samples.clock.now_ns();
            self.end_round(sink)
        } else {
            sink.flush()
        }
    }

    /// Ends a round: what comes later is newer than what came in the one before.
    pub(crate) fn end_round(&self, sink: &mut Sink) -> Result<(), WriterStalled> {
        let mut round = Vec::new();
        let record = RawRecord {
            kind: file_kind::FINISHED_ROUND,
            misc: Misc(0),
            body: &[],
        };
        if record.encode(&mut round, Endian::NATIVE).is_ok() {
            sink.push(&round)?;
        }
        sink.flush()
    }
}
