//! Flight recorder: sample rings are written backwards, over what is oldest, and looked at when a file ends.
//!
//! Sideband has rings of its own and is drained all the time: every mapping that old samples need is in the
//! file. Chains are the kernel's, by frame pointers: with stack dumps a ring would hold some tens of samples.

use crate::drain::Drain;
use crate::error::Error;
use crate::interrupts::WriterStalled;
use crate::note::Note;
use crate::opening::Opened;
use crate::opening::attrs::Attrs;
use crate::sink::Sink;
use crate::words::u32_at;
use rprof_abi::{AttrFlags, RecordKind};
use std::ops::Range;
use std::time::{Duration, Instant};

/// What became of overwritten rings.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    taken: Taken,
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
}

impl Attrs {
    /// The same events for rings that are overwritten.
    pub(crate) fn overwriting(mut self) -> Self {
        for event in &mut self.sampling {
            event.attr.flags = event.attr.flags.with(AttrFlags::WRITE_BACKWARD);
        }
        self
    }
}

impl Flight {
    /// Takes what rings hold since this was last done. Events are off meanwhile: so none is in the middle
    /// of a record.
    pub(crate) fn take(&mut self, opened: &mut Opened, notes: &mut Vec<Note>) -> Result<(), Error> {
        let switching = "switching events";
        let since = Instant::now();
        opened.on().disable().map_err(Error::system(switching))?;
        let taken = self.take_rings(opened, notes);
        opened
            .on()
            .enable(opened.dump_size)
            .map_err(Error::system(switching))?;
        self.off += since.elapsed();
        self.n_snapshots += 1;
        taken
    }

    /// What was not sampled for it, in the end.
    pub(crate) fn note(&self) -> Option<Note> {
        let (snapshots, off) = (self.n_snapshots, self.off);
        (snapshots > 0).then_some(Note::OffForSnapshots { snapshots, off })
    }

    /// The same when events are off for good.
    pub(crate) fn take_rings(
        &mut self,
        opened: &mut Opened,
        notes: &mut Vec<Note>,
    ) -> Result<(), Error> {
        let taken = &mut self.taken;
        for ring in &mut opened.sampling.rings {
            let batch = ring.snapshot();
            let mut batch = batch.map_err(Error::system("pausing a ring"))?;
            loop {
                match batch.next() {
                    Ok(Some(record)) => {
                        let start = taken.bytes.len();
                        taken.bytes.extend_from_slice(record);
                        taken.records.push(start..taken.bytes.len());
                    }
                    Ok(None) => break,
                    // What is newer is there; nothing is left of the batch.
                    Err(error) => notes.push(Note::RingDamaged(error.to_string())),
                }
            }
            taken.ends.push(taken.records.len());
        }
        Ok(())
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
                if let Some(kind) = u32_at(record, 0) {
                    self.sample(RecordKind(kind), record, sink)?;
                }
            }
            start = end;
        }
        Ok(())
    }
}
