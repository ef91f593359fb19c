//! Folding small profiles made by hand, and any.

use super::Fold::{Inlined, Modules, Recursion};
use super::*;
use crate::testing::{function, profile};
use crate::view::{
    Audience, Count, FirstFrame, FoldOptions, Rows, SortKey, ThreadNames, Weighing, fold,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The folded stacks of the first event.
pub(super) fn lines(profile: &Profile) -> Vec<String> {
    let options = FoldOptions {
        first: FirstFrame::Outermost,
        audience: Audience::Tools,
        count: Count::Weight,
        threads: ThreadNames::Whole,
    };
    let folded = fold(profile, &profile.events[0], options);
    folded.lines().collect()
}

fn folded(stacks: &[(&str, u64)], folds: &[Fold]) -> Vec<String> {
    let mut profile = profile(stacks);
    profile.fold(folds);
    lines(&profile)
}

#[test]
fn recursion_is_there_once() {
    let stacks = [
        ("main;f;f;f;g", 1),
        ("main;a;b;a;b;c", 2),
        ("main;a;b;a;c", 4),
        ("f;f", 8),
    ];
    let expected = [
        "prog;f 8",
        "prog;main;a;b;a;c 4",
        "prog;main;a;b;c 2",
        "prog;main;f;g 1",
    ];
    assert_eq!(folded(&stacks, &[Recursion]), expected);
}

#[test]
fn callees_that_are_ignored_count_for_the_outermost_function() {
    let mut profile = profile(&[("main;f;g;h", 1), ("main;f;g;f;k", 2), ("main;k", 4)]);
    profile.ignore_callees(|name| name == "f" || name == "g");
    assert_eq!(lines(&profile), ["prog;main;f 3", "prog;main;k 4"]);
}

#[test]
fn inlined_functions_are_their_callers() {
    let stacks = [("main;f;+g;+h", 1), ("main;f;+g;k", 2), ("+alone", 4)];
    let expected = ["prog;alone 4", "prog;main;f 1", "prog;main;f;k 2"];
    assert_eq!(folded(&stacks, &[Inlined]), expected);
}

#[test]
fn frames_of_an_image_are_one_and_brackets_do_not_double() {
    let mut profile = profile(&[]);
    let stack = [
        ("main", "prog"),
        ("f", "prog"),
        ("read", "libc.so.6"),
        ("sys", "[kernel]"),
        ("vfs", "[kernel]"),
    ];
    let stack = stack.map(|(name, image)| {
        let frame = function(&mut profile, name, image);
        profile.frames.intern(frame)
    });
    let mut tally = crate::Tally::default();
    let group = tally.group(0);
    tally.add_stack(group, stack.into_iter(), crate::SampleCount::one(7));
    let event = crate::testing::counted(&mut profile, tally);
    profile.events = vec![event];
    profile.fold(&[Modules]);
    assert_eq!(lines(&profile), ["prog;[prog];[libc.so.6];[kernel] 7"]);
}

/// Totals and own weights of all rows, by what they are called.
fn sums(profile: &Profile) -> BTreeMap<String, (u64, u64)> {
    let rows = Rows::new(
        profile,
        &profile.events[0],
        &[SortKey::Symbol],
        Weighing::WithChildren,
    );
    let sums = rows.iter().map(|row| {
        let name = SortKey::Symbol.cell(&row.key, profile);
        (name, (row.total_weight, row.self_weight))
    });
    sums.collect()
}

fn stacks() -> impl Strategy<Value = Vec<(String, u64)>> {
    let frame = prop_oneof!["[a-d]", "[+][e-g]"];
    let stack = prop::collection::vec(frame, 1..12).prop_map(|frames| frames.join(";"));
    prop::collection::vec((stack, 1..100u64), 1..20)
}

proptest! {
    #[test]
    fn folding_keeps_sums(stacks in stacks(), chosen in prop::sample::subsequence(Fold::ALL.to_vec(), 0..=4)) {
        let stacks: Vec<(&str, u64)> = stacks.iter().map(|(stack, weight)| (stack.as_str(), *weight)).collect();
        let before = profile(&stacks);
        let mut after = before.clone();
        after.fold(&chosen);
        let (before, after) = (sums(&before), sums(&after));
        let own = |sums: &BTreeMap<String, (u64, u64)>| -> u64 { sums.values().map(|(_, own)| own).sum() };
        prop_assert_eq!(own(&before), own(&after));
        prop_assert!(after.values().all(|(total, own)| total >= own));
        if chosen == [Recursion] {
            prop_assert_eq!(&before, &after);
        }
    }
}

#[test]
fn stacks_are_kept_by_the_names_of_any_of_their_functions() {
    let stacks = [
        ("main;a;b", 1),
        ("main;a", 2),
        ("main;b;a", 4),
        ("main;c", 8),
        ("main", 16),
    ];
    let kept = |names: &[&str]| {
        let mut profile = profile(&stacks);
        let names = names
            .iter()
            .map(|one| NameList::parse(one, |_| Ok(String::new())).unwrap());
        profile.keep_stacks(&NameList::of_all(&names.collect::<Vec<_>>()));
        assert_eq!(profile.events[0].weight, 31);
        lines(&profile)
    };
    assert_eq!(
        kept(&["a"]),
        ["prog;main;a 2", "prog;main;a;b 1", "prog;main;b;a 4"]
    );
    assert_eq!(kept(&["!a"]), ["prog;main 16", "prog;main;c 8"]);
    assert_eq!(kept(&["a,!b"]), ["prog;main;a 2"]);
    assert_eq!(kept(&["nothing"]), [""; 0]);
    assert_eq!(kept(&[]).len(), 5);
}
