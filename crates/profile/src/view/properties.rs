//! What holds for every table, of whatever profile, however it was folded.

use super::*;
use crate::testing::{counted, function};
use crate::{Dimension, DimensionValue, DimensionValues};
use crate::{Fold, FrameInfo, Group, Others, Profile, SampleCount, Tally};
use proptest::prelude::*;

/// A stack: the thread, its CPU, functions from the outermost on, and the weight of a sample.
type Stack = (u8, u8, Vec<(u8, bool)>, u64);

/// What becomes of a profile before it is shown.
#[derive(Clone, Debug)]
struct Changes {
    folds: Vec<Fold>,
    ignored: Option<u8>,
    parents: Option<(Vec<u8>, Order, Others)>,
}

fn name(number: u8) -> String {
    char::from(b'a' + number).to_string()
}

fn is_of(numbers: &[u8], text: &str) -> bool {
    numbers.iter().any(|&number| name(number) == text)
}

fn profile_of(stacks: &[Stack]) -> Profile {
    let mut profile = Profile::default();
    let mut tally: Tally<(u8, u8)> = Tally::default();
    for (thread, cpu, frames, weight) in stacks {
        let frames: Vec<_> = frames
            .iter()
            .map(|&(number, is_inlined)| {
                let image = ["prog", "libc.so.6"][usize::from(number % 2)];
                let frame = FrameInfo {
                    is_inlined,
                    ..function(&mut profile, &name(number), image)
                };
                profile.frames.intern(frame)
            })
            .collect();
        tally.add_samples(1, *weight);
        let group = tally.group((*thread, *cpu));
        tally.add_stack(group, frames.into_iter(), SampleCount::one(*weight));
    }
    let mut numbers: Tally<u32> = Tally::default();
    let parts = tally.clone().into_parts();
    for number in (0u32..).zip(&parts.groups).map(|(number, _)| number) {
        numbers.group(number);
    }
    let mut event = counted(&mut profile, numbers);
    event.groups = parts
        .groups
        .iter()
        .map(|&(thread, cpu)| {
            let mut values = DimensionValues::default();
            values.set(Dimension::Cpu, Some(DimensionValue::Number(cpu.into())));
            let n_threads = DimensionValue::Number(2 + i64::from(thread));
            values.set(Dimension::Parallelism, Some(n_threads));
            Group {
                comm: profile.strings.intern(&format!("thread{thread}")),
                values: profile.values.intern(values),
            }
        })
        .collect();
    (event.tree, event.samples, event.weight) = (parts.tree, parts.samples, parts.weight);
    profile.events.push(event);
    profile
}

fn changed(stacks: &[Stack], changes: &Changes) -> Profile {
    let mut profile = profile_of(stacks);
    if let Some((names, from, others)) = &changes.parents {
        profile.find_parents(|text| is_of(names, text), *from, *others);
    }
    if let Some(ignored) = changes.ignored {
        profile.ignore_callees(|text| is_of(&[ignored], text));
    }
    profile.fold(&changes.folds);
    profile
}

fn stacks() -> impl Strategy<Value = Vec<Stack>> {
    let frame = (0..6u8, prop::bool::weighted(0.2));
    let stack = prop::collection::vec(frame, 1..8);
    prop::collection::vec((0..2u8, 0..2u8, stack, 0..50u64), 1..20)
}

fn changes() -> impl Strategy<Value = Changes> {
    let order = prop::sample::select(vec![Order::Caller, Order::Callee]);
    let others = prop::sample::select(vec![Others::Kept, Others::LeftOut]);
    let parents = (prop::collection::vec(0..6u8, 0..3), order, others);
    let folds = prop::sample::subsequence(Fold::ALL.to_vec(), 0..=Fold::ALL.len());
    let all = (folds, prop::option::of(0..6u8), prop::option::of(parents));
    all.prop_map(|(folds, ignored, parents)| Changes {
        folds,
        ignored,
        parents,
    })
}

fn keys() -> impl Strategy<Value = Vec<SortKey>> {
    let dimensions = [Dimension::Cpu, Dimension::Parent].map(SortKey::Dimension);
    let all = [SortKey::DEFAULT, &dimensions].concat();
    prop::sample::subsequence(all, 1..=5).prop_shuffle()
}

fn weighing() -> impl Strategy<Value = Weighing> {
    prop::sample::select(vec![Weighing::Own, Weighing::WithChildren])
}

/// What the tree of an event has in all.
fn counted_weight(profile: &Profile) -> u64 {
    let nodes = profile.events[0].tree.nodes();
    nodes.iter().map(|node| node.self_weight).sum()
}

fn own(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.self_weight).sum()
}

