//! Probes among the events of a recording: where they are, and how those that are recorded have them.

use crate::error::Error;
use crate::note::Note;
use crate::settings::{Inherit, Settings, Watch};
use rprof_events::Event;
use rprof_probes::{DefineError, Defined, Searched, is_inside};
use std::io;
use std::path::PathBuf;

/// The events of a recording, their probes with a place.
pub(crate) struct Placed {
    pub(crate) events: Vec<Event>,
    /// What children inherit.
    pub(crate) defined: Option<Defined>,
    /// Why nothing is defined although children should inherit: probes are everybody's then.
    pub(crate) undefined: Option<io::Error>,
}

/// Gives probes their places. Where threads and children are to have them, they are defined in tracefs.
pub(crate) fn place(settings: &Settings, note: &mut dyn FnMut(Note)) -> Result<Placed, Error> {
    let events = resolve(settings, note)?;
    let is_inherited = settings.watch != Watch::All && settings.inherit == Inherit::Inherited;
    let points = || events.iter().filter_map(|event| event.probe.as_ref());
    // Only definitions have arguments.
    let has_arguments = points().any(|point| !point.arguments.is_empty());
    if !(is_inherited && points().next().is_some() || has_arguments) {
        return Ok(Placed::undefined(events, None));
    }
    match Defined::new(&events) {
        Ok((defined, events)) => Ok(Placed {
            events,
            defined: Some(defined),
            undefined: None,
        }),
        Err(DefineError::Tracefs(why)) if !has_arguments => {
            Ok(Placed::undefined(events, Some(why)))
        }
        Err(why) => Err(why.into()),
    }
}

impl Placed {
    fn undefined(events: Vec<Event>, undefined: Option<io::Error>) -> Self {
        Self {
            events,
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
    let events = rprof_probes::resolve(&settings.events, searched)?;
    for event in &settings.events {
        if event
            .probe
            .as_ref()
            .is_some_and(|point| is_inside(&point.site))
        {
            let event = event.name.clone();
            note(Note::ProbeInside { event });
        }
    }
    Ok(events)
}
