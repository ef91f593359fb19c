//! Groups of events: which events of a list belong together, and what the file says of them.
//!
//! A leader is opened for each target on each CPU, and the members behind it. Only leaders are enabled
//! and disabled. With large and small stack dumps there are two such groups of each, one of them on.

use rprof_abi::{Encoder, Endian};
use rprof_events::Grouping;
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::EventGroup;
use std::ops::Range;

/// The places of events that are opened together: a group's, or a single one's.
pub(crate) fn units<'g>(groupings: impl Iterator<Item = &'g Grouping>) -> Vec<Range<usize>> {
    let mut units: Vec<Range<usize>> = Vec::new();
    for (idx, grouping) in groupings.enumerate() {
        match units.last_mut() {
            Some(last) if grouping.is_member() => last.end = idx + 1,
            _ => units.push(idx..idx + 1),
        }
    }
    units
}

/// What the file says of the groups; nothing if there are none.
pub(crate) fn section(groupings: &[&Grouping]) -> Option<(FeatureId, Vec<u8>)> {
    let group = |unit: Range<usize>| {
        let Grouping::Leader { name, .. } = groupings.get(unit.start)? else {
            return None;
        };
        let name = name.as_ref().map(String::as_bytes);
        Some(EventGroup {
            name: name.unwrap_or(EventGroup::ANONYMOUS).to_vec(),
            leader_idx: u32::try_from(unit.start).ok()?,
            n_members: u32::try_from(unit.len()).ok()?,
        })
    };
    let units = units(groupings.iter().copied());
    let groups: Vec<EventGroup> = units.into_iter().filter_map(group).collect();
    let mut bytes = Vec::new();
    EventGroup::encode_all(&groups, &mut Encoder::new(&mut bytes, Endian::NATIVE));
    (!groups.is_empty()).then_some((FeatureId::GROUP_DESC, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_events::{Sources, parse_events};

    #[test]
    fn members_are_behind_their_leader() {
        let events = parse_events("cs,{cs,faults,cs},{cs},faults", &Sources::default()).unwrap();
        let units = units(events.iter().map(|event| &event.grouping));
        assert_eq!(units, [0..1, 1..4, 4..5, 5..6]);
    }
}
