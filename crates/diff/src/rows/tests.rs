//! Rows of stacks that are made here: sums with what was called, against a look at each stack.

use super::*;
use crate::naming::NameMatching;
use crate::{
    CompareOptions, ComparedRow, Comparison, Compute, DiffError, DiffShare, GateOutcome, NamedRun,
    OneSided, Per, RowOrder, compare,
};
use proptest::prelude::*;
use rprof_profile::run::{Block, CountedBlocks, Run, RunRows};
use rprof_profile::{
    EventKind, FrameInfo, Group, Level, Loss, Profile, Sampling, SelfTime, Tally, ValuesId, testing,
};
use std::collections::BTreeMap;

/// How many blocks of time there are.
const BLOCKS: usize = 2;

/// A stack, outermost first; its thread; its samples by block.
type Stack<'a> = (Vec<&'a str>, u32, [u64; BLOCKS]);

/// A function: `+name` is inlined, `*name` is JIT code, `k:name` the kernel's, `name@image` of an image. `#1` is one
/// without a name that an FDE knows, `?` is nothing known.
fn frame(profile: &mut Profile, text: &str) -> FrameId {
    let (text, image) = text.split_once('@').unwrap_or((text, "prog"));
    let bare = text.trim_start_matches(['+', '*', '#']);
    let level = if bare.starts_with("k:") {
        Level::Kernel
    } else {
        Level::User
    };
    let named = testing::function(profile, bare.trim_start_matches("k:"), image);
    let is_fde = text.starts_with('#');
    let is_named = !is_fde && bare != "?";
    profile.frames.intern(FrameInfo {
        name: named.name.filter(|_| is_named),
        start: match bare.parse() {
            Ok(start) => Some(start),
            Err(_) => Some(0).filter(|_| is_named),
        },
        level,
        is_inlined: text.starts_with('+'),
        is_jit: text.starts_with('*'),
        is_fde,
        ..named
    })
}

/// A run of stacks, of threads `a` and `b`.
fn run(stacks: &[Stack<'_>]) -> NamedRun {
    let mut profile = Profile::default();
    let mut tally: Tally<u32> = Tally::default();
    let mut counts = vec![Vec::new(); BLOCKS];
    for (frames, thread, blocks) in stacks {
        let group = tally.group(*thread);
        let frames: Vec<FrameId> = frames.iter().map(|one| frame(&mut profile, one)).collect();
        let node = tally.extend_stack(None, group, frames.into_iter()).unwrap() as usize;
        for (counts, &samples) in counts.iter_mut().zip(blocks) {
            counts.resize(counts.len().max(node + 1), SampleCount::default());
            counts[node].add(count(samples));
        }
    }
    let of_block = |at: usize| count(stacks.iter().map(|(_, _, blocks)| blocks[at]).sum());
    let blocks = (0..BLOCKS).map(|at| Block {
        start_ns: at as u64 * 1000,
        end_ns: at as u64 * 1000 + 1000,
        all: of_block(at),
    });
    let blocks: Vec<Block> = blocks.collect();
    let parts = tally.into_parts();
    let groups = parts.groups.iter().map(|&thread| Group {
        comm: profile.strings.intern(["a", "b"][thread as usize]),
        values: ValuesId::NONE,
    });
    let groups: Vec<Group> = groups.collect();
    let numbers: Vec<u32> = (0..).take(groups.len()).collect();
    let counted = CountedBlocks {
        tree: &parts.tree,
        n_blocks: counts.len(),
        groups: &numbers,
        has_stacks: true,
        self_time: SelfTime::Innermost,
    };
    let count_block = |block: usize, nodes: &mut [SampleCount]| {
        nodes[..counts[block].len()].copy_from_slice(&counts[block])
    };
    let names = (&profile.frames, &profile.strings);
    let RunRows { rows, namesakes } = RunRows::of(counted, count_block, names);
    let event = RunEvent {
        name: "cpu-clock".to_owned(),
        kind: EventKind::CpuTime,
        sampling: Sampling::default(),
        all: count(blocks.iter().map(|block| block.all.samples).sum()),
        loss: Loss::default(),
        has_stacks: true,
        blocks,
        groups,
        rows,
        namesakes,
    };
    NamedRun {
        name: "perf.data".to_owned(),
        run: Run {
            strings: profile.strings,
            frames: profile.frames,
            events: vec![event],
            ..Run::default()
        },
    }
}

fn count(samples: u64) -> SampleCount {
    SampleCount {
        samples,
        weight: 10 * samples,
    }
}

fn compared(
    before: &[(&str, u64)],
    after: &[(&str, u64)],
    keys: &[SortKey],
    conditions: &[&str],
) -> Comparison {
    asked(before, after, keys, conditions).unwrap()
}

fn asked(
    before: &[(&str, u64)],
    after: &[(&str, u64)],
    keys: &[SortKey],
    conditions: &[&str],
) -> Result<Comparison, DiffError> {
    let run = |stacks: &[(&str, u64)]| {
        let stacks = stacks.iter();
        let stacks = stacks.map(|&(stack, n)| (stack.split(';').collect(), 0, [n, n]));
        run(&stacks.collect::<Vec<_>>())
    };
    let recordings = Recordings {
        before: vec![run(before)],
        after: vec![run(after)],
    };
    let options = CompareOptions {
        keys: keys.to_vec(),
        per: Some(Per::Run),
        alpha: 0.05,
        matching: NameMatching::Similar,
        compute: Compute::default(),
        order: RowOrder::default(),
        one_sided: OneSided::default(),
        share: DiffShare::default(),
        conditions: conditions.iter().map(|one| one.parse().unwrap()).collect(),
        known_functions: Vec::new(),
        n_comparisons: 1,
    };
    compare(&recordings, &options)
}

fn row<'c>(comparison: &'c Comparison, symbol: &str) -> &'c ComparedRow {
    let mut rows = comparison.events[0].rows.iter();
    rows.find(|row| row.cells[0] == symbol).unwrap()
}

