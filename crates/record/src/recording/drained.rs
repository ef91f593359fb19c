//! Sixth phase: events are off, the rings are empty, and what the kernel lost is written. Then the file is closed.

use super::limits::EndReason;
use super::recorder::{Losses, Recorder};
use crate::cost::enough_pages;
use crate::drain::Drain;
use crate::drain::coverage::Coverage;
use crate::drain::flight::Flight;
use crate::error::Error;
use crate::interrupts::Interrupts;
use crate::live::Unwound;
use crate::note::Note;
use crate::opening::{EventCounters, Group, Opened};
use crate::output::Fate;
use crate::output::file_end::FileEnd;
use crate::output::files::Files;
use crate::output::flight_window::{FlightWindow, Kept};
use crate::pauses::Pauses;
use crate::settings::{EventCount, Settings, Summary, Watch};
use crate::sink::{Sink, Written};
use rprof_abi::{AttrFlags, event_type, sw};
use rprof_perfdata::Writer;
use rprof_perfdata::feature::{CpuBudget, SampleCoverage};
use rprof_ringbuf::Ring;
use std::mem;
use std::rc::Rc;

/// A recording that takes no more records.
pub(super) struct Drained {
    recorder: Recorder,
    was_on: bool,
    /// If it failed, the file has no end.
    drained: Result<(), Error>,
    lost: Result<Losses, Error>,
}

impl Drained {
    /// Disables all events, and writes what is left in the rings and what the kernel lost.
    pub(super) fn new(mut recorder: Recorder, was_on: bool, note: &mut dyn FnMut(Note)) -> Self {
        let disabled = recorder.opened.disable();
        // They are to be complete whatever comes of the last one.
        recorder.files.wait_for_ends(&recorder.interrupts);
        let Recorder {
            drain,
            opened,
            sink,
            settings,
            files,
            ..
        } = &mut recorder;
        let kept = match &files.flight {
            None => Some(Kept::ALL),
            Some(window) => window.is_open().then(|| window.kept()),
        };
        let drained = drain.rest(opened, sink);
        (drain.notes).extend(drain.tracked.held_switches().map(|held| held.note()));
        let flown = match (&mut drain.tracked.flight, kept) {
            (Some(flight), Some(kept)) => flight.take_rings(opened, kept, &mut drain.notes),
            _ => Ok(()),
        };
        let notes = drain.tracked.flight.iter().flat_map(Flight::notes);
        drain.notes.extend(notes);
        let flown = flown.and(drain.write_flight(sink).map_err(Error::from));
        drain.take_notes().for_each(note);
        let describes = settings.writing.synthesis_at_end;
        let lost = recorder.write_losses();
        let described = if describes {
            recorder.describe_alive(&mut Sink::push)
        } else {
            Ok(())
        };
        Self {
            drained: drained.map_err(Error::from).and(flown),
            lost: disabled.and(described.map_err(Error::from)).and(lost),
            recorder,
            was_on,
        }
    }

    /// Closes the file. `ended` is why the recording ended.
    pub(super) fn close(
        self,
        ended: Result<EndReason, Error>,
        note: &mut dyn FnMut(Note),
    ) -> Result<Summary, Error> {
        let Recorder {
            settings,
            interrupts,
            drain,
            sink,
            opened,
            mut files,
            budget,
            pauses,
            ..
        } = self.recorder;
        let was_writer_late = sink.was_late;
        let is_later = files.earlier.n_files > 0;
        let is_kept = drain.counts.samples > 0 || is_later;
        let is_kept = is_kept && !files.is_last_unkept();
        files.current.set_fate(Fate::kept_if(is_kept));
        let Written {
            writer,
            result,
            unwound,
        } = sink.finish()?;
        if let Some(unwound) = &unwound {
            notes_of(unwound).into_iter().for_each(note);
        }
        let size_bytes = writer.data_len();
        let is_whole = ended.is_ok() && result.is_ok();
        let is_kept = size_bytes > 0 && !is_early(&ended) || is_whole || is_later;
        let is_kept = is_kept && !files.is_last_unkept();
        files.current.set_fate(Fate::kept_if(is_kept));
        // If it failed, the file keeps what it has. The cause of an error of writing is known already.
        if let Err(source) = result {
            let _ = writer.abandon();
            return Err(files.current.write_error(source, size_bytes));
        }
        if let Err(error) = ended.and(self.drained) {
            let _ = writer.abandon();
            return Err(error);
        }
        let unfinished = Unfinished {
            lost: self.lost?,
            settings,
            interrupts,
            drain,
            opened,
            files,
            budget: budget.map(|budget| budget.cuts),
            pauses,
            was_on: self.was_on,
            was_writer_late,
        };
        unfinished.finish(writer, unwound)
    }
}

