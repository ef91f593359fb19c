//! Sampling is switched on and off while a recording runs: by time, or by words on a pipe.

pub(crate) mod remote_control;
pub(crate) mod timing;

use crate::control::DumpSize;
use crate::opening::{EventCounters, Opened};
use crate::run::Run;
use crate::switching::remote_control::{ControlNote, Word, words};
use crate::switching::timing::{Change, Timing, When};
use crate::wakeups::Wakeups;
use crate::{Error, Note};
use rprof_abi::AttrFlags;
use rprof_ringbuf::Counter;
use rprof_targets::ControlLines;
use std::io;
use std::time::{Duration, Instant};

/// What switches.
#[derive(Debug)]
pub(crate) struct Switching {
    timing: Timing,
    control: Option<ControlLines>,
    /// Samples were taken at some time.
    pub(crate) was_on: bool,
}

impl Switching {
    pub(crate) fn new(when: &When) -> Result<Self, Error> {
        Ok(Self {
            timing: Timing::new(&when.delay, Instant::now()),
            control: when.control.as_ref().map(ControlLines::open).transpose()?,
            was_on: when.is_from_start(),
        })
    }

    /// Time counts from now on.
    pub(crate) fn begin(&mut self, when: &When, wakeups: &mut Wakeups) {
        self.timing = Timing::new(&when.delay, Instant::now());
        if let Some(control) = &self.control {
            wakeups.add(control);
        }
    }

    /// How long may be waited.
    pub(crate) fn shorten(&self, timeout: Duration, now: Instant) -> Duration {
        let next = self.timing.until_next(now);
        next.map_or(timeout, |next| next.min(timeout))
    }
}

/// Whether a recording goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goes {
    On,
    ToEnd,
}

impl Run<'_> {
    /// Does what the time brings, and what words ask for.
    pub(crate) fn switch(&mut self, note: &mut dyn FnMut(Note)) -> Result<Goes, Error> {
        while let Some(change) = self.switching.timing.due(Instant::now()) {
            match change {
                Change::On => self.set_on(None, true, note)?,
                Change::Off => self.set_on(None, false, note)?,
                Change::End => return Ok(Goes::ToEnd),
            }
        }
        let control = self.switching.control.as_mut();
        let words = control.map_or_else(Vec::new, words);
        for word in words {
            let is_known = !matches!(word, Word::Unknown(_));
            let goes = self.obey(word, note)?;
            if let (true, Some(control)) = (is_known, &mut self.switching.control) {
                control.acknowledge();
            }
            if goes == Goes::ToEnd {
                return Ok(goes);
            }
        }
        Ok(Goes::On)
    }

    fn obey(&mut self, word: Word, note: &mut dyn FnMut(Note)) -> Result<Goes, Error> {
        match word {
            Word::Enable(event) => self.set_on(event, true, note)?,
            Word::Disable(event) => self.set_on(event, false, note)?,
            Word::Evlist { is_detailed } => {
                let groups = [&self.opened.sampling, &self.opened.sideband];
                for event in groups.into_iter().flat_map(|group| &group.events) {
                    note(ControlNote::Event(described(event, is_detailed)).into());
                }
            }
            Word::Snapshot if self.files.takes_snapshots() => self.interrupts.want_snapshot(),
            Word::Snapshot => note(ControlNote::NoSnapshot.into()),
            Word::Ping => {}
            Word::Stop => return Ok(Goes::ToEnd),
            Word::Unknown(word) => note(ControlNote::Unknown(word).into()),
        }
        Ok(Goes::On)
    }

    /// Switches an event by its name, or all.
    fn set_on(
        &mut self,
        name: Option<String>,
        is_on: bool,
        note: &mut dyn FnMut(Note),
    ) -> Result<(), Error> {
        let events = &self.opened.sampling.events;
        if let Some(name) = &name
            && !events.iter().any(|event| event.name == *name)
        {
            let events = events.iter().map(|event| event.name.clone()).collect();
            let name = name.clone();
            note(ControlNote::NoSuchEvent { name, events }.into());
            return Ok(());
        }
        let switched = self.opened.set_on(name.as_deref(), is_on);
        switched.map_err(Error::system("switching events"))?;
        self.switching.was_on |= is_on;
        note(ControlNote::Switched { event: name, is_on }.into());
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

impl Opened {
    /// Samples are taken once they are switched on.
    pub(crate) fn hold(&mut self) {
        let events = self.sampling.events.iter_mut();
        events.for_each(|event| event.is_on = false);
    }

    /// Switches samples of an event, or of all, on or off.
    fn set_on(&mut self, name: Option<&str>, is_on: bool) -> io::Result<()> {
        let size = self.dump_size;
        let events = self.sampling.events.iter_mut();
        for event in events.filter(|event| name.is_none_or(|name| event.name == name)) {
            event.is_on = is_on;
            if is_on {
                event.of_size(size).iter().try_for_each(Counter::enable)?
            } else {
                event.all().try_for_each(Counter::disable)?
            }
        }
        Ok(())
    }
}

impl EventCounters {
    /// Those with dumps of this size.
    pub(crate) fn of_size(&self, size: DumpSize) -> &[Counter] {
        match (&self.small_dumps, size) {
            (Some(small), DumpSize::Small) => &small.counters,
            _ => &self.counters,
        }
    }
}
