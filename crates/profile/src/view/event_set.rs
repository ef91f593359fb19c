//! Which events a table shows: one, or a group side by side.

use crate::{EventProfile, Profile};
use std::fmt;

/// Which events share a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EventSets {
    /// Those of the groups that were recorded.
    #[default]
    Recorded,
    /// All, where no groups were recorded; the first one leads.
    All,
    /// None: each has its own.
    Single,
}

/// The events of a table.
#[derive(Clone, Debug)]
pub struct EventSet<'p> {
    /// The first.
    pub leader: &'p EventProfile,
    /// Those beside it.
    pub others: Vec<&'p EventProfile>,
    /// What stands around their names.
    name: SetName<'p>,
}

#[derive(Clone, Debug)]
enum SetName<'p> {
    /// They are no recorded group.
    None,
    /// A group that was given no name.
    Anonymous,
    Named(&'p str),
}

impl EventSets {
    /// The tables of a profile's events, in the recording's order.
    pub fn of(self, profile: &Profile) -> Vec<EventSet<'_>> {
        let set = |leader, others, name| EventSet {
            leader,
            others,
            name,
        };
        let (groups, events) = (&profile.event_groups, &profile.events);
        if let (Self::All, true, [leader, others @ ..]) = (self, groups.is_empty(), &**events) {
            return vec![set(leader, others.iter().collect(), SetName::None)];
        }
        let mut sets = Vec::new();
        for (number, event) in events.iter().enumerate() {
            let mut groups = groups.iter().filter(|_| self != Self::Single);
            let Some(group) = groups.find(|group| group.members.contains(&number)) else {
                sets.push(set(event, Vec::new(), SetName::None));
                continue;
            };
            if let [leader, others @ ..] = &*group.members
                && *leader == number
            {
                let others = others.iter().filter_map(|&other| events.get(other));
                let name = match &group.name {
                    Some(name) => SetName::Named(name.raw()),
                    None => SetName::Anonymous,
                };
                sets.push(set(event, others.collect(), name));
            }
        }
        sets
    }
}

impl<'p> EventSet<'p> {
    /// All of them, in order.
    pub fn events(&self) -> impl Iterator<Item = &'p EventProfile> {
        std::iter::once(self.leader).chain(self.others.iter().copied())
    }

    /// Whether nothing was sampled, and nothing lost.
    pub fn is_empty(&self) -> bool {
        self.events()
            .all(|event| event.samples == 0 && event.loss.samples == 0)
    }
}

impl fmt::Display for EventSet<'_> {
    /// As perf has it: `anon group { cycles, instructions }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            SetName::None => {}
            SetName::Anonymous => f.write_str("anon group { ")?,
            SetName::Named(name) => write!(f, "{} {{ ", rprof_untrusted::printable(name))?,
        }
        for (number, event) in self.events().enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            write!(f, "{comma}{}", event.name)?;
        }
        match self.name {
            SetName::None => Ok(()),
            SetName::Anonymous | SetName::Named(_) => f.write_str(" }"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupedEvents, testing};
    use rprof_untrusted::Untrusted;

    fn titles(sets: EventSets, groups: Vec<GroupedEvents>) -> Vec<String> {
        let profile = Profile {
            events: ["a", "b", "c"].map(testing::event).into(),
            event_groups: groups,
            ..Profile::default()
        };
        let sets = sets.of(&profile);
        sets.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn events_of_a_group_share_a_table() {
        let group = |name: Option<&str>| GroupedEvents {
            name: name.map(|name| Untrusted::new(name.to_owned())),
            members: vec![1, 2],
        };
        let anonymous = || vec![group(None)];
        assert_eq!(
            titles(EventSets::Recorded, anonymous()),
            ["a", "anon group { b, c }"]
        );
        assert_eq!(
            titles(EventSets::All, vec![group(Some("x\n"))]),
            ["a", "x\\x0a { b, c }"]
        );
        assert_eq!(titles(EventSets::Single, anonymous()), ["a", "b", "c"]);
        assert_eq!(titles(EventSets::All, Vec::new()), ["a, b, c"]);
        assert_eq!(titles(EventSets::Recorded, Vec::new()), ["a", "b", "c"]);
    }
}