/// A file that has all records, and no end.
struct Unfinished {
    settings: Settings,
    interrupts: Rc<Interrupts>,
    drain: Drain,
    opened: Opened,
    files: Files,
    lost: Losses,
    /// What was given up to stay within a share of a CPU.
    budget: Option<CpuBudget>,
    pauses: Pauses,
    was_on: bool,
    was_writer_late: bool,
}

impl Unfinished {
    /// Writes the end of the file.
    fn finish(mut self, writer: Writer, unwound: Option<Unwound>) -> Result<Summary, Error> {
        let (coverage, ran_ns) = (self.coverage(), self.ran_ns());
        let counts = self.drain.counts;
        let (files, settings) = (&mut self.files, &self.settings);
        let is_only = files.earlier.n_files == 0;
        let watchpoints = unwound.as_ref().map(|unwound| unwound.watchpoints);
        let (entered, stacks) = unwound.map(|unwound| (unwound.paths, unwound.ends)).unzip();
        let plain = writer.uncompressed_len();
        let cost = files.cost(&counts, &writer);
        let end = FileEnd {
            writer,
            counts,
            stacks: stacks.as_ref(),
            // It is of all files together.
            coverage: coverage.filter(|_| is_only),
            cost,
            budget: self.budget,
            thinning: counts.thinning(settings.samples_per_hour),
            pauses: self.pauses.section(settings.clock.now_ns()),
            waited_files: self.drain.waited_files(),
            missing_build_ids: mem::take(&mut self.drain.missing_build_ids),
            build_ids: !settings.writing.no_build_ids,
            segment: files.current.segment_end(self.drain.complete_until_ns())?,
            entered: entered.flatten(),
        };
        let ending = end.start()?;
        files.end_last();
        let last_bytes = ending.wait(&self.interrupts, &files.current)?;
        let mut size_bytes = files.earlier.written()?;
        if !files.is_last_unkept() {
            size_bytes += last_bytes;
            if settings.writing.timestamp_name {
                files.current.add_timestamp()?;
            }
        }
        let (last, n_others) = files.last_kept();
        let last = last.unwrap_or(files.current.output()).clone();
        let n_windows = files.flight.as_ref().map(FlightWindow::n_windows);
        let plan = settings.writing.flight.as_ref();
        let has_limits_of_spans = plan.is_some_and(|plan| !plan.slow_spans.is_empty());
        let earlier = &mut files.earlier;
        let (counts, cost) = (earlier.counts_with(counts), earlier.cost_with(cost));
        let (sampling, tracked) = (&self.opened.sampling, &self.drain.tracked);
        let ring_bytes = sampling.rings.iter().map(Ring::size_bytes).max();
        Ok(Summary {
            output: last,
            earlier_files: n_others,
            flight_windows: n_windows,
            has_limits_of_spans,
            removed_files: earlier.n_removed,
            size_bytes,
            compression: settings.writing.compression,
            has_off_cpu: settings.off_cpu.is_some(),
            short_waits: self.drain.short_waits(),
            // What the same files would be with plain records.
            uncompressed_bytes: plain.map(|plain| {
                let plain = plain + earlier.uncompressed_bytes;
                (size_bytes + plain).saturating_sub(cost.written_bytes)
            }),
            samples: counts.samples,
            thinning: counts.thinning(settings.samples_per_hour),
            lost_samples: self.lost.samples,
            lost_at_least: counts.lost_at_least,
            enough_pages: enough_pages(ring_bytes.unwrap_or(0), &counts, self.lost.samples),
            has_dumps_of_hits: (sampling.events.iter()).any(EventCounters::has_dumps_of_hits),
            ran_ns,
            cost,
            budget: self.budget,
            lost_sideband: self.lost.sideband.unwrap_or(0),
            throttled: counts.throttled,
            stacks: earlier.stacks_with(stacks),
            watchpoints: watchpoints.unwrap_or_default(),
            shortened: counts.shortened,
            was_writer_late: self.was_writer_late,
            own_samples: counts.own_samples,
            others_samples: counts.others_samples,
            was_on: self.was_on,
            event_counts: match tracked.lineage {
                None => sampling.events.iter().map(counted).collect(),
                // Others are counted, too. Of a probe, each hit is a sample.
                Some(_) if counts.samples == 0 => probes_without_hits(&sampling.events),
                Some(_) => Vec::new(),
            },
            coverage,
            is_by_cpu: (tracked.coverage.as_ref()).is_some_and(Coverage::has_any_by_cpu),
            // Of the command, which may still run.
            status: None,
            ended_by: None,
        })
    }

