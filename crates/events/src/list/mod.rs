//! What this machine has: every event that it names, for people who look for one.
//!
//! A [`Selection`] goes in, an [`EventList`] comes out: each event under the name that
//! [`parse_events`](crate::parse_events) takes. Whether the kernel counts generic events here is for
//! who opens them: [`ListedEvent::event`] is what to open.

mod pmus;
mod selection;
mod symbols;
mod tracepoints;

pub use selection::{ListKind, Selection};
pub use tracepoints::tracepoint_format;

use crate::{Event, EventError, Sources};

/// What was found.
#[derive(Debug, Default)]
pub struct EventList {
    /// Events by kind, and in an order that is always the same.
    pub events: Vec<ListedEvent>,
    /// PMUs that have terms or named events of their own, ordered by type.
    pub pmus: Vec<ListedPmu>,
    /// Why there are no tracepoints in the list, if they could not be looked at.
    pub without_tracepoints: Option<EventError>,
}

/// An event that can be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// Its kind.
    pub kind: ListKind,
    /// Its name for `-e`; a form such as `rNNN` if it has to be filled in.
    pub name: String,
    /// Another name for the same.
    pub alias: Option<String>,
    /// What it counts, or which terms of its PMU it stands for.
    pub description: Option<String>,
    /// Unit of its counts, if the PMU says it.
    pub unit: Option<String>,
    /// What a unit is in counts, if the PMU says it.
    pub scale: Option<String>,
    /// The event itself: of hardware, software and cache events.
    pub event: Option<Event>,
}

/// A PMU in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPmu {
    /// Its name.
    pub name: String,
    /// `attr.type` of its events.
    pub kind: u32,
    /// CPUs that it is opened on; `None` for all.
    pub cpus: Option<Vec<u32>>,
    /// Its terms, each with the bits that it sets: `event` and `config:0-7`.
    pub terms: Vec<(String, String)>,
}

impl ListedEvent {
    fn named(kind: ListKind, name: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.into(),
            alias: None,
            description: None,
            unit: None,
            scale: None,
            event: None,
        }
    }
}

/// Lists what is selected. Nothing is opened; what cannot be read is left out.
pub fn list_events(sources: &Sources, selection: &Selection) -> EventList {
    let mut list = EventList::default();
    symbols::list(selection, &mut list.events);
    pmus::list(sources, selection, &mut list);
    symbols::list_forms(sources, selection, &mut list.events);
    if selection.wants(ListKind::Tracepoint) {
        match tracepoints::list(sources, selection) {
            Ok(events) => list.events.extend(events),
            Err(error) => list.without_tracepoints = Some(error),
        }
    }
    list
}
