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
use crate::output::files::MOST_WINDOW_BYTES;
use crate::output::flight_window::{Fired, FlightWindow, Kept};
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

/// Another file, begun.
struct NextFile {
    created: Created,
    writer: Writer,
    /// Bytes of records that it begins with.
    n_begun_with: u64,
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
            RotateOn::Signal => return self.take_snapshot_if_due(trigger, note),
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

    /// Rotates the output if that is asked for by a signal or a trigger, or was for this time.
    fn take_snapshot_if_due(
        &mut self,
        mut trigger: Option<&mut Trigger>,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let is_asked = self.interrupts.take_snapshot_request();
        let fired = trigger.as_mut().and_then(|trigger| trigger.has_fired());
        let fired = fired.or(is_asked.then_some(Fired::Now));
        let mut is_due = self.files.is_snapshot_due(fired);
        if !is_due && self.files.end_large_window() {
            note(Note::LargeWindow {
                bytes: MOST_WINDOW_BYTES,
            });
            is_due = true;
        }
        if let (Some(flight), Some(trigger)) = (&self.files.flight, trigger) {
            // What happens while a window is open changes nothing, and need not wake anybody up.
            trigger.set_events_on(!flight.is_open())?;
        }
        if is_due {
            self.rotate(note)
        } else if self.files.is_stale() {
            self.end_stale(note)
        } else {
            Ok(())
        }
    }

    fn rotate(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        if let Some(flight) = &mut self.drain.tracked.flight {
            let kept = self.files.flight.as_ref().map(FlightWindow::kept);
            let kept = kept.unwrap_or(Kept::ALL);
            flight.take(&mut self.opened, kept, &mut self.drain.notes)?;
        }
        let overlap = self.overlap()?;
        self.drain.write_flight(&mut self.sink)?;
        self.write_losses()?;
        if let Output::Pipe(_) = self.settings.output {
            return Ok(());
        }
        // Whatever becomes of the next file.
        self.files.has_window = self.files.flight.is_some();
        self.continue_in_next(overlap, note)
    }

    fn continue_in_next(
        &mut self,
        overlap: Overlap,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        match self.next_file(overlap, note)? {
            Some((next, missing_build_ids)) => self.end_before(next, missing_build_ids, note),
            None => Ok(()),
        }
    }

    /// Replaces a flight recorder's file that is large enough.
    fn end_stale(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        if let Output::Pipe(_) = self.settings.output {
            return Ok(());
        }
        let overlap = self.overlap()?;
        if self.files.has_window {
            self.continue_in_next(overlap, note)
        } else {
            self.begin_anew(overlap, note)
        }
    }

    /// Begins a flight recorder's file anew. No sample is in the one before: it is not kept.
    fn begin_anew(&mut self, overlap: Overlap, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let Some((next, _)) = self.next_file(overlap, note)? else {
            return Ok(());
        };
        let ended = self.sink.go_on_with(next.writer, next.created.taken())?;
        let counts = mem::take(&mut self.drain.counts);
        let cost = self.files.cost(&counts, &ended.writer);
        self.files.earlier.add_effort(cost);
        self.files.begun(next.n_begun_with);
        // The one before goes with its name.
        self.files.current = next.created;
        let _ = ended.writer.abandon();
        Ok(())
    }

    /// Creates the next file, if that is possible; with it come files of the one before without a build id.
    fn next_file(
        &mut self,
        overlap: Overlap,
        note: &mut dyn FnMut(Note),
    ) -> Result<Option<(NextFile, MissingBuildIds)>, Error> {
        let n_begun_with = overlap.records.len() as u64;
        let next =
            (self.files).create_next(&self.settings.output, overlap.records, &self.interrupts);
        match next {
            Ok((created, writer)) => {
                let next = NextFile {
                    created,
                    writer,
                    n_begun_with,
                };
                Ok(Some((next, overlap.missing_build_ids)))
            }
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(why) => {
                // The old one is still good.
                self.drain.missing_build_ids = overlap.missing_build_ids;
                if self.files.could_not_begin() {
                    note(Note::RotationFailed(cause_of(&why)));
                }
                Ok(None)
            }
        }
    }

    /// Continues in the next file, and has the end of the previous one written.
    fn end_before(
        &mut self,
        next: NextFile,
        missing_build_ids: MissingBuildIds,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let ended = self.sink.go_on_with(next.writer, next.created.taken())?;
        // What becomes of the new one is known at its end.
        let mut before = mem::replace(&mut self.files.current, next.created);
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
            pauses: self.pauses.section(self.settings.clock.now_ns()),
            waited_files: self.drain.waited_files(),
            missing_build_ids,
            entered: None,
            build_ids: !self.settings.writing.no_build_ids,
            segment: before.segment_end(self.drain.complete_until_ns())?,
        };
        self.drain.begin_waited_files();
        let ending = end.start()?;
        self.files.earlier.add(counts, cost, ended.stacks.as_ref());
        self.files.begun(next.n_begun_with);
        self.files.end(before, ending, &self.interrupts);
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