/// Nothing happened to a function and what it called.
fn assert_equal(comparison: &Comparison, symbol: &str, amount: f64) {
    let row = row(comparison, symbol);
    let children = row.children.unwrap();
    let amounts = (children.estimate.before, children.estimate.after);
    assert_eq!(amounts, (amount, amount), "{symbol}");
    assert!(!children.is_sure, "{symbol}");
    assert_eq!(row.inlining, None, "{symbol}");
}

#[test]
fn a_function_that_is_inlined_into_itself_counts_once() {
    let before = [("main;fib;fib;fib", 100), ("main;fib", 20)];
    let after = [
        ("main;fib;+fib;fib;+fib", 60),
        ("main;fib;+fib;fib", 40),
        ("main;fib", 20),
    ];
    let conditions = ["children:fib>+1%", "children:fib<-1%"];
    let comparison = compared(&before, &after, &[SortKey::Symbol], &conditions);
    assert_equal(&comparison, "[.] fib", 2400.0);
    let gates = comparison.gates.iter();
    assert!(gates.clone().all(|gate| gate.outcome == GateOutcome::Held));
}

#[test]
fn parts_of_a_function_count_once() {
    let before = [("main;foo;foo.part.0", 100), ("main;foo;leaf", 50)];
    let after = [("main;foo", 100), ("main;foo;leaf", 50)];
    let conditions = ["children:foo<-1%"];
    let comparison = compared(&before, &after, &[SortKey::Symbol], &conditions);
    assert_equal(&comparison, "[.] foo", 3000.0);
    assert_eq!(comparison.gates[0].outcome, GateOutcome::Held);
}

#[test]
fn what_is_inlined_now_is_said() {
    let before = [("main;leaf", 100)];
    let after = [("main;+leaf", 99), ("main;leaf", 1)];
    let comparison = compared(&before, &after, &[SortKey::Symbol], &[]);
    let row = row(&comparison, "[.] leaf");
    assert_eq!(row.inlining, Some(crate::Inlining::Begun));
}

#[test]
fn rows_that_are_no_functions_have_no_children() {
    let stacks = [("main;foo@libfoo.so", 100)];
    for key in [SortKey::Dso, SortKey::Comm] {
        let comparison = compared(&stacks, &stacks, &[key], &[]);
        assert!(!comparison.events[0].has_children);
        assert!(
            comparison.events[0]
                .rows
                .iter()
                .all(|row| row.children.is_none())
        );
    }
}

#[test]
fn conditions_are_of_one_function_and_what_it_called() {
    let stacks = [("main;read;k:read", 100)];
    let ask = |condition| asked(&stacks, &stacks, &[SortKey::Symbol], &[condition]);
    let error = ask("children:read>1%").unwrap_err().to_string();
    assert!(error.contains("[.] read, [k] read"), "{error}");
    let one = ask("children:[k] read>1%").unwrap();
    assert_eq!(one.gates[0].outcome, GateOutcome::Held);
}

