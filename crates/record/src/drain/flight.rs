//! Overwritten rings: sample rings are written backwards, over what is oldest, and looked at when a file ends.
//!
//! Sideband has rings of its own and is drained all the time: every mapping that old samples need is in the
//! file. Chains are the kernel's, by frame pointers: with stack dumps a ring would hold some tens of samples.

use crate::drain::head::Head;
use crate::drain::{Drain, sideband_time_ns};
use crate::error::Error;
use crate::interrupts::WriterStalled;
use crate::note::Note;
use crate::opening::Opened;
use crate::opening::attrs::Attrs;
use crate::output::flight_window::Kept;
use crate::sink::Sink;
use crate::words::u32_at;
use rprof_abi::{AttrFlags, RecordKind};
use std::ops::Range;
use std::time::{Duration, Instant};

/// What became of overwritten rings.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    taken: Taken,
    /// The shortest time before a trigger that the rings still held, if they did not hold all that was asked for.
    shortest: Option<Duration>,
    /// Snapshots in mid-recording, and how long events were off for them.
    n_snapshots: u64,
    off: Duration,
}

/// Records that were taken from overwritten rings, CPU by CPU, the newest first.
#[derive(Debug, Default)]
struct Taken {
    bytes: Vec<u8>,
    records: Vec<Range<usize>>,
    /// Where the records of each CPU end.
    ends: Vec<usize>,
    /// Nothing older is written.
    since_ns: u64,
}

impl Attrs {
    /// The same events for rings that are overwritten. Records of context switches are among the samples: they are as
    /// many, and as old as these.
    pub(crate) fn overwriting(mut self) -> Self {
        for event in &mut self.sampling {
            event.attr.flags = event.attr.flags.with(AttrFlags::WRITE_BACKWARD);
        }
        let sideband = &mut self.sideband.attr.flags;
        if sideband.has(AttrFlags::CONTEXT_SWITCH)
            && let Some(first) = self.sampling.first_mut()
        {
            *sideband = sideband.without(AttrFlags::CONTEXT_SWITCH);
            first.attr.flags = first.attr.flags.with(AttrFlags::CONTEXT_SWITCH);
        }
        self
    }
}

impl Flight {
    /// Takes what rings hold since this was last done. Events are off meanwhile: so none is in the middle
    /// of a record.
    pub(crate) fn take(
        &mut self,
        opened: &mut Opened,
        kept: Kept,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        let switching = "switching events";
        let since = Instant::now();
        opened.on().disable().map_err(Error::system(switching))?;
        let taken = self.take_rings(opened, kept, notes);
        opened
            .on()
            .enable(opened.dump_size)
            .map_err(Error::system(switching))?;
        self.off += since.elapsed();
        self.n_snapshots += 1;
        taken
    }

    /// What was not sampled for it, in the end, and what the rings did not hold any more.
    pub(crate) fn notes(&self) -> impl Iterator<Item = Note> {
        let (snapshots, off) = (self.n_snapshots, self.off);
        let off = (snapshots > 0).then_some(Note::OffForSnapshots { snapshots, off });
        let held = self.shortest.map(|held| Note::ShortFlight { held });
        off.into_iter().chain(held)
    }

    /// The same when events are off for good.
    ///
    /// Of a flight recorder, the file begins where all rings have their records: threads go from one CPU to another.
    pub(crate) fn take_rings(
        &mut self,
        opened: &mut Opened,
        kept: Kept,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        let taken = &mut self.taken;
        taken.since_ns = kept.since_ns;
        for ring in &mut opened.sampling.rings {
            let batch = ring.snapshot();
            let mut batch = batch.map_err(Error::system("pausing a ring"))?;
            let mut oldest_ns = None;
            loop {
                match batch.next() {
                    Ok(Some(record)) => {
                        let time_ns = time_ns(record);
                        if time_ns < kept.since_ns {
                            oldest_ns = None;
                            break;
                        }
                        oldest_ns = Some(time_ns);
                        let start = taken.bytes.len();
                        taken.bytes.extend_from_slice(record);
                        taken.records.push(start..taken.bytes.len());
                    }
                    Ok(None) => break,
                    // What is newer is there; nothing is left of the batch.
                    Err(error) => notes.push(Note::RingDamaged(error.to_string())),
                }
            }
            if let (Some(oldest_ns), true) = (oldest_ns, batch.is_cut()) {
                taken.since_ns = taken.since_ns.max(oldest_ns);
            }
            taken.ends.push(taken.records.len());
        }
        match kept.before {
            Some(before) => {
                let missing = Duration::from_nanos(taken.since_ns - kept.since_ns);
                let held = before.saturating_sub(missing);
                if !missing.is_zero() {
                    self.shortest = Some(self.shortest.map_or(held, |least| least.min(held)));
                }
            }
            // The last samples of each CPU.
            None => taken.since_ns = 0,
        }
        Ok(())
    }
}

/// When a record was written: samples begin with their times, others end so.
fn time_ns(record: &[u8]) -> u64 {
    if u32_at(record, 0) == Some(RecordKind::SAMPLE.0) {
        Head::parse(record).unwrap_or_default().time_ns
    } else {
        sideband_time_ns(record)
    }
}

impl Drain {
    /// Writes what was taken from overwritten rings, the oldest of each CPU first.
    pub(crate) fn write_flight(&mut self, sink: &mut Sink) -> Result<(), WriterStalled> {
        let Some(flight) = &mut self.tracked.flight else {
            return Ok(());
        };
        let flight = std::mem::take(&mut flight.taken);
        let mut start = 0;
        for end in flight.ends {
            let of_cpu = flight.records.get(start..end).unwrap_or_default();
            for range in of_cpu.iter().rev() {
                let record = flight.bytes.get(range.clone()).unwrap_or_default();
                let kind = u32_at(record, 0).map(RecordKind);
                match kind.filter(|_| time_ns(record) >= flight.since_ns) {
                    Some(kind @ (RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE)) => {
                        self.sideband(kind, record, sink)?;
                    }
                    Some(kind) => self.sample(kind, record, sink)?,
                    None => {}
                }
            }
            start = end;
        }
        Ok(())
    }
}
