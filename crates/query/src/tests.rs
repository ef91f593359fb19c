//! What is selected is what going through all samples, one by one, comes to.

mod sums;

use crate::{Explorer, FlameLabel, FlameLayout, FlameOrder, Focus, SampleSelection, StackFolding};
use proptest::prelude::*;
use rprof_profile::view::{FirstFrame, Rows, SortKey, ThreadNames, Weighing};
use rprof_profile::{
    Dimension, DimensionValue, EventProfile, FrameId, NameList, Profile, SampleRow, SampleTable,
    SampledProfile, testing, without_digits,
};
use std::collections::BTreeMap;

/// By name of the thread, values, and names of functions, outermost first: samples and weight.
type Stacks = BTreeMap<Vec<String>, (u64, u64)>;

/// A sample: when, of which thread, its stack, its event, its CPU, its weight.
type Sample = (u64, usize, Vec<usize>, u16, Option<u16>, u64);

const COMMS: [&str; 4] = ["main", "worker", "pool1", "pool2"];
const FUNCTIONS: [&str; 4] = ["a", "b", "+c", "d"];
const BY: [Dimension; 4] = [
    Dimension::Pid,
    Dimension::Tid,
    Dimension::Cpu,
    Dimension::CommNoDigit,
];

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let stack = prop::collection::vec(0..FUNCTIONS.len(), 0..5);
    let cpu = prop::option::of(0u16..3);
    let weight = prop_oneof![4 => Just(7u64), 1 => 0u64..20];
    let sample = (0u64..30, 0..COMMS.len(), stack, 0u16..2, cpu, weight);
    prop::collection::vec(sample, 0..40)
}

fn names(of: &'static [&'static str]) -> impl Strategy<Value = NameList> {
    let none = Just(NameList::default());
    let some = prop::sample::subsequence(of, 1..of.len());
    let list =
        some.prop_map(|names| NameList::parse(&names.join(","), |_| Ok(String::new())).unwrap());
    prop_oneof![2 => none, 1 => list]
}

fn selections() -> impl Strategy<Value = SampleSelection> {
    let times = prop::option::of((0u64..30, 0u64..30).prop_map(|(a, b)| a.min(b)..=a.max(b)));
    let some = |n: i32| prop::collection::vec(1..n, 0..3);
    let few = |n| prop_oneof![2 => Just(Vec::new()), 1 => some(n)];
    let focus = prop::option::of((0u32..4, any::<bool>()).prop_map(|(frame, below)| {
        let frame = FrameId::from_number(frame);
        if below {
            Focus::Below(frame)
        } else {
            Focus::Above(frame)
        }
    }));
    let by = prop::sample::subsequence(&BY[..], 0..=BY.len());
    let ids = (0usize..2, times, few(3), few(4), few(4), few(4));
    let lists = (
        names(&["main", "pool*", "!worker"]),
        names(&["prog", "other"]),
        names(&["a", "b", "!d"]),
        names(&["a", "c", "!b"]),
    );
    (ids, lists, focus, by).prop_map(|(ids, lists, focus, by)| {
        let (event, times_ns, cpus, pids, tids, threads) = ids;
        let (comms, dsos, symbols, frames) = lists;
        let number = |one: i32| u16::try_from(one).unwrap_or(0);
        SampleSelection {
            event,
            times_ns,
            cpus: cpus.into_iter().map(number).collect(),
            pids,
            tids,
            threads: threads.into_iter().map(i32::cast_unsigned).collect(),
            comms,
            dsos,
            symbols,
            frames,
            focus,
            by,
        }
    })
}

fn sampled(samples: &[Sample]) -> SampledProfile {
    // All threads and functions have their numbers before.
    let first = COMMS.map(|comm| (0, comm, "a;b;+c;d", 1));
    let stacks = samples.iter().map(|(time, comm, stack, ..)| {
        let names: Vec<&str> = stack.iter().map(|&name| FUNCTIONS[name]).collect();
        (*time, COMMS[*comm], names.join(";"))
    });
    let stacks: Vec<(u64, &str, String)> = stacks.collect();
    let all = stacks
        .iter()
        .map(|(time, comm, stack)| (*time, *comm, &**stack, 1));
    let all: Vec<_> = first.into_iter().chain(all).collect();
    let mut sampled = testing::sampled(&all);
    sampled.profile.events.push(testing::event("other"));
    let mut table = SampleTable::default();
    let rows = sampled.samples.iter().skip(COMMS.len()).zip(samples);
    for (row, &(.., event, cpu, weight)) in rows {
        table.push(SampleRow {
            event,
            cpu,
            weight,
            ..row
        });
    }
    sampled.samples = table;
    sampled
}

