//! The end of a recording: of the rings, of the file, and of the command.

use crate::cost::enough_pages;
use crate::coverage::Coverage;
use crate::grace_period::GracePeriod;
use crate::interrupts::{Interrupts, Wish};
use crate::live::Unwound;
use crate::opening::{EventCounters, Group};
use crate::output::Fate;
use crate::output::file_end::FileEnd;
use crate::run::{Over, Run};
use crate::sink::{Sink, Written};
use crate::{Error, EventCount, Note, Summary, Watch, WatchpointUse};
use rprof_abi::{AttrFlags, event_type, sw};
use rprof_perfdata::feature::{RecorderCost, SampleCoverage};
use rprof_process::Child;
use rprof_ringbuf::{Poller, Ring};
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

/// Signals end the wait for a command; a poll now and then does no harm.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

impl Run<'_> {
    /// Stops, drains the rest and closes the file, whatever happened before. Then waits for the command: the
    /// file must be complete even if the command takes its time to end.
    pub(crate) fn finish(
        mut self,
        ended: Result<Over, Error>,
        note: &mut dyn FnMut(Note),
    ) -> Result<Summary, Error> {
        let mut child = self.child.take();
        // As perf: what was started for the recording ends with it. A command whose recording
        // failed runs on.
        let is_to_end = ended.is_ok() || self.interrupts.wish() >= Wish::Stop;
        if let (true, Some(child)) = (is_to_end, &child) {
            child.terminate();
        }
        let over = ended.as_ref().ok().copied();
        let interrupts = Rc::clone(&self.interrupts);
        let is_sampled_by_time = self.is_sampled_by_time();
        let closed = self.close(ended, note);
        if let (Err(Error::Write { source, .. }), Some(_)) = (&closed, &child) {
            note(Note::WritingFailed(source.to_string()));
        }
        let stopped_by = interrupts.stopped_by();
        if is_to_end {
            interrupts.set_over();
        }
        let ended_with = child
            .as_mut()
            .and_then(|child| wait_for(child, &interrupts, is_to_end, note));
        // If the time was over, or the file full, the recording succeeded, whatever became of the command.
        let is_by_us = matches!(over, Some(Over::Time | Over::Size));
        let ended_with = ended_with.filter(|_| !is_by_us);
        match closed {
            Ok(summary) => Ok(Summary {
                ran_ns: summary.ran_ns.filter(|_| is_sampled_by_time),
                status: ended_with,
                ended_by: stopped_by.filter(|_| over == Some(Over::Interrupted)),
                ..summary
            }),
            Err(Error::Write {
                source, size_bytes, ..
            }) => Err(Error::Write {
                source,
                size_bytes,
                status: ended_with,
            }),
            Err(error) => Err(error),
        }
    }

    fn close(
        mut self,
        ended: Result<Over, Error>,
        note: &mut dyn FnMut(Note),
    ) -> Result<Summary, Error> {
        let rest = self.take_rest(note);
        let has_samples = self.drain.counts.samples > 0;
        let is_later = self.files.earlier.n_files > 0;
        self.created
            .set_fate(Fate::kept_if(has_samples || is_later));
        let (summary, coverage) = (self.summary(), self.coverage());
        let Written {
            writer,
            result,
            unwound,
        } = self.sink.finish()?;
        if let Some(unwound) = &unwound {
            notes_of(unwound).into_iter().for_each(&mut *note);
        }
        let size_bytes = writer.data_len();
        let is_whole = ended.is_ok() && result.is_ok();
        let is_kept = size_bytes > 0 && !is_early(&ended) || is_whole || is_later;
        self.created.set_fate(Fate::kept_if(is_kept));
        if let Err(source) = result {
            // The cause is already known; the file keeps what it has either way.
            let _ = writer.abandon();
            return Err(self.created.write_error(source, size_bytes));
        }
        if let Err(error) = ended.and(rest.drained) {
            // The file keeps what it has.
            let _ = writer.abandon();
            return Err(error);
        }
        let (lost_samples, lost_sideband) = rest.lost?;
        let watchpoints = unwound.as_ref().map(|unwound| unwound.watchpoints);
        let (entered, stacks) = unwound.map(|unwound| (unwound.paths, unwound.ends)).unzip();
        let entered = Option::flatten(entered);
        let mut all_counts = self.files.earlier.counts;
        all_counts += self.drain.counts;
        let plain = writer.uncompressed_len();
        let cost = (self.files.cost).cost(&self.drain.counts, writer.data_len());
        let rings = self.opened.sampling.rings.iter().map(Ring::size_bytes);
        let ring_bytes = rings.max().unwrap_or(0);
        let end = FileEnd {
            writer,
            counts: self.drain.counts,
            stacks: stacks.as_ref(),
            // It is of all files together.
            coverage: coverage.filter(|_| !is_later),
            cost,
            budget: summary.budget,
            missing_build_ids: std::mem::take(&mut self.drain.missing_build_ids),
            build_ids: !self.settings.writing.no_build_ids,
            segment: self.created.segment_end()?,
            entered,
        };
        let ending = end.start()?;
        self.files.end_last();
        let size_bytes = ending.wait(&self.interrupts, &self.created)?;
        let size_bytes = size_bytes + self.files.earlier.written()?;
        if self.settings.writing.timestamp_name {
            self.created.add_timestamp()?;
        }
        let earlier = &mut self.files.earlier;
        let cost = earlier.cost_with(cost);
        Ok(Summary {
            output: self.created.output().clone(),
            size_bytes,
            lost_samples,
            enough_pages: enough_pages(ring_bytes, &all_counts, lost_samples),
            removed_files: earlier.n_removed,
            cost,
            lost_sideband: lost_sideband.unwrap_or(0),
            // What the same files would be with plain records.
            uncompressed_bytes: plain.map(|plain| {
                let plain = plain + earlier.uncompressed_bytes;
                (size_bytes + plain).saturating_sub(cost.written_bytes)
            }),
            stacks: earlier.stacks_with(stacks),
            watchpoints: watchpoints.unwrap_or_default(),
            coverage,
            ..summary
        })
    }

    /// Switches all events off, and writes what is left in the rings and what the kernel lost.
    fn take_rest(&mut self, note: &mut dyn FnMut(Note)) -> Rest {
        let disabled = {
            let mut groups = self.opened.samplers().chain([&self.opened.sideband]);
            groups.try_for_each(Group::disable)
        };
        // They are to be complete whatever comes of the last one.
        self.files.wait_for_ends(&self.interrupts);
        let drained = self.drain.rest(&mut self.opened, &mut self.sink);
        let flown = match &mut self.drain.flight {
            Some(flight) => {
                self.drain.notes.extend(flight.note());
                flight.take_rings(&mut self.opened, &mut self.drain.notes)
            }
            None => Ok(()),
        };
        let flown = flown.and(self.drain.write_flight(&mut self.sink).map_err(Error::from));
        self.drain.take_notes().for_each(note);
        let lost = self.write_losses();
        let described = self.describe_at_end();
        let disabled = disabled.map_err(Error::system("disabling events"));
        Rest {
            drained: drained.map_err(Error::from).and(flown),
            lost: disabled.and(described).and(lost),
        }
    }

    /// Describes what runs, if that is wanted at the end.
    fn describe_at_end(&mut self) -> Result<(), Error> {
        if !self.settings.writing.synthesis_at_end {
            return Ok(());
        }
        Ok(self.describe_alive(&mut Sink::push)?)
    }

    /// What came of it, but for what is known later.
    fn summary(&self) -> Summary {
        let mut counts = self.files.earlier.counts;
        counts += self.drain.counts;
        Summary {
            ended_by: None,
            output: self.settings.output.clone(),
            earlier_files: self.files.earlier.n_files,
            removed_files: 0,
            compression: self.settings.writing.compression,
            size_bytes: 0,
            uncompressed_bytes: None,
            samples: counts.samples,
            lost_samples: None,
            enough_pages: None,
            has_dumps_of_hits: self
                .opened
                .sampling
                .events
                .iter()
                .any(EventCounters::has_dumps_of_hits),
            ran_ns: self.clocked_ns(),
            cost: RecorderCost::default(),
            budget: self.budget.as_ref().map(|budget| budget.cuts),
            lost_at_least: counts.lost_at_least,
            lost_sideband: 0,
            throttled: counts.throttled,
            stacks: None,
            watchpoints: WatchpointUse::default(),
            shortened: counts.shortened,
            was_writer_late: self.sink.was_late,
            own_samples: counts.own_samples,
            others_samples: counts.others_samples,
            was_on: self.switching.was_on,
            event_counts: match self.drain.lineage {
                None => self.opened.sampling.events.iter().map(counted).collect(),
                // Others are counted, too. Of a probe, each hit is a sample.
                Some(_) if counts.samples == 0 => self.probes_without_hits(),
                Some(_) => Vec::new(),
            },
            coverage: None,
            is_by_cpu: self
                .drain
                .coverage
                .as_ref()
                .is_some_and(Coverage::has_any_by_cpu),
            status: None,
        }
    }

    /// Whether there are as many samples as there was time to run, for the whole of the recording.
    fn is_sampled_by_time(&self) -> bool {
        let first = self.opened.sampling.events.first();
        let is_frequency = first.is_none_or(|event| event.attr.flags.has(AttrFlags::FREQ));
        is_frequency && self.settings.watch != Watch::All && self.settings.is_for_all_time()
    }

    /// The time that a clock among the events has counted, of all threads. What `wait4` says would lack processes
    /// that nobody waited for.
    fn clocked_ns(&self) -> Option<u64> {
        let is_by_thread = self.drain.lineage.is_none() && !self.opened.is_by_cpu();
        let clocks = [sw::CPU_CLOCK, sw::TASK_CLOCK];
        let is_clock = |event: &&EventCounters| {
            event.attr.kind == event_type::SOFTWARE && clocks.contains(&event.attr.config)
        };
        let mut events = self.opened.sampling.events.iter().filter(|_| is_by_thread);
        events.find(is_clock).map(|clock| clock.totals().count)
    }

    /// The probes, if none of them was hit by what is recorded.
    fn probes_without_hits(&self) -> Vec<EventCount> {
        let events = self.opened.sampling.events.iter();
        let probes = events.filter(|event| event.text.is_some());
        let count = |event: &EventCounters| EventCount {
            name: event.name.clone(),
            count: 0,
            period: Some(event.attr.sample_period),
            is_filtered: event.filter.is_some(),
        };
        probes.map(count).collect()
    }

    /// What samples stand for, if that is worth a word.
    fn coverage(&self) -> Option<SampleCoverage> {
        // The kernel's own limits may be why.
        let coverage = self.drain.coverage.as_ref();
        let coverage = coverage.filter(|_| self.drain.counts.throttled == 0)?;
        coverage.finish(&self.opened.sampling)
    }
}

