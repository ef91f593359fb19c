//! Several recordings as one profile. Each is read by itself, with its own mappings, kernel and clock: addresses and
//! times of one mean nothing in another. Functions, images, threads and events meet by name.

mod code;
mod facts;
mod frames;
mod samples;
mod stacks;

pub(crate) use code::JoinedCode;
pub(crate) use facts::{JoinedFacts, gaps_of, unnamed_of};
pub(crate) use frames::{MovedFrames, moved};
pub(crate) use samples::SampleRows;
pub use samples::{JoinedSamples, PartClock};
pub use stacks::JoinedStacks;

use crate::{
    DimensionValue, DimensionValues, EventProfile, Group, GroupedEvents, Loss, Profile,
    SampleCount, Sampling, Tally, Tree, ValuesId,
};
use std::iter::once;

/// A profile that others are added to: as large as what is distinct in them, however many they are.
#[derive(Clone, Debug, Default)]
pub struct JoinedProfile {
    profile: Profile,
    /// By event.
    tallies: Vec<Tally<Group>>,
    facts: JoinedFacts,
}

impl JoinedProfile {
    /// Adds all that another profile has.
    pub fn add(&mut self, part: &Profile) {
        let mut frames = MovedFrames::new(part);
        let mut numbers = Vec::with_capacity(part.events.len());
        for (nth, event) in part.events.iter().enumerate() {
            let number = event_number(&mut self.profile.events, part, nth);
            numbers.push(number);
            self.tallies
                .resize_with(self.profile.events.len(), Tally::default);
            let groups = event.groups.iter();
            let groups: Vec<Group> = groups.map(|group| self.group(part, *group)).collect();
            let own = &mut self.profile.events[number];
            own.loss = own.loss + event.loss;
            let tally = &mut self.tallies[number];
            tally.add_samples(event.samples, event.weight);
            let Profile {
                strings,
                frames: all,
                ..
            } = &mut self.profile;
            let mut moved: Vec<Option<u32>> = Vec::with_capacity(event.tree.nodes().len());
            for node in event.tree.nodes() {
                let group = tally.group(groups[node.group as usize]);
                let parent = node.parent.and_then(|parent| moved[parent as usize]);
                let frame = frames.frame(node.frame, strings, all);
                let own = tally.extend_stack(parent, group, once(frame));
                if let Some(own) = own {
                    let (samples, weight) = (node.self_samples, node.self_weight);
                    tally.count(own, SampleCount { samples, weight });
                }
                moved.push(own);
            }
        }
        self.add_groups(&part.event_groups, &numbers);
        self.facts.add(&mut self.profile, part);
    }

    /// All of them.
    pub fn finish(mut self) -> Profile {
        if self.facts.n_parts() > 1 {
            // They are of several clocks.
            self.profile.gaps.seconds.clear();
        }
        for (event, tally) in self.profile.events.iter_mut().zip(self.tallies) {
            let parts = tally.into_parts();
            event.samples = parts.samples;
            event.weight = parts.weight;
            event.tree = parts.tree;
            event.groups = parts.groups;
        }
        self.profile
    }

    fn group(&mut self, part: &Profile, group: Group) -> Group {
        let strings = &mut self.profile.strings;
        let comm = moved(strings, part, group.comm);
        let values = part.values.of(group.values).map(|value| match value {
            DimensionValue::Number(number) => DimensionValue::Number(number),
            DimensionValue::Task(id, name) => DimensionValue::Task(id, moved(strings, part, name)),
            DimensionValue::Text(text) => DimensionValue::Text(moved(strings, part, text)),
        });
        let values = match values {
            DimensionValues::NONE => ValuesId::NONE,
            values => self.profile.values.intern(values),
        };
        Group { comm, values }
    }

    /// Groups of events that are in none yet.
    fn add_groups(&mut self, groups: &[GroupedEvents], numbers: &[usize]) {
        let own = &mut self.profile.event_groups;
        for group in groups {
            let members = group.members.iter().filter_map(|&nth| numbers.get(nth));
            let members: Vec<usize> = members.copied().collect();
            let is_free = |nth: &usize| !own.iter().any(|known| known.members.contains(nth));
            if members.iter().all(is_free) {
                let name = group.name.clone();
                own.push(GroupedEvents { name, members });
            }
        }
    }
}