fn name(profile: &Profile, frame: FrameId) -> String {
    let name = profile.frames.of(frame).filter_name(&profile.strings);
    name.unwrap_or_default().into_owned()
}

/// Names of a stack's functions, innermost first, with whether each is inlined.
fn stack_of(sampled: &SampledProfile, stack: u32) -> Vec<FrameId> {
    let mut frames = Vec::new();
    let mut next = Some(stack);
    while let Some(node) = next {
        let node = sampled.stacks.nodes()[node as usize];
        frames.push(node.frame);
        next = node.parent;
    }
    frames
}

fn is_selected(sampled: &SampledProfile, selection: &SampleSelection, row: &SampleRow) -> bool {
    fn has<T: PartialEq>(list: &[T], one: &T) -> bool {
        list.is_empty() || list.contains(one)
    }
    let profile = &sampled.profile;
    let thread = sampled.threads[row.thread as usize];
    let comm = profile.strings.of(thread.comm).into_raw();
    let Some(stack) = row.stack else {
        return false;
    };
    let frames = stack_of(sampled, stack);
    let own = name(profile, frames[0]);
    let of_frames: Vec<String> = frames.iter().map(|&frame| name(profile, frame)).collect();
    let of_any: Vec<_> = of_frames
        .iter()
        .map(|name| selection.frames.of_any(name))
        .collect();
    let focus = selection.focus.map(|focus| match focus {
        Focus::Below(frame) | Focus::Above(frame) => frame,
    });
    has(&selection.pids, &thread.pid)
        && has(&selection.tids, &thread.tid)
        && has(&selection.threads, &row.thread)
        && selection.comms.accepts(&[comm])
        && selection.dsos.accepts(&["prog"])
        && selection.symbols.accepts(&[&own])
        && (!selection.frames.has_wanted() || of_any.iter().any(|any| any.0))
        && !of_any.iter().any(|any| any.1)
        && focus.is_none_or(|focus| frames.contains(&focus))
}

fn expected(sampled: &SampledProfile, selection: &SampleSelection) -> ((u64, u64), Stacks) {
    let profile = &sampled.profile;
    let (mut all, mut stacks) = ((0, 0), Stacks::new());
    for row in sampled.samples.iter() {
        let times = selection.times_ns.as_ref();
        let cpus = &selection.cpus;
        if usize::from(row.event) != selection.event
            || times.is_some_and(|times| !times.contains(&row.time_ns))
            || !(cpus.is_empty() || row.cpu.is_some_and(|cpu| cpus.contains(&cpu)))
        {
            continue;
        }
        all.0 += 1;
        all.1 += row.weight;
        if !is_selected(sampled, selection, &row) {
            continue;
        }
        let thread = sampled.threads[row.thread as usize];
        let comm = profile.strings.of(thread.comm).into_raw();
        let mut path = vec![comm.to_owned()];
        for by in &selection.by {
            path.push(match by {
                Dimension::Pid => format!("{} {comm}", thread.pid),
                Dimension::Tid => format!("{} {comm}", thread.tid),
                Dimension::Cpu => row.cpu.map_or(String::new(), |cpu| cpu.to_string()),
                _ => without_digits(comm).into_owned(),
            });
        }
        let mut frames = stack_of(sampled, row.stack.unwrap());
        frames.reverse();
        let at = |focus| frames.iter().position(|&frame| frame == focus).unwrap();
        let part = match selection.focus {
            None => &frames[..],
            Some(Focus::Below(focus)) => &frames[at(focus)..],
            Some(Focus::Above(focus)) => &frames[..=at(focus)],
        };
        path.extend(part.iter().map(|&frame| name(profile, frame)));
        let sum = stacks.entry(path).or_default();
        sum.0 += 1;
        sum.1 += row.weight;
    }
    (all, stacks)
}

