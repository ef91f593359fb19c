//! Tracepoints in tracefs.

use super::{ListKind, ListedEvent, Selection};
use crate::sources::is_plain;
use crate::tracepoint::Tracepoints;
use crate::{EventError, Sources};

/// Every tracepoint that fits, sorted by system and name.
pub(super) fn list(
    sources: &Sources,
    selection: &Selection,
) -> Result<Vec<ListedEvent>, EventError> {
    let tracepoints = Tracepoints {
        sources,
        event: "*:*",
    };
    let names = tracepoints.names(|name| selection.fits(name))?;
    let listed = |name| ListedEvent::named(ListKind::Tracepoint, name);
    Ok(names.into_iter().map(listed).collect())
}

/// The `format` file of a tracepoint: its id, fields and how it is printed.
///
/// # Errors
/// [`EventError::Read`]; also if there is no such tracepoint.
pub fn tracepoint_format(sources: &Sources, name: &str) -> Result<String, EventError> {
    let parts = name.split_once(':');
    let Some((system, event)) = parts.filter(|(system, name)| is_plain(system) && is_plain(name))
    else {
        return Err(EventError::UnknownTracepoint {
            name: name.to_owned(),
            suggestions: crate::Suggestions::default(),
        });
    };
    let path = sources.tracepoint(system, event, "format");
    std::fs::read_to_string(&path).map_err(|source| EventError::Read { path, source })
}
