//! Probes among the events of a recording: where they are, and how those that are recorded have them.

use crate::error::Error;
use crate::note::Note;
use crate::opening::off_cpu::SpanPurpose;
use crate::settings::{Inherit, Settings, Watch};
use rprof_events::{Event, SpanEvents};
use rprof_probes::{DefineError, Defined, Searched, is_inside};
use std::io;
use std::path::PathBuf;

/// The events of a recording, their probes with a place.
pub(crate) struct Placed {
    pub(crate) events: Vec<Event>,
    /// What begins and ends spans.
    pub(crate) edges: Vec<(SpanPurpose, Event)>,
    /// What rotates the output file.
    pub(crate) triggers: Vec<Event>,
    /// What children inherit.
    pub(crate) defined: Option<Defined>,
    /// Why nothing is defined although children should inherit: probes are everybody's then.
    pub(crate) undefined: Option<io::Error>,
}

/// Gives probes their places. Where threads and children are to have them, they are defined in tracefs.
pub(crate) fn place(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Placed, Error> {
    let events = resolve(&settings.events, settings, note)?;
    let edges = resolve_edges(settings, note)?;
    let triggers = resolve(&settings.writing.rotation_events, settings, note)?;
    // Others are everybody's.
    let is_own = settings.writing.flight.is_some();
    let is_inherited = settings.watch != Watch::All && settings.inherit == Inherit::Inherited;
    let own_triggers = || triggers.iter().filter(|_| is_own);
    let edge_events = || edges.iter().map(|(_, event)| event);
    let all = || events.iter().chain(edge_events()).chain(own_triggers());
    let points = || all().filter_map(|event| event.probe.as_ref());
    // Only definitions have arguments.
    let has_arguments = points().any(|point| !point.arguments.is_empty());
    if !(is_inherited && points().next().is_some() || has_arguments) {
        return Ok(Placed::undefined(events, edges, triggers, None));
    }
    let all: Vec<Event> = all().cloned().collect();
    match Defined::new(&all) {
        Ok((defined, mut all)) => {
            let own_triggers = all.split_off(events.len() + edges.len());
            let triggers = if is_own { own_triggers } else { triggers };
            let purposes = edges.into_iter().map(|(purpose, _)| purpose);
            let edges = purposes.zip(all.split_off(events.len())).collect();
            Ok(Placed {
                events: all,
                edges,
                triggers,
                defined: Some(defined),
                undefined: None,
            })
        }
        Err(DefineError::Tracefs(why)) if !has_arguments => {
            Ok(Placed::undefined(events, edges, triggers, Some(why)))
        }
        Err(why) => Err(why.into()),
    }
}

impl Placed {
    fn undefined(
        events: Vec<Event>,
        edges: Vec<(SpanPurpose, Event)>,
        triggers: Vec<Event>,
        undefined: Option<io::Error>,
    ) -> Self {
        Self {
            events,
            edges,
            triggers,
            defined: None,
            undefined,
        }
    }

    /// Where the formats of tracepoints are.
    pub(crate) fn tracefs(&self) -> PathBuf {
        match &self.defined {
            Some(defined) => defined.tracefs().to_owned(),
            None => rprof_events::Sources::default().tracefs,
        }
    }

    /// Says that others have the probes, too.
    pub(crate) fn tell(&self, note: &mut dyn FnMut(Note)) {
        if let Some(why) = &self.undefined {
            let why = why.to_string();
            note(Note::ProbesOfEverybody { why });
        }
    }
}

/// The events with each probe's place; patterns give several.
pub(crate) fn resolve(
    events: &[Event],
    settings: &Settings,
    note: &mut dyn FnMut(Note),
) -> Result<Vec<Event>, Error> {
    let searched = match &settings.watch {
        Watch::Processes(ids) | Watch::Threads(ids) => Searched::Tasks(ids),
        _ => match settings.command.first() {
            Some(command) => Searched::Command(command),
            None => Searched::Nowhere,
        },
    };
    let resolved = rprof_probes::resolve(events, searched)?;
    for event in events {
        if event
            .probe
            .as_ref()
            .is_some_and(|point| is_inside(&point.site))
        {
            let event = event.name.clone();
            note(Note::ProbeInside { event });
        }
    }
    Ok(resolved)
}

/// The same of what begins and ends spans.
fn resolve_edges(
    settings: &Settings,
    note: &mut dyn FnMut(Note),
) -> Result<Vec<(SpanPurpose, Event)>, Error> {
    let mut edges = Vec::new();
    for (span, SpanEvents { begin, end, .. }) in settings.spans.iter().enumerate() {
        for (events, is_end) in [(begin, false), (end, true)] {
            let purpose = SpanPurpose { span, is_end };
            let events = resolve(events, settings, note)?;
            edges.extend(events.into_iter().map(|event| (purpose, event)));
        }
    }
    Ok(edges)
}