proptest! {
    #[test]
    fn own_weights_of_rows_sum_to_all_and_children_weigh_at_least_as_much(
        stacks in stacks(), changes in changes(), keys in keys(), weighing in weighing()
    ) {
        let profile = changed(&stacks, &changes);
        let rows = Rows::new(&profile, &profile.events[0], &keys, weighing);
        let rows: Vec<Row> = rows.iter().copied().collect();
        let all = counted_weight(&profile);
        let has_all = changes.parents.as_ref().is_none_or(|(_, _, others)| *others == Others::Kept);
        let given: u64 = stacks.iter().map(|(.., weight)| weight).sum();
        prop_assert!(!has_all || all == given);
        prop_assert_eq!(own(&rows), all);
        for row in &rows {
            prop_assert!(row.total_weight <= all);
            prop_assert!(weighing == Weighing::Own || row.total_weight >= row.self_weight);
        }
    }

    #[test]
    fn rows_are_in_the_order_of_their_fields_however_they_are_sorted(
        stacks in stacks(), keys in keys(), weighing in weighing(), other in weighing(),
        is_ranked in any::<bool>(), has_unknown in any::<bool>()
    ) {
        let mut profile = profile_of(&stacks);
        if has_unknown {
            let unknown = function(&mut profile, "[unknown]", "[unknown]");
            let unknown = profile.frames.intern(FrameInfo { name: None, ..unknown });
            let tree = &mut profile.events[0].tree;
            let node = tree.child(None, 0, unknown);
            tree.count(node, SampleCount::one(1));
        }
        if is_ranked {
            profile.strings.rank();
        }
        let columns = Columns::of(&keys, weighing);
        let rows = Rows::of(&profile, &profile.events[0], &columns);
        let sorted: Vec<Row> = rows.iter().copied().collect();
        let compare = |a: &Row, b: &Row| {
            let fields = columns.order.iter().map(|field| field.compare(a, b, &profile));
            fields.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        prop_assert!(sorted.is_sorted_by(|a, b| compare(a, b).is_le()));
        let mut kept = Rows::new(&profile, &profile.events[0], &keys, other).keep();
        kept.sort(&profile, &columns);
        prop_assert_eq!(kept.iter().copied().collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn what_a_node_calls_weighs_no_more_than_it(
        stacks in stacks(), changes in changes(), keys in keys(), weighing in weighing(),
        order in prop::sample::select(vec![Order::Caller, Order::Callee]), min_weight in 0..20u64
    ) {
        let profile = changed(&stacks, &changes);
        let rows = Rows::new(&profile, &profile.events[0], &keys, weighing);
        for row in rows.iter() {
            let tree = rows.call_tree(row, order, Pruning::Below(min_weight));
            let total = |numbers: &[u32]| -> u64 {
                numbers.iter().map(|&number| tree.node(number).total.weight).sum()
            };
            let of_row = match weighing {
                Weighing::Own => row.self_weight,
                Weighing::WithChildren => row.total_weight,
            };
            prop_assert_eq!(tree.whole().weight, of_row);
            prop_assert!(total(tree.roots()) <= of_row);
            for (_, node) in tree.nodes() {
                prop_assert!(node.own.weight + total(&node.children) <= node.total.weight);
            }
            if min_weight <= 1 {
                prop_assert_eq!(total(tree.roots()), of_row);
                for (_, node) in tree.nodes().filter(|(_, node)| node.total.weight > 0) {
                    prop_assert_eq!(node.own.weight + total(&node.children), node.total.weight);
                }
            }
        }
    }

    #[test]
    fn rows_of_a_level_sum_to_the_row_above(
        stacks in stacks(), changes in changes(), keys in keys()
    ) {
        let profile = changed(&stacks, &changes);
        let wanted = WantedColumns { latency: true, sums: Sum::ALL.to_vec(), ..WantedColumns::default() };
        let columns = WantedColumns { sort: Asked::Only(keys.iter().copied().map(Field::Key).collect()), ..wanted };
        let columns = columns.columns(&[], Weighing::Own);
        let rows = Rows::of(&profile, &profile.events[0], &columns);
        let joined = join(&rows, &[], &columns, 0);
        let levels = super::levels(&joined, &rows, &columns, 0);
        let innermost: Vec<Row> = levels.iter().filter(|one| one.is_innermost).map(|one| one.row.leader).collect();
        let mut flat: Vec<Row> = rows.iter().copied().collect();
        let by_cells = |row: &Row| keys.iter().map(|key| key.cell(&row.key, &profile)).collect::<Vec<_>>();
        let mut sorted = innermost.clone();
        sorted.sort_by_key(by_cells);
        flat.sort_by_key(by_cells);
        prop_assert_eq!(sorted, flat);
        let below = |at: usize, depth: usize| -> Vec<Row> {
            let inner = levels[at..].iter().take_while(|one| one.depth >= depth);
            inner.filter(|one| one.depth == depth).map(|one| one.row.leader).collect()
        };
        prop_assert_eq!(own(&below(0, 0)), counted_weight(&profile));
        for (at, level) in levels.iter().enumerate() {
            prop_assert_eq!(level.is_innermost, level.depth + 1 == keys.len());
            if !level.is_innermost {
                let inner = below(at + 1, level.depth + 1);
                for &sum in Sum::ALL.iter().filter(|sum| !sum.is_of_children()) {
                    let all: u64 = inner.iter().map(|row| sum.of(row)).sum();
                    prop_assert_eq!(all, sum.of(&level.row.leader), "{:?}", sum);
                }
                prop_assert!(inner.is_sorted_by_key(|row| std::cmp::Reverse(row.self_latency)));
            }
        }
    }
}
