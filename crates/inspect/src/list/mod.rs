//! What events this machine has: as text, and as named fields.

mod counted;
mod functions;
mod json;
mod text;

pub use json::{LIST_VERSION, visit_list};
pub use text::write_list;

use counted::Counted;
use rprof_abi::tracepoint::{TracepointField, TracepointFormat};
use rprof_events::{
    EventList, ListKind, ListedEvent, ListedPmu, Selection, Sources, list_events, tracepoint_format,
};

/// What is to be listed.
#[derive(Clone, Debug, Default)]
pub struct ListOptions {
    /// Which events.
    pub selection: Selection,
    /// Also the fields of tracepoints.
    pub fields: bool,
}

/// Events of this machine, and which of them it counts.
#[derive(Debug)]
pub struct Listing {
    events: Vec<Listed>,
    pmus: Vec<ListedPmu>,
    /// Why something is not in the list, one sentence each.
    warnings: Vec<String>,
}

/// One event of the list.
#[derive(Debug)]
struct Listed {
    event: ListedEvent,
    counted: Counted,
    fields: Vec<TracepointField>,
}

impl Listing {
    /// Looks at sysfs and tracefs, and opens every generic event for a moment.
    pub fn of(sources: &Sources, options: &ListOptions) -> Self {
        let EventList {
            events,
            pmus,
            without_tracepoints,
        } = list_events(sources, &options.selection);
        let mut warnings: Vec<String> = Vec::new();
        warnings.extend(without_tracepoints.map(|why| why.to_string()));
        let mut n_without_fields = 0;
        let mut listed = Vec::with_capacity(events.len());
        for event in events {
            let mut fields = Vec::new();
            if options.fields && event.kind == ListKind::Tracepoint {
                match fields_of(sources, &event.name) {
                    Some(found) => fields = found,
                    None => n_without_fields += 1,
                }
            }
            listed.push(Listed {
                counted: Counted::of(&event),
                event,
                fields,
            });
        }
        if n_without_fields > 0 {
            warnings.push(format!(
                "the fields of {n_without_fields} tracepoints cannot be read"
            ));
        }
        Self {
            events: listed,
            pmus,
            warnings,
        }
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.pmus.is_empty()
    }

    /// Why something is not in the list, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// The fields of a tracepoint that are its own; `None` if its format cannot be read.
fn fields_of(sources: &Sources, name: &str) -> Option<Vec<TracepointField>> {
    let text = tracepoint_format(sources, name).ok()?;
    Some(TracepointFormat::parse(text.as_bytes()).ok()?.fields)
}
