//! Rotation of the output file: the recording continues in another one, complete by itself.
//!
//! The rings are drained into the old file once more. The new file begins with what ran before that pass, as
//! sideband has told, and with all sideband since. So all that a sample in it needs is in it, and what changed
//! meanwhile has its time.

use super::recorder::Recorder;
use crate::drain::missing_build_ids::MissingBuildIds;
use crate::error::Error;
use crate::note::Note;
use crate::output::file_end::FileEnd;
use crate::output::segments::MOST_SEGMENT_BYTES;
use crate::output::trigger::Trigger;
use crate::output::{Created, Fate};
use crate::settings::{Output, RotateOn};
use crate::sink::Sink;
use rprof_perfdata::Writer;
use rprof_ringbuf::sys::give_back_free_memory;
use std::mem;
use std::time::{Duration, Instant};

/// What a rotation takes out of the file before, and puts in front of the next.
struct Overlap {
    /// Of the file before.
    missing_build_ids: MissingBuildIds,
    /// What the next file begins with.
    records: Vec<u8>,
}

impl Recorder {
    /// Rotates the output if that is due.
    pub(super) fn rotate_if_due(
        &mut self,
        trigger: Option<&mut Trigger>,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let Some(rotation) = self.files.rotation else {
            return Ok(());
        };
        let n_taken = self.files.current.n_taken();
        let is_due = match rotation.on {
            RotateOn::Signal => {
                let has_happened = trigger.is_some_and(Trigger::has_happened);
                self.interrupts.take_snapshot_request() || has_happened
            }
            RotateOn::Bytes(bytes) => n_taken >= bytes,
            RotateOn::Time(_) => {
                let is_time = self.files.due_in(Instant::now()) == Some(Duration::ZERO);
                // Memory is bounded, whatever the time.
                let is_segment = matches!(self.settings.output, Output::Segments(_));
                is_time || is_segment && n_taken >= MOST_SEGMENT_BYTES
            }
        };
        if is_due { self.rotate(note) } else { Ok(()) }
    }

    fn rotate(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        if let Some(flight) = &mut self.drain.tracked.flight {
            flight.take(&mut self.opened, &mut self.drain.notes)?;
        }
        let overlap = self.overlap()?;
        self.drain.write_flight(&mut self.sink)?;
        self.write_losses()?;
        if let Output::Pipe(_) = self.settings.output {
            return Ok(());
        }
        let next =
            (self.files).create_next(&self.settings.output, overlap.records, &self.interrupts);
        let (created, writer) = match next {
            Ok(next) => next,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(why) => {
                // The old one is still good.
                self.drain.missing_build_ids = overlap.missing_build_ids;
                self.files.rotation = None;
                note(Note::RotationFailed(cause_of(&why)));
                return Ok(());
            }
        };
        self.go_on_in(created, writer, overlap.missing_build_ids, note)
    }

    /// Continues in the next file, and has the end of the previous one written.
    fn go_on_in(
        &mut self,
        created: Created,
        writer: Writer,
        missing_build_ids: MissingBuildIds,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let ended = self.sink.go_on_with(writer, created.taken())?;
        // What becomes of the new one is known at its end.
        let mut before = mem::replace(&mut self.files.current, created);
        before.set_fate(Fate::Kept);
        let counts = mem::take(&mut self.drain.counts);
        if let (Output::File(ended), Output::File(next)) = (before.output(), &self.settings.output)
        {
            note(Note::Rotated {
                samples: counts.samples,
                ended: ended.clone(),
                next: next.clone(),
            });
        }
        self.files.earlier.uncompressed_bytes += ended.writer.uncompressed_len().unwrap_or(0);
        let cost = self.files.cost(&counts, &ended.writer);
        let end = FileEnd {
            writer: ended.writer,
            counts,
            stacks: ended.stacks.as_ref(),
            coverage: None,
            cost,
            budget: self.budget.as_ref().map(|budget| budget.cuts),
            thinning: counts.thinning(self.settings.samples_per_hour),
            missing_build_ids,
            entered: None,
            build_ids: !self.settings.writing.no_build_ids,
            segment: before.segment_end()?,
        };
        let ending = end.start()?;
        self.files.earlier.add(counts, cost, ended.stacks.as_ref());
        self.files.next(before, ending, &self.interrupts);
        // What files need at their ends, and tables of programs that have ended, came from several threads: in an hour
        // beside compilers, 77 of 220 MB were free. `top`, which reads segments, does so itself.
        if let Output::File(_) = self.settings.output {
            give_back_free_memory();
        }
        Ok(())
    }

    /// Drains into the old file, and collects what the new file begins with.
    fn overlap(&mut self) -> Result<Overlap, Error> {
        self.pass()?;
        let known = &self.drain.missing_build_ids;
        let mut next = match self.settings.output {
            Output::Segments(_) => known.for_next_segment(),
            _ => known.for_next_file(),
        };
        let mut records = Vec::new();
        if self.settings.writing.synthesis_at_end {
            self.describe_alive(&mut Sink::push)?;
        } else {
            mem::swap(&mut self.drain.missing_build_ids, &mut next);
            let described = self.describe_alive(&mut |_, record| {
                records.extend_from_slice(record);
                Ok(())
            });
            mem::swap(&mut self.drain.missing_build_ids, &mut next);
            described?;
        }
        records.extend(self.drain.newer_sideband(&mut next));
        Ok(Overlap {
            missing_build_ids: mem::replace(&mut self.drain.missing_build_ids, next),
            records,
        })
    }
}

/// What an error came from.
fn cause_of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause_of)
}
