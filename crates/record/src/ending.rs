//! The end of a recording: of the rings, of the file, and of the command.

use crate::background::in_background;
use crate::coverage::Coverage;
use crate::drain::Drain;
use crate::features;
use crate::grace_period::GracePeriod;
use crate::interrupts::{Interrupts, Wish};
use crate::live::Unwound;
use crate::losses;
use crate::open::{EventCounters, Group};
use crate::output::{Created, Fate};
use crate::run::{Over, Run};
use crate::sink::Written;
use crate::{Error, EventCount, Note, Summary};
use rprof_abi::AttrFlags;
use rprof_perfdata::feature::SampleCoverage;
use rprof_perfdata::{FeatureId, Writer};
use rprof_process::Child;
use rprof_ringbuf::Poller;
use std::process::ExitStatus;
use std::rc::Rc;
use std::time::Duration;

/// The timeout for checksums of files: a little more than their own.
const CONTENTS_TIMEOUT: Duration = Duration::from_millis(1500);

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
        let closed = self.close(ended, note);
        if let (Err(Error::Write { source, .. }), Some(_)) = (&closed, &child) {
            note(Note::WritingFailed(source.to_string()));
        }
        if is_to_end {
            interrupts.set_over();
        }
        let ended_with = child
            .as_mut()
            .and_then(|child| wait_for(child, &interrupts, is_to_end, note));
        // If the time was over, the recording succeeded, whatever became of the command.
        let ended_with = ended_with.filter(|_| over != Some(Over::Time));
        match closed {
            Ok(summary) => Ok(Summary {
                status: ended_with,
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
        let disabled = {
            let mut groups = self.opened.samplers().chain([&self.opened.sideband]);
            groups.try_for_each(Group::disable)
        };
        let drained = self.drain.rest(&mut self.opened, &mut self.sink);
        self.drain.take_notes().for_each(&mut *note);
        let lost = self.opened.samplers().flat_map(Group::lost_by_event);
        let lost: Vec<_> = lost.collect();
        let lost_sideband = self.opened.sideband.lost_by_event();
        let last_ns = self.drain.counts.span_ns.map(|(_, last)| last);
        let lost_samples = losses::write(&lost, last_ns, &mut self.sink);
        let lost_sideband = losses::write(&lost_sideband, last_ns, &mut self.sink);
        let has_samples = self.drain.counts.samples > 0;
        self.created.set_fate(Fate::kept_if(has_samples));
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
        let is_kept = size_bytes > 0 && !is_early(&ended) || is_whole;
        self.created.set_fate(Fate::kept_if(is_kept));
        if let Err(source) = result {
            // The cause is already known; the file keeps what it has either way.
            let _ = writer.abandon();
            return Err(Error::Write {
                source,
                size_bytes,
                status: None,
            });
        }
        let whole = ended.and(drained.map_err(Error::from));
        if let Err(error) = whole {
            // The file keeps what it has.
            let _ = writer.abandon();
            return Err(error);
        }
        disabled.map_err(Error::system("disabling events"))?;
        let summary = Summary {
            lost_samples: lost_samples?,
            lost_sideband: lost_sideband?.unwrap_or(0),
            stacks: unwound.map(|unwound| unwound.ends),
            coverage,
            ..summary
        };
        let end = FileEnd {
            writer,
            summary: &summary,
            drain: &mut self.drain,
            created: &self.created,
            interrupts: &self.interrupts,
        };
        let size_bytes = end.write()?;
        Ok(Summary {
            size_bytes,
            ..summary
        })
    }

    /// What came of it, but for what is known later.
    fn summary(&self) -> Summary {
        let counts = &self.drain.counts;
        Summary {
            output: self.settings.output.clone(),
            size_bytes: 0,
            samples: counts.samples,
            lost_samples: None,
            lost_at_least: counts.lost_at_least,
            lost_sideband: 0,
            throttled: counts.throttled,
            stacks: None,
            shortened: counts.shortened,
            own_samples: counts.own_samples,
            others_samples: counts.others_samples,
            event_counts: match self.drain.lineage {
                None => self.opened.sampling.events.iter().map(counted).collect(),
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

    /// What samples stand for, if that is worth a word.
    fn coverage(&self) -> Option<SampleCoverage> {
        // The kernel's own limits may be why.
        let coverage = self.drain.coverage.as_ref();
        let coverage = coverage.filter(|_| self.drain.counts.throttled == 0)?;
        coverage.finish(&self.opened.sampling)
    }
}

/// The end of a file: what is known only then.
struct FileEnd<'e> {
    writer: Writer,
    summary: &'e Summary,
    drain: &'e mut Drain,
    created: &'e Created,
    interrupts: &'e Interrupts,
}

impl FileEnd<'_> {
    /// Writes it; returns the size of the file, bytes.
    fn write(self) -> Result<u64, Error> {
        let Self {
            writer,
            summary,
            drain,
            created,
            interrupts,
        } = self;
        let size_bytes = writer.data_len();
        let counts = &drain.counts;
        let mut sections = features::of_samples(counts);
        sections.extend(summary.stacks.as_ref().map(features::of_stacks));
        sections.extend(summary.coverage.map(features::of_coverage));
        sections.extend(features::of_left_out(counts));
        let missing_build_ids = std::mem::take(&mut drain.missing_build_ids);
        // The reader of a pipe may not read just now.
        let finishing = in_background("rprof-end", move || {
            sections.push((FeatureId::BUILD_ID, missing_build_ids.section()));
            // Files may be on a slow disk, and all else is worth more.
            let contents = in_background("rprof-contents", move || missing_build_ids.contents());
            let contents = contents
                .ok()
                .and_then(|all| all.recv_timeout(CONTENTS_TIMEOUT).ok());
            sections.extend(contents.and_then(|all| features::of_contents(&all)));
            writer.finish(sections)
        })?;
        let progress = || created.progress();
        let finished = interrupts.receive(&finishing, progress)?;
        match finished {
            Ok(finished) => Ok(finished.size_bytes),
            Err(source) => Err(Error::Write {
                source,
                size_bytes,
                status: None,
            }),
        }
    }
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