fn found(profile: &Profile, event: &EventProfile, by: &[Dimension]) -> ((u64, u64), Stacks) {
    let strings = &profile.strings;
    let mut stacks = Stacks::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    for node in event.tree.nodes() {
        let group = event.groups[node.group as usize];
        let values = profile.values.of(group.values);
        let start = || {
            let comm = strings.of(group.comm).into_raw().to_owned();
            let values = by.iter().map(|&by| match values.get(by) {
                Some(DimensionValue::Task(id, name)) => {
                    format!("{id} {}", strings.of(name).into_raw())
                }
                Some(DimensionValue::Number(number)) => number.to_string(),
                Some(DimensionValue::Text(text)) => strings.of(text).into_raw().to_owned(),
                None => String::new(),
            });
            [comm].into_iter().chain(values).collect()
        };
        let outer = node.parent.map(|parent| paths[parent as usize].clone());
        let mut path = outer.unwrap_or_else(start);
        path.push(name(profile, node.frame));
        if node.self_samples > 0 {
            let sum = stacks.entry(path.clone()).or_default();
            sum.0 += node.self_samples;
            sum.1 += node.self_weight;
        }
        paths.push(path);
    }
    ((event.samples, event.weight), stacks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_selected_is_what_each_sample_says(
        mut samples in samples(),
        selection in selections(),
    ) {
        samples.sort_by_key(|sample| sample.0);
        let sampled = sampled(&samples);
        let expected = expected(&sampled, &selection);
        let mut explorer = Explorer::new(sampled);
        let event = explorer.select(&selection, &StackFolding::default()).unwrap();
        prop_assert_eq!(found(explorer.profile(), &event, &selection.by), expected);
    }

    #[test]
    fn hidden_functions_are_their_callers(mut samples in samples(), hidden in names(&["a", "d"])) {
        samples.sort_by_key(|sample| sample.0);
        let sampled = sampled(&samples);
        let selection = SampleSelection::default();
        let ((n, weight), stacks) = expected(&sampled, &selection);
        let mut visible = Stacks::new();
        for (mut path, sum) in stacks {
            // The outermost one has no caller.
            let mut callees = path.split_off(2);
            callees.retain(|name| hidden.is_empty() || !hidden.accepts(&[name]));
            path.extend(callees);
            let all = visible.entry(path).or_default();
            *all = (all.0 + sum.0, all.1 + sum.1);
        }
        let hidden = StackFolding { hidden: hidden.clone(), ..StackFolding::default() };
        let mut explorer = Explorer::new(sampled);
        let event = explorer.select(&selection, &hidden).unwrap();
        let expected = ((n, weight), visible);
        prop_assert_eq!(found(explorer.profile(), &event, &[]), expected);
    }
}

#[test]
fn threads_of_a_pool_are_one_row_and_one_box() {
    let sampled = testing::sampled(&[
        (0, "pool1", "main;a", 2),
        (1, "pool2", "main;a", 3),
        (2, "main", "main", 1),
    ]);
    let mut explorer = Explorer::new(sampled);
    let pooled = StackFolding {
        threads: ThreadNames::Pooled,
        ..StackFolding::default()
    };
    let event = explorer
        .select(&SampleSelection::default(), &pooled)
        .unwrap();
    let profile = explorer.profile();
    let rows = Rows::new(profile, &event, &[SortKey::Comm], Weighing::Own);
    let rows = rows
        .iter()
        .map(|row| (SortKey::Comm.cell(&row.key, profile), row.self_weight));
    let expected = [("pool<N>".to_owned(), 5), ("main".to_owned(), 1)];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    let flame = FlameLayout::of(profile, &event, FirstFrame::Outermost, FlameOrder::Heaviest);
    let lowest = flame.boxes.iter().filter(|one| one.depth == 0);
    let lowest = lowest.map(|one| match one.label {
        FlameLabel::Comm(comm) => (profile.strings.of(comm).into_raw().to_owned(), one.width),
        FlameLabel::Frame(_) | FlameLabel::Wait(_) => panic!("{one:?}"),
    });
    assert_eq!(lowest.collect::<Vec<_>>(), expected);
}
