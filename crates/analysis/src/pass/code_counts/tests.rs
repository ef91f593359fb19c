//! Stacks of code count what a profile by function does.

use super::load_counted_stacks;
use crate::pass::load::{Options, load};
use crate::pass::sampled::{CodeDetail, load_code_samples};
use crate::pass::tests::{questions, recordings};
use rprof_perfdata::Reader;
use rprof_profile::{CodeTable, FrameId, Profile, SampleCount, Tree};
use std::collections::BTreeMap;

/// By event and names of functions, outermost first.
type Stacks = BTreeMap<(usize, Vec<String>), SampleCount>;

fn name(profile: &Profile, frame: FrameId) -> String {
    let label = profile.frames.label(frame, &profile.strings);
    label.into_raw()
}

fn of_profile(profile: &Profile) -> Stacks {
    let mut stacks = Stacks::new();
    for (number, event) in profile.events.iter().enumerate() {
        for (at, node) in (0..).zip(event.tree.nodes()) {
            let frames = event.tree.path(Some(at));
            let mut names: Vec<String> = frames.map(|node| name(profile, node.frame)).collect();
            names.reverse();
            let count = node.own();
            if count.samples > 0 {
                stacks.entry((number, names)).or_default().add(count);
            }
        }
    }
    stacks
}

fn add(stacks: &mut Stacks, event: usize, names: Vec<String>, count: SampleCount) {
    // A profile has no place for samples without any location.
    if !names.is_empty() {
        stacks.entry((event, names)).or_default().add(count);
    }
}

fn names(profile: &Profile, code: &CodeTable, tree: &Tree, stack: Option<u32>) -> Vec<String> {
    let locations = tree.path(stack).filter_map(|node| code.of(node));
    let frames = locations.flat_map(|location| &location.frames);
    let mut names: Vec<String> = frames.map(|one| name(profile, one.frame)).collect();
    names.reverse();
    names
}

fn totals(profile: &Profile) -> Vec<(u64, u64)> {
    let events = profile.events.iter();
    events.map(|event| (event.samples, event.weight)).collect()
}

#[test]
fn stacks_of_code_are_those_of_functions() {
    let mut n_compared = 0;
    for path in recordings() {
        let Ok(reader) = Reader::open(&path) else {
            continue;
        };
        let questions = questions().into_iter();
        let by_name = questions
            .filter(|(_, options)| options.group_by == Default::default() && options.stacks);
        for (question, options) in by_name {
            let Ok(profile) = load(&reader, &options, &mut |_| {}) else {
                continue;
            };
            let case = format!("{} {question}", path.display());
            let expected = of_profile(&profile);
            assert_eq!(
                counted(&reader, &options),
                (totals(&profile), expected.clone()),
                "{case}"
            );
            assert_eq!(
                one_by_one(&reader, &options),
                (totals(&profile), expected),
                "{case}"
            );
            n_compared += 1;
        }
    }
    assert!(n_compared > 50, "{n_compared}");
}

fn counted(reader: &Reader, options: &Options) -> (Vec<(u64, u64)>, Stacks) {
    let counted = load_counted_stacks(reader, options, &mut |_| {}).unwrap();
    let profile = &counted.profile;
    let mut stacks = Stacks::new();
    for one in &counted.counts {
        let names = names(profile, &counted.code, &counted.stacks, one.stack);
        add(&mut stacks, one.event as usize, names, one.count);
    }
    let order = counted.counts.iter();
    assert!(order.is_sorted_by_key(|one| (one.stack, one.thread, one.cpu, one.event)));
    (totals(profile), stacks)
}

fn one_by_one(reader: &Reader, options: &Options) -> (Vec<(u64, u64)>, Stacks) {
    let sampled = load_code_samples(reader, options, CodeDetail::Samples, &mut |_| {}).unwrap();
    let profile = &sampled.profile;
    let mut stacks = Stacks::new();
    for row in sampled.samples.iter() {
        let names = names(profile, &sampled.code, &sampled.stacks, row.stack);
        add(
            &mut stacks,
            row.event.into(),
            names,
            SampleCount::one(row.weight),
        );
    }
    (totals(profile), stacks)
}
