//! Finds the spans of a recording's threads.

mod edges;
mod marker_spans;
mod matching;

use super::times;
use crate::Error;
use crate::index::SampleOrder;
use crate::recording::Recording;
use crate::spans::{SpanNames, Spans, ToldOfSpans, edges_of};
use edges::Edges;
use matching::match_edges;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::SpanTimes;
use rprof_untrusted::OverBudget;

/// Finds the spans of a recording: from then on, its samples know theirs. Returns whether anything says where any
/// begin.
///
/// # Errors
/// [`Error`] if it cannot be read, or they do not fit.
pub fn find_spans(recording: &Recording<'_>) -> Result<bool, Error> {
    if recording.spans.get().is_none() {
        let found = found(recording)?;
        // Somebody else found the same.
        let _ = recording.spans.set(found);
    }
    Ok(recording.spans().is_some())
}

/// How long the spans of a recording took, by name; none if it has no spans.
///
/// # Errors
/// As [`find_spans`]; also if the recording cannot be read at all.
pub fn span_times(reader: &Reader) -> Result<Vec<SpanTimes>, Error> {
    let locator = Locator::default();
    let recording = Recording::open(reader, &locator, SampleOrder::Any)?;
    find_spans(&recording)?;
    Ok(recording.spans().map_or_else(Vec::new, Spans::times))
}

fn found(recording: &Recording<'_>) -> Result<Option<Spans>, Error> {
    let edges = edges_of(recording.reader);
    if edges.is_empty() && recording.index.marker_files.is_empty() {
        return Ok(None);
    }
    let over = |OverBudget| Error::SpansOverBudget;
    let mut names = SpanNames::new(recording.reader.budget());
    let mut told = ToldOfSpans::default();
    let edges = Edges::find(recording, &edges, &mut names, &mut told)?;
    let times = times::span(recording)?;
    let end_ns = times.map_or(0, |times| *times.end());
    let matched = match_edges(&edges, end_ns, &mut told);
    drop(edges);
    let (mut spans, mut held) = matched.map_err(over)?;
    marker_spans::add(recording, (&mut spans, &mut held), &mut names, &mut told)?;
    let spans = Spans::new(spans, names, told, held);
    spans.map(Some).map_err(over)
}