    /// The time that was recorded, if there are as many samples as there was time to run, for the whole of the
    /// recording: that of a clock among the events, of all threads. What `wait4` says would lack processes that nobody
    /// waited for.
    fn ran_ns(&self) -> Option<u64> {
        let (settings, events) = (&self.settings, &self.opened.sampling.events);
        let is_sampled_by_time = is_frequency_first(events)
            && settings.watch != Watch::All
            && settings.is_for_all_time();
        if !is_sampled_by_time || self.drain.tracked.lineage.is_some() || self.opened.is_by_cpu {
            return None;
        }
        let is_clock = |event: &&EventCounters| {
            event.attr.kind == event_type::SOFTWARE
                && matches!(event.attr.config, sw::CPU_CLOCK | sw::TASK_CLOCK)
        };
        let clock = events.iter().find(is_clock);
        clock.map(|clock| clock.totals().count)
    }

    /// What samples stand for, if that is worth a word.
    fn coverage(&self) -> Option<SampleCoverage> {
        // The kernel's own limits may be why.
        let coverage = self.drain.tracked.coverage.as_ref();
        let coverage = coverage.filter(|_| self.drain.counts.throttled == 0)?;
        coverage.finish(&self.opened.sampling)
    }
}

impl Opened {
    fn disable(&self) -> Result<(), Error> {
        let mut groups = self.samplers().chain([&self.sideband]);
        let disabled = groups.try_for_each(Group::disable);
        disabled.map_err(Error::system("disabling events"))
    }
}

fn is_frequency_first(events: &[EventCounters]) -> bool {
    let first = events.first();
    first.is_none_or(|event| event.attr.flags.has(AttrFlags::FREQ))
}

/// The probes, if none of them was hit by what is recorded.
fn probes_without_hits(events: &[EventCounters]) -> Vec<EventCount> {
    let probes = events.iter().filter(|event| event.text.is_some());
    let count = |event: &EventCounters| EventCount {
        name: event.name.clone(),
        count: 0,
        period: Some(event.attr.sample_period),
        is_filtered: event.filter.is_some(),
    };
    probes.map(count).collect()
}

/// What a user should know of how stacks were unwound.
fn notes_of(unwound: &Unwound) -> impl IntoIterator<Item = Note> {
    let (samples, processes) = (unwound.undecodable, unwound.n_overfull);
    let undecodable = (samples > 0).then_some(Note::Undecodable { samples });
    let overfull = (processes > 0).then_some(Note::Overfull { processes });
    [undecodable, overfull].into_iter().flatten()
}

/// Whether nothing was recorded: the command did not start, or the user stopped it before.
fn is_early(ended: &Result<EndReason, Error>) -> bool {
    matches!(ended, Err(Error::Spawn(_) | Error::Interrupted))
}

/// What an event counted.
fn counted(event: &EventCounters) -> EventCount {
    let is_frequency = event.attr.flags.has(AttrFlags::FREQ) && event.attr.sample_period > 0;
    EventCount {
        name: event.name.clone(),
        count: event.totals().count,
        period: (!is_frequency).then_some(event.attr.sample_period),
        is_filtered: event.filter.is_some(),
    }
}
