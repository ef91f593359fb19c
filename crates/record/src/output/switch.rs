//! Going on in another file, complete by itself.
//!
//! The rings are drained into the old file once more. The new file begins with what ran before that pass, as
//! sideband has told, and with all sideband since. So all that a sample in it needs is in it, and what changed
//! meanwhile has its time.

use crate::drain::losses;
use crate::note::Note;
use crate::opening::Group;
use crate::output::file_end::FileEnd;
use crate::output::missing_build_ids::MissingBuildIds;
use crate::output::segments::MOST_SEGMENT_BYTES;
use crate::output::trigger::Trigger;
use crate::output::{Created, Fate};
use crate::run::Run;
use crate::sink::Sink;
use crate::{Error, Output, SwitchOn};
use rprof_perfdata::Writer;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Run<'_> {
    /// Goes on in another file if that is due.
    pub(crate) fn switch_if_due(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        let Some(switch) = self.files.switch else {
            return Ok(());
        };
        let is_due = match switch.on {
            SwitchOn::Signal => {
                let trigger = self.trigger.as_mut();
                let has_happened = trigger.is_some_and(Trigger::has_happened);
                self.interrupts.take_snapshot_wish() || has_happened
            }
            SwitchOn::Bytes(bytes) => self.created.n_taken() >= bytes,
            SwitchOn::Time(_) => {
                let is_time = self.files.due_in(Instant::now()) == Some(Duration::ZERO);
                is_time || self.is_segment_full()
            }
        };
        if is_due {
            self.go_on_in_next_file(note)
        } else {
            Ok(())
        }
    }

    /// Whether the file has as many bytes as it may have.
    pub(crate) fn is_full(&self) -> bool {
        let most = self.settings.writing.max_bytes;
        most.is_some_and(|most| self.created.n_taken() >= most)
    }

    /// Memory is bounded, whatever the time.
    fn is_segment_full(&self) -> bool {
        matches!(self.settings.output, Output::Segments(_))
            && self.created.n_taken() >= MOST_SEGMENT_BYTES
    }

    fn go_on_in_next_file(&mut self, note: &mut dyn FnMut(Note)) -> Result<(), Error> {
        if let Some(flight) = &mut self.drain.flight {
            flight.take(&mut self.opened, &mut self.drain.notes)?;
        }
        let (missing_build_ids, records) = self.overlap()?;
        self.drain.write_flight(&mut self.sink)?;
        self.write_losses()?;
        if let Output::Pipe(_) = self.settings.output {
            return Ok(());
        }
        let (created, writer) = match self.next_file(records) {
            Ok(next) => next,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(why) => {
                // The old one is still good.
                self.drain.missing_build_ids = missing_build_ids;
                self.files.switch = None;
                note(Note::SwitchFailed(cause_of(&why)));
                return Ok(());
            }
        };
        let ended = self.sink.switch(writer, Arc::clone(&created.taken))?;
        // What becomes of the new one is known at its end.
        let mut created = mem::replace(&mut self.created, created);
        created.set_fate(Fate::Kept);
        let counts = self.drain.counts.take();
        if let (Output::File(ended), Output::File(next)) = (created.output(), &self.settings.output)
        {
            note(Note::Switched {
                samples: counts.samples,
                ended: ended.clone(),
                next: next.clone(),
            });
        }
        self.files.earlier.uncompressed_bytes += ended.writer.uncompressed_len().unwrap_or(0);
        let cost = (self.files.cost).cost(&counts, ended.writer.data_len());
        let end = FileEnd {
            writer: ended.writer,
            counts,
            stacks: ended.stacks.as_ref(),
            coverage: None,
            cost,
            budget: self.budget.as_ref().map(|budget| budget.cuts),
            missing_build_ids,
            entered: None,
            build_ids: !self.settings.writing.no_build_ids,
            segment: created.segment_end()?,
        };
        let ending = end.start()?;
        self.files.earlier.add(counts, cost, ended.stacks.as_ref());
        self.files.next(created, ending, &self.interrupts);
        Ok(())
    }

    /// Begins another file under the name, which the old one gives up.
    fn next_file(&mut self, records: Vec<u8>) -> Result<(Created, Writer), Error> {
        self.created.add_timestamp()?;
        let mut created = Created::new(&self.settings.output)?;
        let begin = self.files.begin(records);
        let compression = self.settings.writing.compression;
        let writer = created.start(begin, compression, &self.interrupts)?;
        Ok((created, writer))
    }

    /// Drains into the old file; returns its missing build ids, and what the new file begins with.
    fn overlap(&mut self) -> Result<(MissingBuildIds, Vec<u8>), Error> {
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
        let before = mem::replace(&mut self.drain.missing_build_ids, next);
        Ok((before, records))
    }

    /// Writes what was lost since this was last done; returns the sums of samples and of sideband.
    pub(crate) fn write_losses(&mut self) -> Result<(Option<u64>, Option<u64>), Error> {
        let lost = self.opened.samplers().flat_map(Group::lost_by_event);
        let lost: Vec<_> = lost.collect();
        let lost_sideband = self.opened.sideband.lost_by_event();
        let last_ns = self.drain.counts.span_ns.map(|(_, last)| last);
        let (losses, sink) = (&mut self.files.losses, &mut self.sink);
        let samples = losses::write(&lost, last_ns, &mut losses.samples, sink);
        let sideband = losses::write(&lost_sideband, last_ns, &mut losses.sideband, sink);
        Ok((samples?, sideband?))
    }
}

/// What an error came from.
fn cause_of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause_of)
}
