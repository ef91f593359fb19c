//! Changes beyond noise, by what functions are called in stacks: what colours of pictures say.

use super::DifferentialTree;
use crate::view::FirstFrame;
use std::collections::BTreeMap;

/// In which directions something changed beyond noise; in both where several functions have one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directions {
    /// There is more of it.
    pub more: bool,
    /// There is less of it.
    pub less: bool,
}

impl Directions {
    /// That of a change, after - before.
    pub fn of(change: f64) -> Self {
        Self {
            more: change > 0.0,
            less: change < 0.0,
        }
    }

    /// These and others.
    pub fn or(self, other: Self) -> Self {
        Self {
            more: self.more || other.more,
            less: self.less || other.less,
        }
    }

    /// Whether a change, after - before, is in one of them.
    pub fn has(self, change: f64) -> bool {
        (change > 0.0 && self.more) || (change < 0.0 && self.less)
    }

    /// Whether it did not change.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// How a function changed beyond noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SureFunction {
    /// In its own samples.
    pub own: Directions,
    /// With what it called.
    pub with_callees: Directions,
}

/// What changed beyond noise between two recordings, in one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SureChanges {
    /// All of the event.
    pub total: Directions,
    /// Functions that changed, by [`MatchedFunction::stack_label`](super::MatchedFunction::stack_label).
    pub functions: BTreeMap<String, SureFunction>,
}

impl SureChanges {
    /// Adds what is known of a function.
    pub fn add(&mut self, label: String, sure: SureFunction) {
        if sure == SureFunction::default() {
            return;
        }
        let known = self.functions.entry(label).or_default();
        known.own = known.own.or(sure.own);
        known.with_callees = known.with_callees.or(sure.with_callees);
    }

    fn of(&self, label: &str) -> SureFunction {
        self.functions.get(label).copied().unwrap_or_default()
    }
}

impl DifferentialTree {
    /// In which directions each node may have changed: those of its function, with the innermost frame first those of
    /// the samples that its stacks end in. Threads are as all of the event.
    pub fn directions(&self, changes: &SureChanges, first: FirstFrame) -> Vec<Directions> {
        let mut found: Vec<Directions> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let label = self.label(node);
            let outer = node.parent.and_then(|parent| found.get(parent as usize));
            found.push(match (first, outer) {
                (FirstFrame::Outermost, None) => changes.total,
                (FirstFrame::Outermost, Some(_)) => changes.of(label).with_callees,
                (FirstFrame::Innermost, None) => changes.of(label).own,
                (FirstFrame::Innermost, Some(&innermost)) => innermost,
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::SideStacks;
    use crate::testing;
    use crate::view::ThreadNames;

    const MORE: Directions = Directions {
        more: true,
        less: false,
    };
    const NONE: Directions = Directions {
        more: false,
        less: false,
    };

    fn found(first: FirstFrame) -> Vec<(String, Directions)> {
        let [before, after] = [1, 9].map(|n| testing::profile(&[("main;leaf", n), ("other", 5)]));
        let [before, after] = [&before, &after].map(|profile| SideStacks {
            profile,
            event: &profile.events[0],
        });
        let tree = DifferentialTree::of(before, after, first, ThreadNames::Pooled);
        let mut changes = SureChanges::default();
        let sure = |own, with_callees| SureFunction { own, with_callees };
        changes.add("main".to_owned(), sure(NONE, MORE));
        changes.add("leaf".to_owned(), sure(MORE, MORE));
        changes.add("other".to_owned(), SureFunction::default());
        assert_eq!(changes.functions.len(), 2);
        let directions = tree.directions(&changes, first).into_iter();
        let labels = tree.nodes().iter().map(|node| tree.label(node).to_owned());
        labels.zip(directions).collect()
    }

    #[test]
    fn a_node_changed_as_its_function_did() {
        let expected = [
            ("prog", NONE),
            ("main", MORE),
            ("leaf", MORE),
            ("other", NONE),
        ];
        let expected = expected.map(|(label, one)| (label.to_owned(), one));
        assert_eq!(found(FirstFrame::Outermost), expected);
    }

    #[test]
    fn callers_changed_as_the_samples_that_they_lead_to() {
        let expected = [
            ("leaf", MORE),
            ("main", MORE),
            ("prog", MORE),
            ("other", NONE),
            ("prog", NONE),
        ];
        let expected = expected.map(|(label, one)| (label.to_owned(), one));
        assert_eq!(found(FirstFrame::Innermost), expected);
    }

    #[test]
    fn functions_of_one_name_may_change_in_both_directions() {
        let both = Directions::of(3.0).or(Directions::of(-2.0));
        assert!(both.has(1.0) && both.has(-1.0) && !both.has(0.0));
        assert!(!MORE.has(-1.0) && Directions::of(0.0).is_none());
    }
}
