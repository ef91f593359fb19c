//! Trees of two small profiles, and of any.

use super::*;
use crate::difference::{Scaling, SideSpans};
use crate::testing;
use crate::view::Count;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn union(before: &Profile, after: &Profile, first: FirstFrame) -> DifferentialTree {
    let [before, after] = [before, after].map(|profile| SideStacks {
        profile,
        event: &profile.events[0],
    });
    DifferentialTree::of(before, after, first, ThreadNames::Pooled)
}

fn lines(before: &[(&str, u64)], after: &[(&str, u64)], scaling: Scaling) -> Vec<String> {
    let (before, after) = (testing::profile(before), testing::profile(after));
    let tree = union(&before, &after, FirstFrame::Outermost);
    tree.lines(Count::Weight, scaling).collect()
}

#[test]
fn each_stack_has_what_it_counts_on_both_sides() {
    let before = [("main;old", 1), ("main;f", 3)];
    let after = [("main;f", 6), ("main;new;f", 2)];
    assert_eq!(
        lines(&before, &after, Scaling::Recorded),
        [
            "prog;main;f 3 6",
            "prog;main;new;f 0 2",
            "prog;main;old 1 0"
        ]
    );
    assert_eq!(
        lines(&before, &after, Scaling::Shares),
        [
            "prog;main;f 6 6",
            "prog;main;new;f 0 2",
            "prog;main;old 2 0"
        ]
    );
    let spans = SideSpans {
        before_ns: 5,
        after_ns: 10,
    };
    assert_eq!(
        lines(&before, &after, Scaling::PerSecond(spans)),
        lines(&[("main;old", 2), ("main;f", 6)], &after, Scaling::Recorded)
    );
}

#[test]
fn functions_are_one_whatever_they_are_called_on_either_side() {
    let before = [("main;f.isra.0;g<int>", 1)];
    let after = [("main;f;g<long>", 1)];
    assert_eq!(
        lines(&before, &after, Scaling::Recorded),
        ["prog;main;f;g<...> 1 1"]
    );
    let after = [("main;f;+g<int>", 1)];
    assert_eq!(
        lines(&before, &after, Scaling::Recorded),
        ["prog;main;f;g<int> 1 1"]
    );
}

#[test]
fn a_thread_with_another_name_is_said_to_be_renamed() {
    let before = testing::profile(&[("main", 1)]);
    let mut after = before.clone();
    after.events[0].groups[0].comm = after.strings.intern("prog-new");
    let tree = union(&before, &after, FirstFrame::Outermost);
    let lines: Vec<String> = tree.lines(Count::Weight, Scaling::Recorded).collect();
    assert_eq!(lines, ["prog -> prog-new;main 1 1"]);
}

#[test]
fn the_innermost_frame_may_come_first() {
    let before = testing::profile(&[("main;f", 1), ("f", 2)]);
    let tree = union(&before, &before, FirstFrame::Innermost);
    let lines: Vec<String> = tree.lines(Count::Weight, Scaling::Recorded).collect();
    assert_eq!(lines, ["f;main;prog 1 1", "f;prog 2 2"]);
}

fn stacks() -> impl Strategy<Value = Vec<(String, u64)>> {
    let frame = "[+]?[a-c](<(int|long)>)?(\\.cold)?";
    let stack = prop::collection::vec(frame, 1..6).prop_map(|frames| frames.join(";"));
    prop::collection::vec((stack, 1..1000u64), 0..12)
}

fn profile(stacks: &[(String, u64)]) -> Profile {
    let stacks: Vec<_> = stacks
        .iter()
        .map(|(stack, weight)| (stack.as_str(), *weight))
        .collect();
    testing::profile(&stacks)
}

proptest! {
    #[test]
    fn sums_of_each_side_are_its_profiles(before in stacks(), after in stacks()) {
        let (before, after) = (profile(&before), profile(&after));
        let of = |profile: &Profile| SampleCount {
            samples: profile.events[0].samples,
            weight: profile.events[0].weight,
        };
        let expected = BothCounts { before: of(&before), after: of(&after) };
        for first in [FirstFrame::Outermost, FirstFrame::Innermost] {
            let tree = union(&before, &after, first);
            prop_assert_eq!(tree.sum(), expected);
            // A node counts what is in it and below it.
            let totals = tree.totals();
            let mut top = BothCounts::NONE;
            let mut below: BTreeMap<u32, BothCounts> = BTreeMap::new();
            for (node, total) in tree.nodes().iter().zip(&totals) {
                match node.parent {
                    None => top.add(*total),
                    Some(parent) => below.entry(parent).or_insert(BothCounts::NONE).add(*total),
                }
            }
            prop_assert_eq!(top, expected);
            for (at, (node, total)) in (0u32..).zip(tree.nodes().iter().zip(&totals)) {
                let mut sum = below.remove(&at).unwrap_or(BothCounts::NONE);
                sum.add(node.own);
                prop_assert_eq!(sum, *total);
                prop_assert!(node.parent.is_none_or(|parent| parent < at));
            }
            let n_nodes = before.events[0].tree.nodes().len() + after.events[0].tree.nodes().len();
            prop_assert!(first == FirstFrame::Innermost || tree.nodes().len() <= n_nodes + 1);
            let scaled = tree.scaled(Count::Weight, Scaling::Shares);
            let sums = scaled.iter().fold((0, 0), |sum, one| (sum.0 + one.before, sum.1 + one.after));
            if expected.before.samples > 0 && expected.after.samples > 0 {
                prop_assert_eq!(sums.0, sums.1);
            }
        }
    }

    #[test]
    fn a_profile_against_itself_is_the_same_on_both_sides(stacks in stacks()) {
        let profile = profile(&stacks);
        let tree = union(&profile, &profile, FirstFrame::Outermost);
        prop_assert!(tree.nodes().iter().all(|node| node.own.before == node.own.after));
        let scaled = tree.scaled(Count::Weight, Scaling::Shares);
        prop_assert!(scaled.iter().all(|pair| pair.before == pair.after));
    }
}