/// Functions that rows join, or nearly.
const FUNCTIONS: [&str; 26] = [
    "f",
    "+f",
    "f.part.0",
    "+f.part.0",
    "f.isra.0",
    "f.cold",
    "*g.cold@perf-1.map",
    "g.part.0@perf-1.map",
    "g.cold",
    "k:f",
    "f@libf.so.1",
    "f@libf.so.2",
    "t<int>",
    "t<char>",
    "+t<int>",
    "*g@perf-1.map",
    "*g@perf-2.map",
    "g",
    "#1",
    "#2",
    "#3",
    "?",
    "#1@libf.so.1",
    "?@perf-1.map",
    "?@perf-2.map",
    "main",
];

fn stacks() -> impl Strategy<Value = Vec<Stack<'static>>> {
    let frames = proptest::collection::vec(proptest::sample::select(&FUNCTIONS[..]), 1..8);
    let stack = (frames, 0..2u32, [0..9u64, 0..9u64]);
    proptest::collection::vec(stack, 0..12)
}

/// What each row has by looking at each stack: by recording and block; all of it, and where it is not inlined.
fn looked_up(
    (at, one, stacks): (usize, &NamedRun, &[Stack<'static>]),
    keys: &[SortKey],
    naming: &mut Naming,
) -> BTreeMap<Vec<u32>, ([u64; BLOCKS], u64)> {
    let event = &one.run.events[0];
    let groups = naming.groups(&one.run, event, keys);
    let mut profile = Profile {
        frames: one.run.frames.clone(),
        strings: one.run.strings.clone(),
        ..Profile::default()
    };
    let mut rows: BTreeMap<Vec<u32>, ([u64; BLOCKS], u64)> = BTreeMap::new();
    for (frames, thread, blocks) in stacks {
        let comm = ["a", "b"][*thread as usize];
        let mut of_run = event.groups.iter();
        let group = of_run.position(|group| one.run.strings.of(group.comm).raw() == comm);
        let group = u32::try_from(group.unwrap()).unwrap();
        let mut on_stack: BTreeMap<Vec<u32>, bool> = BTreeMap::new();
        for text in frames {
            let frame = frame(&mut profile, text);
            let cells = cells_of((group, frame), &groups, keys, naming, at);
            *on_stack.entry(cells).or_default() |= !text.starts_with('+');
        }
        for (cells, stands) in on_stack {
            let row = rows.entry(cells).or_default();
            for (sum, samples) in row.0.iter_mut().zip(blocks) {
                *sum += 10 * samples;
            }
            row.1 += u64::from(stands) * 10 * blocks.iter().sum::<u64>();
        }
    }
    rows
}

const KEYS: [&[SortKey]; 3] = [
    &[SortKey::Symbol],
    &[SortKey::Dso, SortKey::Symbol],
    &[SortKey::Comm, SortKey::Symbol],
];

const MATCHINGS: [NameMatching; 2] = [NameMatching::Similar, NameMatching::Exact];

proptest! {
    #[test]
    fn each_stack_counts_once_for_each_row(
        before in stacks(),
        after in stacks(),
        keys in proptest::sample::select(&KEYS[..]),
        matching in proptest::sample::select(&MATCHINGS[..]),
    ) {
        let recordings = Recordings {
            before: vec![run(&before)],
            after: vec![run(&after)],
        };
        let mut naming = Naming::of(&recordings, matching);
        let counted = count_rows(&recordings, keys, &mut naming);
        for (at, ((_, one), stacks)) in recordings.all().zip([&before, &after]).enumerate() {
            let expected = looked_up((at, one, stacks), keys, &mut naming);
            for row in &counted.rows {
                let (blocks, stands) = expected.get(&row.cells).copied().unwrap_or_default();
                let name: Vec<&str> = row.cells.iter().map(|&cell| naming.text(cell)).collect();
                prop_assert_eq!(row.children.runs[at].weight, blocks.iter().sum::<u64>(), "{:?}", name);
                prop_assert_eq!(row.standing.runs[at].weight, stands, "{:?}", name);
                prop_assert!(row.own.runs[at].weight <= row.children.runs[at].weight);
                prop_assert!(row.children.runs[at].weight <= counted.total.runs[at].weight);
                let found = row.children.blocks.get(at).into_iter().flatten();
                let wanted = blocks.iter().map(|&weight| crate::statistics::weight(weight));
                prop_assert!(found.copied().zip(wanted).all(|(found, wanted)| found == wanted));
            }
        }
    }
}

fn count_rows(recordings: &Recordings, keys: &[SortKey], naming: &mut Naming) -> CountedEvent {
    super::count(recordings, &[0, 0], keys, naming)
}
