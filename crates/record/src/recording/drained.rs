//! Sixth phase: events are off, the rings are empty, and what the kernel lost is written. Then the file is closed.

use super::limits::EndReason;
use super::recorder::{Losses, Recorder};
use crate::cost::enough_pages;
use crate::drain::Counts;
use crate::drain::coverage::Coverage;
use crate::drain::missing_build_ids::MissingBuildIds;
use crate::interrupts::Interrupts;
use crate::live::Unwound;
use crate::opening::{EventCounters, Group, Opened};
use crate::output::Fate;
use crate::output::file_end::FileEnd;
use crate::output::files::Files;
use crate::sink::{Sink, Written};
use crate::{Error, EventCount, Note, Settings, Summary, Watch, WatchpointUse};
use rprof_abi::{AttrFlags, event_type, sw};
use rprof_perfdata::Writer;
use rprof_perfdata::feature::{RecorderCost, SampleCoverage};
use rprof_ringbuf::Ring;
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
            ..
        } = &mut recorder;
        let drained = drain.rest(opened, sink);
        let flown = match &mut drain.flight {
            Some(flight) => {
                drain.notes.extend(flight.note());
                flight.take_rings(opened, &mut drain.notes)
            }
            None => Ok(()),
        };
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
        let summary = self.summary();
        let Recorder {
            settings,
            interrupts,
            drain,
            sink,
            opened,
            mut files,
            ..
        } = self.recorder;
        let is_later = files.earlier.n_files > 0;
        let is_kept = drain.counts.samples > 0 || is_later;
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
        let rings = opened.sampling.rings.iter().map(Ring::size_bytes);
        let unfinished = Unfinished {
            lost: self.lost?,
            ring_bytes: rings.max().unwrap_or(0),
            settings,
            interrupts,
            counts: drain.counts,
            missing_build_ids: drain.missing_build_ids,
            files,
            summary,
        };
        unfinished.finish(writer, unwound)
    }

    /// What came of it, but for what is known once the file is complete.
    fn summary(&self) -> Summary {
        let Recorder {
            settings,
            drain,
            opened,
            files,
            ..
        } = &self.recorder;
        let counts = files.earlier.counts_with(drain.counts);
        let events = &opened.sampling.events;
        let is_all_recorded = drain.lineage.is_none();
        Summary {
            ended_by: None,
            output: settings.output.clone(),
            earlier_files: files.earlier.n_files,
            removed_files: 0,
            compression: settings.writing.compression,
            size_bytes: 0,
            uncompressed_bytes: None,
            samples: counts.samples,
            lost_samples: None,
            enough_pages: None,
            has_dumps_of_hits: events.iter().any(EventCounters::has_dumps_of_hits),
            ran_ns: self.ran_ns(),
            cost: RecorderCost::default(),
            budget: self.recorder.budget.as_ref().map(|budget| budget.cuts),
            lost_at_least: counts.lost_at_least,
            lost_sideband: 0,
            throttled: counts.throttled,
            stacks: None,
            watchpoints: WatchpointUse::default(),
            shortened: counts.shortened,
            was_writer_late: self.recorder.sink.was_late,
            own_samples: counts.own_samples,
            others_samples: counts.others_samples,
            was_on: self.was_on,
            event_counts: match is_all_recorded {
                true => events.iter().map(counted).collect(),
                // Others are counted, too. Of a probe, each hit is a sample.
                false if counts.samples == 0 => probes_without_hits(events),
                false => Vec::new(),
            },
            coverage: self.coverage(),
            is_by_cpu: (drain.coverage.as_ref()).is_some_and(Coverage::has_any_by_cpu),
            status: None,
        }
    }

    /// The time that was recorded, if there are as many samples as there was time to run, for the whole of the
    /// recording: that of a clock among the events, of all threads. What `wait4` says would lack processes that nobody
    /// waited for.
    fn ran_ns(&self) -> Option<u64> {
        let Recorder {
            settings,
            opened,
            drain,
            ..
        } = &self.recorder;
        let events = &opened.sampling.events;
        let is_sampled_by_time = is_frequency_first(events)
            && settings.watch != Watch::All
            && settings.is_for_all_time();
        if !is_sampled_by_time || drain.lineage.is_some() || opened.is_by_cpu {
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
        let drain = &self.recorder.drain;
        let coverage = drain.coverage.as_ref();
        let coverage = coverage.filter(|_| drain.counts.throttled == 0)?;
        coverage.finish(&self.recorder.opened.sampling)
    }
}

/// A file that has all records, and no end.
struct Unfinished {
    settings: Settings,
    interrupts: Rc<Interrupts>,
    files: Files,
    counts: Counts,
    missing_build_ids: MissingBuildIds,
    lost: Losses,
    ring_bytes: u64,
    summary: Summary,
}

impl Unfinished {
    /// Writes the end of the file.
    fn finish(mut self, writer: Writer, unwound: Option<Unwound>) -> Result<Summary, Error> {
        let (files, summary) = (&mut self.files, self.summary);
        let is_only = files.earlier.n_files == 0;
        let watchpoints = unwound.as_ref().map(|unwound| unwound.watchpoints);
        let (entered, stacks) = unwound.map(|unwound| (unwound.paths, unwound.ends)).unzip();
        let plain = writer.uncompressed_len();
        let cost = files.cost(&self.counts, &writer);
        let end = FileEnd {
            writer,
            counts: self.counts,
            stacks: stacks.as_ref(),
            // It is of all files together.
            coverage: summary.coverage.filter(|_| is_only),
            cost,
            budget: summary.budget,
            missing_build_ids: self.missing_build_ids,
            build_ids: !self.settings.writing.no_build_ids,
            segment: files.current.segment_end()?,
            entered: entered.flatten(),
        };
        let ending = end.start()?;
        files.end_last();
        let size_bytes =
            ending.wait(&self.interrupts, &files.current)? + files.earlier.written()?;
        if self.settings.writing.timestamp_name {
            files.current.add_timestamp()?;
        }
        let earlier = &mut files.earlier;
        let (counts, cost) = (earlier.counts_with(self.counts), earlier.cost_with(cost));
        Ok(Summary {
            output: files.current.output().clone(),
            size_bytes,
            lost_samples: self.lost.samples,
            enough_pages: enough_pages(self.ring_bytes, &counts, self.lost.samples),
            removed_files: earlier.n_removed,
            cost,
            lost_sideband: self.lost.sideband.unwrap_or(0),
            // What the same files would be with plain records.
            uncompressed_bytes: plain.map(|plain| {
                let plain = plain + earlier.uncompressed_bytes;
                (size_bytes + plain).saturating_sub(cost.written_bytes)
            }),
            stacks: earlier.stacks_with(stacks),
            watchpoints: watchpoints.unwrap_or_default(),
            ..summary
        })
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
