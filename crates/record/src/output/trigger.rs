//! What rotates the output file when it happens: events (`--switch-output-event`, `--trigger`), and slow spans.

use super::span_trigger::SpanTrigger;
use super::trigger_attr::prepared;
use crate::control::DumpSize;
use crate::error::Error;
use crate::opening::{Group, Scope, open_group};
use crate::output::flight_window::Fired;
use crate::probes::Placed;
use crate::settings::{Inherit, Settings};
use crate::words::u32_at;
use rprof_abi::RecordKind;
use rprof_events::Event;
use rprof_ringbuf::{Counter, OpenError, Target};

/// Their counters, with rings of their own: nothing of them is written. Spans that take long are another.
#[derive(Debug)]
pub(crate) struct Trigger {
    events: Option<Group>,
    are_events_on: bool,
    spans: Option<SpanTrigger>,
}

impl Trigger {
    /// Opens them; `None` if there are none.
    pub(crate) fn open(
        settings: &Settings,
        placed: &Placed,
        scope: &Scope<'_>,
    ) -> Result<Option<Self>, Error> {
        let trigger = Self {
            events: open_events(settings, &placed.triggers, scope)?,
            are_events_on: true,
            spans: SpanTrigger::open(settings, &placed.edges, scope)?,
        };
        Ok((trigger.events.is_some() || trigger.spans.is_some()).then_some(trigger))
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        let spans = self.spans.as_ref().map(SpanTrigger::group);
        self.events.iter().chain(spans)
    }

    pub(crate) fn enable(&self) -> Result<(), Error> {
        let mut groups = self.groups();
        let enabled = groups.try_for_each(|group| group.enable(DumpSize::Large));
        enabled.map_err(Error::system("enabling events"))
    }

    /// Those whose rings wake the recorder up.
    pub(crate) fn ring_owners(&self) -> impl Iterator<Item = &Counter> {
        self.groups().flat_map(Group::ring_owners)
    }

    /// Disables or enables the events. Spans are looked at all the time.
    pub(crate) fn set_events_on(&mut self, is_on: bool) -> Result<(), Error> {
        let Some(events) = &self.events else {
            return Ok(());
        };
        let switched = match (is_on, self.are_events_on) {
            (true, false) => events.enable(DumpSize::Large),
            (false, true) => events.disable(),
            _ => Ok(()),
        };
        self.are_events_on = is_on;
        switched.map_err(Error::system("switching events"))
    }

    /// When any has happened since this was last asked, elsewhere than in the recorder itself.
    pub(crate) fn has_fired(&mut self) -> Option<Fired> {
        let slow = self.spans.as_mut().and_then(SpanTrigger::has_fired);
        self.first_fired(slow)
    }

    /// The same at the end of the recording.
    pub(crate) fn has_fired_at_end(&mut self) -> Option<Fired> {
        let slow = self.spans.as_mut().and_then(SpanTrigger::has_fired_at_end);
        self.first_fired(slow)
    }

    /// Events wake the recorder up as they happen; that a span is slow shows later.
    fn first_fired(&mut self, slow_ns: Option<u64>) -> Option<Fired> {
        let have_happened = self.have_events_happened();
        (slow_ns.map(Fired::At)).or(have_happened.then_some(Fired::Now))
    }

    /// Beginnings and ends of spans that were lost, as far as is known.
    pub(crate) fn n_lost_edges(&self) -> u64 {
        self.spans.as_ref().map_or(0, SpanTrigger::n_lost)
    }

    fn have_events_happened(&mut self) -> bool {
        let own = std::process::id();
        let mut have_happened = false;
        for ring in self.events.iter_mut().flat_map(|group| &mut group.rings) {
            let mut batch = ring.batch();
            // Damage ends a batch, and says that something was there.
            while let Some(record) = batch.next().unwrap_or(Some(&[])) {
                have_happened |= !is_own(record, own);
                if record.is_empty() {
                    break;
                }
            }
        }
        have_happened
    }
}

/// Opens the events of the user: for everybody, as perf does; where that is not permitted, for what is recorded.
///
/// Those of a flight recorder are of what is recorded: others must not push its files out. Only if a probe is among them
/// that children would not inherit are they everybody's, and the user is told so.
fn open_events(
    settings: &Settings,
    events: &[Event],
    scope: &Scope<'_>,
) -> Result<Option<Group>, Error> {
    if events.is_empty() {
        return Ok(None);
    }
    let open = |targets: Vec<Target>| {
        let is_for_all = targets.contains(&Target::All);
        let prepared: Vec<_> = (events.iter())
            .map(|event| prepared(event, is_for_all))
            .collect();
        open_group(&prepared, &scope.of_trigger(targets), 1)
    };
    let is_flight = settings.writing.flight.is_some();
    let lacks_children =
        settings.inherit == Inherit::Inherited && events.iter().any(|event| event.probe.is_some());
    if is_flight && !lacks_children {
        return open(scope.targets.clone()).map(Some);
    }
    let group = match open(vec![Target::All]) {
        Err(Error::Open {
            why: OpenError::Access,
            ..
        }) => open(scope.targets.clone())?,
        opened => opened?,
    };
    Ok(Some(group))
}

/// Whether a record is a sample of this process: header, IDENTIFIER, TID.
fn is_own(record: &[u8], own: u32) -> bool {
    u32_at(record, 0) == Some(RecordKind::SAMPLE.0) && u32_at(record, 16) == Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_the_recorder_itself_do_not_count() {
        let record = |kind: u32, pid: u32| {
            let words = [kind, 0, 7, 0, pid, pid];
            words.map(u32::to_ne_bytes).concat()
        };
        let sample = RecordKind::SAMPLE.0;
        assert!(is_own(&record(sample, 5), 5));
        assert!(!is_own(&record(sample, 6), 5));
        // Something was lost, or damaged.
        assert!(!is_own(&record(RecordKind::LOST.0, 5), 5));
        assert!(!is_own(&[], 5));
    }
}
