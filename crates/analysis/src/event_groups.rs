//! The groups in which events were counted (GROUP_DESC).

use rprof_perfdata::feature::EventGroup;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_profile::GroupedEvents;
use rprof_untrusted::Untrusted;

/// The groups of a profile; `numbers` are those that the file's events have in it.
pub(crate) fn event_groups(reader: &Reader, numbers: &[Option<usize>]) -> Vec<GroupedEvents> {
    let section = reader.feature(FeatureId::GROUP_DESC).ok().flatten();
    let feature =
        section.map(|section| Feature::parse(FeatureId::GROUP_DESC, &section, reader.endian()));
    match feature {
        Some(Ok(Feature::GroupDesc(groups))) => groups_of(&groups, numbers),
        _ => Vec::new(),
    }
}

/// Groups of two events and more; an event that is in several counts for the first.
fn groups_of(recorded: &[EventGroup], numbers: &[Option<usize>]) -> Vec<GroupedEvents> {
    let mut free = numbers.to_vec();
    let mut groups = Vec::new();
    for group in recorded {
        let leader = usize::try_from(group.leader_idx).unwrap_or(usize::MAX);
        let n = usize::try_from(group.n_members).unwrap_or(usize::MAX);
        let of_group = free.iter_mut().skip(leader).take(n);
        let members: Vec<usize> = of_group.filter_map(Option::take).collect();
        if members.len() > 1 {
            let name = (group.name != EventGroup::ANONYMOUS)
                .then(|| Untrusted::new(String::from_utf8_lossy(&group.name).into_owned()));
            groups.push(GroupedEvents { name, members });
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_of_events_that_are_there_and_in_no_other() {
        let group = |name: &str, leader_idx, n_members| EventGroup {
            name: name.into(),
            leader_idx,
            n_members,
        };
        // The event with number 1 is left out.
        let numbers = [Some(0), None, Some(1), Some(2), Some(3)];
        let members = |groups: &[EventGroup]| {
            let groups = groups_of(groups, &numbers).into_iter();
            let names = groups.map(|one| (one.name.map(|name| name.raw().to_owned()), one.members));
            names.collect::<Vec<_>>()
        };
        assert_eq!(
            members(&[group("{anon_group}", 0, 3), group("x", 3, 2)]),
            [(None, vec![0, 1]), (Some("x".to_owned()), vec![2, 3])]
        );
        assert_eq!(
            members(&[group("x", 0, u32::MAX), group("y", 2, 2)]),
            [(Some("x".to_owned()), vec![0, 1, 2, 3])]
        );
        assert_eq!(members(&[group("x", 0, 2), group("y", u32::MAX, 2)]), []);
    }
}