/// The number of a part's event among others: the nth of its name is the nth of its name.
pub(crate) fn event_number(own: &mut Vec<EventProfile>, part: &Profile, nth: usize) -> usize {
    let event = &part.events[nth];
    let of_name = |other: &&EventProfile| other.name.raw() == event.name.raw();
    let n_before = part.events[..nth].iter().filter(of_name).count();
    let known = (0..).zip(&*own).filter(|(_, other)| of_name(other));
    let known = known.map(|(number, _)| number).nth(n_before);
    let number = known.unwrap_or_else(|| {
        own.push(EventProfile {
            name: event.name.clone(),
            kind: event.kind,
            sampling: event.sampling,
            samples: 0,
            weight: 0,
            loss: Loss::default(),
            tree: Tree::default(),
            groups: Vec::new(),
        });
        own.len() - 1
    });
    let known = &mut own[number];
    if (known.kind, known.sampling) != (event.kind, event.sampling) {
        known.sampling = Sampling::Mixed;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gap;
    use crate::testing;
    use crate::view::{Count, Rows, SortKey, Weighing};

    /// Rows by function: name, samples' weight with callees.
    fn rows(profile: &Profile) -> Vec<(String, u64)> {
        let keys = [SortKey::Dso, SortKey::Symbol];
        let rows = Rows::new(profile, &profile.events[0], &keys, Weighing::WithChildren);
        let cell = |key: SortKey, row| key.cell(row, profile);
        let named = rows.iter().map(|row| {
            let cells = keys.map(|key| cell(key, &row.key));
            (cells.join(" "), row.sums.total_weight)
        });
        let mut all: Vec<_> = named.collect();
        all.sort();
        all
    }

    #[test]
    fn functions_of_several_recordings_meet_by_name() {
        let one = [("main;parse", 3), ("main;read in libc.so", 4)];
        let other = [("main;read in libc.so", 5), ("other;parse", 7)];
        let mut joined = JoinedProfile::default();
        joined.add(&testing::profile(&one));
        joined.add(&testing::profile(&other));
        let joined = joined.finish();
        let all = testing::profile(&[one, other].concat());
        assert_eq!(rows(&joined), rows(&all));
        let event = &joined.events[0];
        assert_eq!((event.samples, event.weight), (4, 19));
        assert_eq!(joined.events.len(), 1);
    }

    #[test]
    fn a_recording_alone_stays_what_it_is() {
        let mut alone = testing::profile(&[("main;parse", 3), ("main", 1)]);
        alone.warnings.push("something is missing".to_owned());
        alone.events[0].loss.samples = 3;
        let mut joined = JoinedProfile::default();
        joined.add(&alone);
        let joined = joined.finish();
        assert_eq!(rows(&joined), rows(&alone));
        assert_eq!(joined.warnings, alone.warnings);
        assert_eq!(joined.events[0].loss, alone.events[0].loss);
        assert_eq!(joined.about, alone.about);
    }

    #[test]
    fn samples_at_different_rates_are_compared_by_weight() {
        let sampled = |sampling| {
            let mut profile = testing::profile(&[("main", 7)]);
            profile.events[0].sampling = sampling;
            profile
        };
        let joined = |rates: [Sampling; 2]| {
            let mut joined = JoinedProfile::default();
            rates
                .into_iter()
                .for_each(|rate| joined.add(&sampled(rate)));
            Count::for_tools(&joined.finish().events[0])
        };
        let [slow, fast] = [Sampling::PerSecond(99), Sampling::PerSecond(999)];
        assert_eq!(joined([slow, slow]), Count::Samples);
        assert_eq!(joined([slow, fast]), Count::Weight);
        assert_eq!(joined([fast, Sampling::Every(7)]), Count::Weight);
    }

    #[test]
    fn seconds_of_several_clocks_are_not_added_up() {
        let mut part = testing::profile(&[("main", 1)]);
        part.gaps.seconds = vec![(7, Gap::default())];
        let joined = |n: usize| {
            let mut joined = JoinedProfile::default();
            (0..n).for_each(|_| joined.add(&part));
            joined.finish().gaps.seconds.len()
        };
        assert_eq!((joined(1), joined(2)), (1, 0));
    }

    #[test]
    fn what_recordings_say_differently_is_not_said_of_all() {
        let said = |host: &str, lost| {
            let mut profile = testing::profile(&[("main", 1)]);
            profile.about.host = Some(host.to_owned());
            profile.about.arch = Some("x86_64".to_owned());
            profile.events[0].loss.samples = lost;
            profile
        };
        let mut joined = JoinedProfile::default();
        joined.add(&said("one", 2));
        joined.add(&said("two", 5));
        let Profile { about, events, .. } = joined.finish();
        assert_eq!(about.host, None);
        assert_eq!(about.arch.as_deref(), Some("x86_64"));
        assert_eq!(events[0].loss.samples, 7);
    }
}
