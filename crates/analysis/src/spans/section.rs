//! What a recording's section of spans says.

use rprof_perfdata::feature::SpanEdge;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_untrusted::Untrusted;

/// Which events of a recording begin and end spans.
pub(crate) fn edges_of(reader: &Reader) -> Vec<SpanEdge> {
    let section = reader.feature(FeatureId::SPANS).ok().flatten();
    let parsed = section
        .and_then(|section| Feature::parse(FeatureId::SPANS, &section, reader.endian()).ok());
    match parsed {
        Some(Feature::Spans(edges)) => edges,
        _ => Vec::new(),
    }
}

/// Whether each event begins or ends spans.
pub(crate) fn edge_events(reader: &Reader) -> Vec<bool> {
    let mut events = vec![false; reader.events().len()];
    for edge in edges_of(reader) {
        let place = usize::try_from(edge.event_idx);
        if let Some(is_edge) = place.ok().and_then(|place| events.get_mut(place)) {
            *is_edge = true;
        }
    }
    events
}

/// The events that begin spans: the name of the spans, and that of the event.
pub fn span_events(reader: &Reader) -> Vec<(Untrusted<String>, Untrusted<String>)> {
    let edges = edges_of(reader).into_iter();
    let begins = edges.filter(|edge| edge.is_end == 0);
    let named = begins.filter_map(|edge| {
        let event = reader.events().get(usize::try_from(edge.event_idx).ok()?)?;
        let name = String::from_utf8_lossy(&edge.name).into_owned();
        Some((Untrusted::new(name), event.name.clone()))
    });
    named.collect()
}
