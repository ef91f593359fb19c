//! Events are enabled and disabled while a recording runs: by time, or by words on a pipe.

mod remote_control;
mod timing;

use super::recorder::Recorder;
use super::wakeups::Wakeups;
use crate::error::Error;
use crate::note::{ControlNote, Note};
use crate::opening::EventCounters;
use crate::settings::When;
use remote_control::{Word, words};
use rprof_abi::AttrFlags;
use rprof_targets::ControlLines;
use std::time::{Duration, Instant};
use timing::{Change, Timing};

/// What enables and disables events.
#[derive(Debug)]
pub(super) struct Toggling {
    timing: Timing,
    control: Option<ControlLines>,
    /// Samples were taken at some time.
    pub(super) was_on: bool,
}

/// Whether a recording continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continue {
    Yes,
    No,
}

impl Toggling {
    pub(super) fn new(when: &When) -> Result<Self, Error> {
        Ok(Self {
            timing: Timing::new(&when.delay, Instant::now()),
            control: when.control.as_ref().map(ControlLines::open).transpose()?,
            was_on: when.is_from_start(),
        })
    }

    /// The control pipes, still open.
    pub(super) fn into_control(self) -> Option<ControlLines> {
        self.control
    }

    /// Time counts from now on.
    pub(super) fn begin(&mut self, when: &When, wakeups: &mut Wakeups) {
        self.timing = Timing::new(&when.delay, Instant::now());
        if let Some(control) = &self.control {
            wakeups.add(control);
        }
    }

    /// How long it is until the time brings something, if it does.
    pub(super) fn due_in(&self, now: Instant) -> Option<Duration> {
        self.timing.until_next(now)
    }

    /// Does what the time brings, and what words ask for.
    pub(super) fn toggle(
        &mut self,
        recorder: &mut Recorder,
        note: &mut dyn FnMut(Note),
    ) -> Result<Continue, Error> {
        while let Some(change) = self.timing.due(Instant::now()) {
            match change {
                Change::On => self.set_on(None, true, recorder, note)?,
                Change::Off => self.set_on(None, false, recorder, note)?,
                Change::End => return Ok(Continue::No),
            }
        }
        for word in self.control.as_mut().map_or_else(Vec::new, words) {
            let is_known = !matches!(word, Word::Unknown(_));
            let goes_on = self.obey(word, recorder, note)?;
            if let (true, Some(control)) = (is_known, &mut self.control) {
                control.acknowledge();
            }
            if goes_on == Continue::No {
                return Ok(goes_on);
            }
        }
        Ok(Continue::Yes)
    }

    fn obey(
        &mut self,
        word: Word,
        recorder: &mut Recorder,
        note: &mut dyn FnMut(Note),
    ) -> Result<Continue, Error> {
        match word {
            Word::Enable(event) => self.set_on(event, true, recorder, note)?,
            Word::Disable(event) => self.set_on(event, false, recorder, note)?,
            Word::Evlist { is_detailed } => {
                let groups = [&recorder.opened.sampling, &recorder.opened.sideband];
                for event in groups.into_iter().flat_map(|group| &group.events) {
                    note(ControlNote::Event(described(event, is_detailed)).into());
                }
            }
            Word::Snapshot if recorder.files.takes_snapshots() => {
                recorder.interrupts.request_snapshot();
            }
            Word::Snapshot => note(ControlNote::NoSnapshot.into()),
            Word::Ping => {}
            Word::Stop => return Ok(Continue::No),
            Word::Unknown(word) => note(ControlNote::Unknown(word).into()),
        }
        Ok(Continue::Yes)
    }

    /// Enables or disables an event by its name, or all.
    fn set_on(
        &mut self,
        name: Option<String>,
        is_on: bool,
        recorder: &mut Recorder,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let events = &recorder.opened.sampling.events;
        if let Some(name) = &name
            && !events.iter().any(|event| event.name == *name)
        {
            let events = events.iter().map(|event| event.name.clone()).collect();
            let name = name.clone();
            note(ControlNote::NoSuchEvent { name, events }.into());
            return Ok(());
        }
        let before_ns = recorder.settings.clock.now_ns();
        let set = recorder.opened.set_on(name.as_deref(), is_on);
        recorder.note_pauses(before_ns);
        set.map_err(Error::system("switching events"))?;
        self.was_on |= is_on;
        note(ControlNote::Toggled { event: name, is_on }.into());
        Ok(())
    }
}

/// An event, as perf's `evlist` shows it.
fn described(event: &EventCounters, is_detailed: bool) -> String {
    let attr = &event.attr;
    if !is_detailed {
        return event.name.clone();
    }
    let rate = if attr.flags.has(AttrFlags::FREQ) {
        "sample_freq"
    } else {
        "sample_period"
    };
    format!(
        "{}: type: {}, config: {:#x}, {rate}: {}, sample_type: {:?}, read_format: {:?}, flags: {:?}",
        event.name,
        attr.kind,
        attr.config,
        attr.sample_period,
        attr.sample_type,
        attr.read_format,
        attr.flags
    )
}