/// What came of the end of the rings.
struct Rest {
    /// If it failed, the file has no end.
    drained: Result<(), Error>,
    /// What was lost, samples and sideband.
    lost: Result<(Option<u64>, Option<u64>), Error>,
}

/// What a user should know of how stacks were unwound.
fn notes_of(unwound: &Unwound) -> impl IntoIterator<Item = Note> {
    let (samples, processes) = (unwound.undecodable, unwound.n_overfull);
    let undecodable = (samples > 0).then_some(Note::Undecodable { samples });
    let overfull = (processes > 0).then_some(Note::Overfull { processes });
    [undecodable, overfull].into_iter().flatten()
}

/// Whether nothing was recorded: the command did not start, or the user stopped it before.
fn is_early(ended: &Result<Over, Error>) -> bool {
    matches!(ended, Err(Error::Spawn(_) | Error::Interrupted))
}

/// What an event counted.
fn counted(event: &EventCounters) -> EventCount {
    let counts = event.all().filter_map(|counter| counter.read().ok());
    let is_frequency = event.attr.flags.has(AttrFlags::FREQ) && event.attr.sample_period > 0;
    EventCount {
        name: event.name.clone(),
        count: counts.map(|value| value.count).sum(),
        period: (!is_frequency).then_some(event.attr.sample_period),
        is_filtered: event.filter.is_some(),
    }
}

/// Waits for the command to end; it may have been asked to. Each further signal makes the wait shorter: the
/// command is asked to end, then killed.
fn wait_for(
    child: &mut Child,
    interrupts: &Interrupts,
    mut is_asked: bool,
    note: &mut dyn FnMut(Note),
) -> Option<ExitStatus> {
    let mut poller = Poller::default();
    poller.add(interrupts);
    let mut grace_period = GracePeriod::default();
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        if !is_asked && interrupts.wish() >= Wish::Stop {
            child.terminate();
            is_asked = true;
        }
        // After Ctrl-C twice, the command had its time.
        let is_over = is_asked && grace_period.is_over();
        if interrupts.wish() == Wish::GiveUp || is_over && interrupts.has_waited_for_command() {
            child.kill();
        } else if is_over {
            note(Note::CommandEnds);
        }
        let waited = poller.wait(POLL_INTERVAL).map(Iterator::count);
        waited.ok()?;
    }
}
