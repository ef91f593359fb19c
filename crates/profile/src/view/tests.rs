//! Rows and trees of small profiles made by hand.

use super::Weighing::{Own, WithChildren};
use super::*;
use crate::testing::{counted, function, profile, tally};
use crate::{FrameInfo, Position, Profile, SampleCount, Tally};

fn rows(profile: &Profile, weighing: Weighing) -> Vec<(String, u64, u64)> {
    let rows = Rows::new(profile, &profile.events[0], &[SortKey::Symbol], weighing);
    rows.iter()
        .map(|row| {
            (
                SortKey::Symbol.cell(&row.key, profile),
                row.total_weight,
                row.self_weight,
            )
        })
        .collect()
}

fn tree(profile: &Profile, name: &str, order: Order, weighing: Weighing) -> String {
    fn text(profile: &Profile, tree: &CallTree, nodes: &[u32]) -> String {
        let one = |&number: &u32| {
            let node = tree.node(number);
            let label = profile.frames.label(node.frame, &profile.strings);
            format!(
                "{label} {}({})",
                node.total.weight,
                text(profile, tree, &node.children)
            )
        };
        nodes.iter().map(one).collect::<Vec<_>>().join(" ")
    }
    let rows = Rows::new(profile, &profile.events[0], &[SortKey::Symbol], weighing);
    let row = rows
        .iter()
        .find(|row| SortKey::Symbol.cell(&row.key, profile).ends_with(name))
        .unwrap();
    let tree = rows.call_tree(row, order, Pruning::Below(1));
    text(profile, &tree, tree.roots())
}

fn row(name: &str, total: u64, own: u64) -> (String, u64, u64) {
    (format!("[.] {name}"), total, own)
}

#[test]
fn recursion_counts_once() {
    let profile = profile(&[("main;f;g;f", 3), ("main;f", 2), ("main;g", 1)]);
    assert_eq!(
        rows(&profile, WithChildren),
        [row("main", 6, 0), row("f", 5, 5), row("g", 4, 1)]
    );
    assert_eq!(rows(&profile, Own), [row("f", 5, 5), row("g", 4, 1)]);
}

#[test]
fn own_samples_of_inlined_code_are_the_inlined_functions() {
    let profile = profile(&[("main;f;+helper", 3), ("main;f", 1)]);
    assert_eq!(
        rows(&profile, WithChildren),
        [
            row("f", 4, 1),
            row("main", 4, 0),
            row("helper (inlined)", 3, 3)
        ]
    );
}

#[test]
fn trees_from_callers_start_at_the_row_except_for_its_own_samples() {
    let profile = profile(&[("main;f;g", 3), ("main;f", 2), ("main;h;f;g", 1)]);
    assert_eq!(
        tree(&profile, "g", Order::Caller, WithChildren),
        "main 4(f 3(g 3()) h 1(f 1(g 1())))"
    );
    assert_eq!(
        tree(&profile, "f", Order::Caller, WithChildren),
        "f 4(g 4()) main 2(f 2())"
    );
    assert_eq!(
        tree(&profile, "main", Order::Caller, WithChildren),
        "main 6(f 5(g 3()) h 1(f 1(g 1())))"
    );
}

#[test]
fn trees_from_callees_go_outwards() {
    let profile = profile(&[("main;f;g", 3), ("main;g", 2), ("main;g;f;g", 4)]);
    assert_eq!(
        tree(&profile, "g", Order::Callee, Own),
        "g 9(f 7(g 4(main 4()) main 3()) main 2())"
    );
}

#[test]
fn trees_from_callees_grow_from_the_innermost_of_a_recursion() {
    let profile = profile(&[("main;f;g;f;h", 2), ("main;f;h", 1), ("main;f;g;f", 4)]);
    assert_eq!(
        tree(&profile, "f", Order::Callee, WithChildren),
        "f 7(g 6(f 6(main 6())) main 1())"
    );
}

#[test]
fn light_nodes_are_left_out() {
    let profile = profile(&[("main;f", 98), ("main;g", 2)]);
    let rows = Rows::new(
        &profile,
        &profile.events[0],
        SortKey::DEFAULT,
        Weighing::WithChildren,
    );
    let main = rows.iter().next().unwrap();
    let tree = rows.call_tree(main, Order::Caller, Pruning::Below(5));
    assert_eq!(
        (
            tree.roots().len(),
            tree.node(tree.roots()[0]).children.len()
        ),
        (1, 1)
    );
}

#[test]
fn merged_tallies_are_the_same_as_one() {
    let stacks = [("a;b", 1), ("a;c", 2), ("a;b", 4)];
    let whole = profile(&stacks);
    let rows_of = |profile: &Profile| rows(profile, WithChildren);
    let mut merged = profile(&[]);
    let mut parts: Tally<u32> = Tally::default();
    for part in [&stacks[..1], &stacks[1..]] {
        parts.merge(&tally(&mut merged, part));
    }
    merged.events[0] = counted(&mut merged, parts);
    assert_eq!(rows_of(&merged), rows_of(&whole));
}

#[test]
fn places_in_the_source_are_rows_only_where_they_are_asked_for() {
    let mut profile = Profile::default();
    let file = profile.strings.intern("a.c");
    let function = function(&mut profile, "main", "prog");
    let function_id = profile.frames.intern(function);
    let mut tally = Tally::default();
    let group = tally.group(0);
    for (line, weight) in [(3, 5), (12, 2)] {
        let position = Some(Position {
            file,
            line,
            function: function_id,
        });
        let frame = profile.frames.intern(FrameInfo {
            position,
            ..function
        });
        tally.add_stack(group, [frame].into_iter(), SampleCount::one(weight));
    }
    let event = counted(&mut profile, tally);
    profile.events.push(event);
    let cells = |keys: &[SortKey]| {
        let rows = Rows::new(&profile, &profile.events[0], keys, Own);
        let cells = |row: &Row| {
            let cells: Vec<String> = keys
                .iter()
                .map(|key| key.cell(&row.key, &profile))
                .collect();
            (cells.join(" "), row.self_weight)
        };
        rows.iter().map(cells).collect::<Vec<_>>()
    };
    let row = |cells: &str, weight: u64| (cells.to_owned(), weight);
    assert_eq!(
        cells(&[SortKey::Srcline]),
        [row("a.c:3", 5), row("a.c:12", 2)]
    );
    let by_both = [SortKey::Srcfile, SortKey::Symbol];
    assert_eq!(cells(&by_both), [row("a.c [.] main", 7)]);
    let nothing = Rows::new(&profile, &profile.events[0], &[SortKey::Comm], Own);
    assert_eq!(nothing.iter().count(), 1);
}

#[test]
fn an_empty_profile_has_no_rows() {
    assert_eq!(rows(&profile(&[]), WithChildren), []);
}
