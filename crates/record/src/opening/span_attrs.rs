//! The attrs of the events that begin and end spans, and what the file says of them.

use crate::error::Error;
use crate::note::{Degraded, Note};
use crate::opening::EventCounters;
use crate::opening::attrs::{Attrs, Prepared, prepare_event};
use crate::opening::off_cpu::{Purpose, SpanPurpose};
use crate::settings::Settings;
use rprof_abi::{AttrFlags, Encoder, Endian, SampleType};
use rprof_events::{Callers, Event, SpanEvents};
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::SpanEdge;
use rprof_targets::CgroupFolder;

/// Adds the events that begin and end spans. Each hit is a sample without a stack, whatever the rate of others.
pub(crate) fn add(
    attrs: &mut Attrs,
    edges: &[(SpanPurpose, Event)],
    settings: &Settings,
    note: &mut dyn FnMut(Note),
) -> Result<(), Error> {
    if edges.is_empty() {
        return Ok(());
    }
    let groups = attrs.sampling.iter().map(|event| event.cgroup.clone());
    let mut groups: Vec<Option<CgroupFolder>> = groups.collect();
    groups.dedup_by_key(|group| group.as_ref().map(|group| group.name().to_owned()));
    for (purpose, event) in edges {
        let event = Event {
            callers: Some(Callers::No),
            ..event.clone()
        };
        let mut prepared = prepare_event(&event, None, settings, &mut Degraded::default(), note)?;
        // Without a period, none is dropped for which others would stand.
        let attr = &mut prepared.attr;
        attr.sample_type = attr.sample_type.without(SampleType::PERIOD);
        prepared.purpose = Purpose::Span(*purpose);
        attrs
            .sampling
            .extend(groups.iter().cloned().map(|cgroup| Prepared {
                cgroup,
                ..prepared.clone()
            }));
    }
    if attrs.sampling.iter().any(|event| event.text.is_some()) {
        // A probe of a path is not inherited: it is opened for everybody, and so is what is beside it.
        for event in &mut attrs.sampling {
            event.attr.flags = event.attr.flags.without(AttrFlags::INHERIT);
        }
    }
    attrs.inherit_as(settings.inherit);
    Ok(())
}

/// What the file says of spans; nothing if there are none.
pub(crate) fn section(
    events: &[EventCounters],
    spans: &[SpanEvents],
) -> Option<(FeatureId, Vec<u8>)> {
    let edge = |(event_idx, event): (u32, &EventCounters)| {
        let Purpose::Span(SpanPurpose { span, is_end }) = event.purpose else {
            return None;
        };
        Some(SpanEdge {
            name: spans.get(span)?.name.clone().into_bytes(),
            event_idx,
            is_end: is_end.into(),
        })
    };
    let edges: Vec<SpanEdge> = (0..).zip(events).filter_map(edge).collect();
    let mut bytes = Vec::new();
    SpanEdge::encode_all(&edges, &mut Encoder::new(&mut bytes, Endian::NATIVE));
    (!edges.is_empty()).then_some((FeatureId::SPANS, bytes))
}
