//! Comparisons of runs that are made here, whose truth is known.

mod each;
mod order;
mod refused;

use crate::statistics::testing::{normal, numbers};
use crate::{
    CompareOptions, ComparedRow, Comparison, DiffError, DiffLayout, GateOutcome, Inlining,
    NameMatching, NamedRun, Per, Recordings, compare, write_diff, write_diff_json,
};
use rprof_profile::run::{Block, Run, RunEvent, RunRow};
use rprof_profile::text::Fit;
use rprof_profile::{EventKind, FrameInfo, Group, Level, Loss, SampleCount, Sampling, ValuesId};

/// What a sample weighs.
const MS: u64 = 1_000_000;

/// A function's samples by block; `+name` is inlined.
type Counted<'a> = (&'a str, Vec<u64>);

fn count(samples: u64) -> SampleCount {
    SampleCount {
        samples,
        weight: samples * MS,
    }
}

/// A run of one event.
fn run(event: &str, rows: &[Counted<'_>]) -> NamedRun {
    let mut run = Run::default();
    let image = run.strings.intern("prog");
    let n_blocks = rows
        .iter()
        .map(|(_, blocks)| blocks.len())
        .max()
        .unwrap_or(1);
    let made = rows.iter().map(|(name, blocks)| {
        let frame = FrameInfo {
            name: Some(run.strings.intern(name.trim_start_matches('+'))),
            image,
            start: Some(0),
            level: Level::User,
            is_inlined: name.starts_with('+'),
            is_jit: false,
            is_fde: false,
            position: None,
            place: None,
        };
        let counts: Vec<SampleCount> = blocks.iter().map(|&samples| count(samples)).collect();
        RunRow {
            group: 0,
            frame: run.frames.intern(frame),
            own: counts.clone(),
            with_children: counts,
        }
    });
    let made: Vec<RunRow> = made.collect();
    let all = |at: usize| {
        let blocks = rows.iter().filter_map(|(_, blocks)| blocks.get(at));
        count(blocks.sum())
    };
    let blocks = (0..n_blocks).map(|at| Block {
        start_ns: at as u64 * 100 * MS,
        end_ns: (at as u64 + 1) * 100 * MS,
        all: all(at),
    });
    let blocks: Vec<Block> = blocks.collect();
    let samples = blocks.iter().map(|block| block.all.samples).sum();
    let comm = run.strings.intern("prog");
    run.events.push(RunEvent {
        name: event.to_owned(),
        kind: EventKind::CpuTime,
        sampling: Sampling::Every(MS),
        all: count(samples),
        loss: Loss::default(),
        has_stacks: true,
        blocks,
        groups: vec![Group {
            comm,
            values: ValuesId::NONE,
        }],
        rows: made,
        namesakes: Vec::new(),
    });
    NamedRun {
        name: "perf.data".to_owned(),
        run,
    }
}

fn options() -> CompareOptions {
    CompareOptions::by_function(None)
}

fn compared(before: Vec<NamedRun>, after: Vec<NamedRun>, options: &CompareOptions) -> Comparison {
    compare(&Recordings { before, after }, options).unwrap()
}

fn row<'c>(comparison: &'c Comparison, symbol: &str) -> &'c ComparedRow {
    let mut rows = comparison.events[0].rows.iter();
    rows.find(|row| row.cells[1] == format!("[.] {symbol}"))
        .unwrap()
}

fn n_marked(comparison: &Comparison) -> usize {
    let rows = comparison.events.iter().flat_map(|event| &event.rows);
    rows.filter(|row| row.own.is_sure).count()
}

/// A run of 30 functions in 64 blocks, with as many samples in each as chance has it; one is slower, all are.
fn noisy(seed: u64, slow: f64, all: f64) -> NamedRun {
    let mut numbers = numbers(seed);
    let names: Vec<String> = (0..30).map(|at| format!("f{at:02}")).collect();
    let rows = names.iter().enumerate().map(|(at, name)| {
        let own = if at == 17 { slow } else { 1.0 };
        let mean = all * own * 4.0 * f64::from(1 + u32::try_from(at).unwrap() % 5);
        let blocks = (0..64).map(|_| {
            let samples = mean + mean.sqrt() * normal(&mut numbers);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a few samples"
            )]
            let whole = samples.round().max(0.0) as u64;
            whole
        });
        (name.as_str(), blocks.collect())
    });
    run("cpu-clock", &rows.collect::<Vec<_>>())
}

#[test]
fn single_recordings_of_the_same_raise_few_alarms() {
    let alarms = (0..100).filter(|&pair| {
        let runs = (noisy(2 * pair, 1.0, 1.0), noisy(2 * pair + 1, 1.0, 1.0));
        n_marked(&compared(vec![runs.0], vec![runs.1], &options())) > 0
    });
    let alarms = alarms.count();
    assert!(alarms <= 9, "{alarms} of 100");
}

#[test]
fn a_machine_that_is_slower_for_a_while_marks_no_function() {
    let alarms = (0..50).filter(|&pair| {
        let runs = (noisy(2 * pair, 1.0, 1.0), noisy(2 * pair + 1, 1.0, 1.1));
        n_marked(&compared(vec![runs.0], vec![runs.1], &options())) > 0
    });
    let alarms = alarms.count();
    assert!(alarms <= 5, "{alarms} of 50");
}

#[test]
fn one_slower_function_is_marked_and_no_other() {
    let comparison = compared(
        vec![noisy(1, 1.0, 1.0)],
        vec![noisy(2, 1.6, 1.0)],
        &options(),
    );
    assert!(row(&comparison, "f17").own.is_sure);
    assert_eq!(n_marked(&comparison), 1);
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| note.contains("one recording per side"))
    );
    let several = |slow: f64, seed: u64| (0..6).map(|at| noisy(seed + at, slow, 1.0)).collect();
    let comparison = compared(several(1.0, 10), several(1.3, 20), &options());
    assert!(row(&comparison, "f17").own.is_sure);
    assert_eq!(n_marked(&comparison), 1);
}

#[test]
fn shares_make_others_look_faster_and_amounts_do_not() {
    let runs = |slow: u64| {
        run(
            "cpu-clock",
            &[("a", vec![100 * slow; 64]), ("b", vec![100; 64])],
        )
    };
    let of = |per: Per| {
        let options = CompareOptions {
            per: Some(per),
            ..options()
        };
        let comparison = compared(vec![runs(1)], vec![runs(3)], &options);
        (
            row(&comparison, "b").own.estimate.change(),
            comparison.events[0].total.is_some(),
        )
    };
    assert_eq!(of(Per::Run), (0.0, true));
    assert_eq!(of(Per::Event), (-0.5, false));
    // The same time, whatever ran.
    assert_eq!(of(Per::Time).0, 0.0);
}

#[test]
fn functions_of_two_builds_are_one_row() {
    let before = run(
        "cpu-clock",
        &[("parse.isra.0", vec![100; 64]), ("leaf", vec![50; 64])],
    );
    let after = run(
        "cpu-clock",
        &[("parse", vec![100; 64]), ("+leaf", vec![50; 64])],
    );
    let pair =
        |options: &CompareOptions| compared(vec![before.clone()], vec![after.clone()], options);
    let comparison = pair(&options());
    assert_eq!(comparison.events[0].rows.len(), 2);
    assert!(row(&comparison, "parse").is_renamed);
    assert_eq!(row(&comparison, "leaf").inlining, Some(Inlining::Begun));
    // Conditions have names as they were recorded, and as they are in the table.
    for name in ["parse", "parse.isra.0"] {
        let condition = format!("sym:{name}>+0.1%");
        let asked = CompareOptions {
            conditions: vec![condition.parse().unwrap()],
            ..options()
        };
        let comparison = pair(&asked);
        assert_eq!(comparison.gates[0].outcome, GateOutcome::Held);
        assert_eq!(comparison.gates[0].condition, condition);
    }
    let exact = CompareOptions {
        matching: NameMatching::Exact,
        ..options()
    };
    let comparison = pair(&exact);
    assert!(
        row(&comparison, "parse")
            .own
            .estimate
            .change()
            .is_infinite()
    );
    assert!(row(&comparison, "parse.isra.0").own.is_sure);
    let mut text = Vec::new();
    write_diff(&comparison, &DiffLayout::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("new *") && text.contains("removed *"),
        "{text}"
    );
}

#[test]
fn lines_keep_the_width_of_a_terminal_with_remarks_too() {
    let long = format!("parse{}", "_line".repeat(40));
    let isra = format!("{long}.isra.0");
    let before = run("cpu-clock", &[(isra.as_str(), vec![100; 64])]);
    let after = run("cpu-clock", &[(long.as_str(), vec![100; 64])]);
    let comparison = compared(vec![before], vec![after], &options());
    let text = |layout: &DiffLayout| {
        let mut text = Vec::new();
        write_diff(&comparison, layout, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let fit = Fit {
        columns: 110,
        ellipsis: "...",
    };
    let fitted = text(&DiffLayout {
        fit: Some(fit),
        ..DiffLayout::default()
    });
    let rows = fitted.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<&str> = rows.filter(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 1, "{fitted}");
    assert!(
        rows[0].len() == 110 && rows[0].contains("renamed"),
        "{}",
        rows[0]
    );
    // Nothing is cut, and perf's share is a number, where a program reads it.
    let separated = text(&DiffLayout {
        separator: Some("|".to_owned()),
        ..DiffLayout::default()
    });
    let row = separated.lines().find(|line| line.contains(&long)).unwrap();
    assert!(row.starts_with("100.00|+0.00%|"), "{row}");
}

#[test]
fn text_begins_with_the_verdict_and_keeps_the_width() {
    let runs = |slow: u64| -> Vec<NamedRun> {
        let all = (0..6).map(|at| {
            let rows = [("parse", vec![1000 * slow + at]), ("hash", vec![900 + at])];
            run("cpu-clock", &rows)
        });
        all.collect()
    };
    let text = |comparison: &Comparison, columns: usize| {
        let layout = DiffLayout {
            fit: Some(Fit {
                columns,
                ellipsis: "..",
            }),
            ..DiffLayout::default()
        };
        let mut text = Vec::new();
        write_diff(comparison, &layout, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let slower = compared(runs(1), runs(2), &options());
    let verdict = "# Verdict: total +52.5% per run, a significant change; 1 function takes significantly more \
                   (parse, +99.8%)\n";
    let wide = text(&slower, 200);
    assert!(wide.starts_with(verdict), "{wide}");
    for columns in [40, 60, 80, 120] {
        let narrow = text(&slower, columns);
        let widest = narrow.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{narrow}");
        assert!(
            narrow.contains("[.] parse") && narrow.contains("+99.8% *"),
            "{narrow}"
        );
        let mut rule = narrow.lines().filter(|line| line.starts_with("# ...."));
        let rule = rule.next().unwrap();
        let is_rule = |word: &str| word.len() > 3 && word.bytes().all(|byte| byte == b'.');
        assert!(rule[2..].split("  ").all(is_rule), "{narrow}");
        let is_whole = !narrow.contains("# No room for: ");
        assert_eq!(is_whole, columns >= 120, "{narrow}");
    }
    let same = text(&compared(runs(1), runs(1), &options()), 200);
    let verdict = "# Verdict: no significant change; total +0.0% per run, within noise\n";
    assert!(same.starts_with(verdict), "{same}");
}

/// The first line of a comparison.
fn verdict_of(comparison: &Comparison) -> String {
    let mut text = Vec::new();
    write_diff(comparison, &DiffLayout::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().next().unwrap().to_owned()
}

#[test]
fn a_side_without_samples_is_no_comparison() {
    let full = || run("cpu-clock", &[("a", vec![100; 8])]);
    let empty = || run("cpu-clock", &[]);
    for (before, after, side) in [
        (empty(), full(), "before"),
        (full(), empty(), "after"),
        (empty(), empty(), "on either side"),
    ] {
        let comparison = compared(vec![before], vec![after], &options());
        let expected = format!("# Verdict: no samples {side}; nothing can be compared");
        assert_eq!(verdict_of(&comparison), expected);
    }
}

#[test]
fn callers_are_not_counted_with_the_functions_that_changed() {
    let runs = |slow: u64| -> Vec<NamedRun> {
        let all = (0..6).map(|at| {
            let rows = [
                ("parse", vec![1000 * slow + at]),
                ("hash", vec![900 + at]),
                ("main", vec![1000 + at]),
            ];
            run("cpu-clock", &rows)
        });
        all.collect()
    };
    let mut comparison = compared(runs(1), runs(2), &options());
    let grown = row(&comparison, "parse").own;
    for row in &mut comparison.events[0].rows {
        row.children = Some(grown);
    }
    let by_itself = "; 1 function takes significantly more (parse, +99.8%)";
    let verdict = verdict_of(&comparison);
    assert!(verdict.ends_with(by_itself), "{verdict}");
    for row in &mut comparison.events[0].rows {
        row.own.is_sure = false;
    }
    let with_callees =
        "; 3 functions take significantly more with their callees (largest increase: ";
    let verdict = verdict_of(&comparison);
    assert!(verdict.contains(with_callees), "{verdict}");
}

#[test]
fn conditions_are_true_only_beyond_noise() {
    let runs = |slow: u64| {
        let all = (0..6).map(|at| {
            run(
                "cpu-clock",
                &[("a", vec![1000 * slow + at]), ("b", vec![900 + at])],
            )
        });
        all.collect()
    };
    let conditions = [
        "total>+3%",
        "sym:a>+90%",
        "sym:a>+100%",
        "sym:b>+0.1%",
        "dso:prog>+20pp",
        "children:a>+5%",
        "sym:a>+500000000",
    ];
    let options = CompareOptions {
        conditions: conditions
            .iter()
            .map(|text| text.parse().unwrap())
            .collect(),
        ..options()
    };
    let comparison = compared(runs(1), runs(2), &options);
    let outcomes: Vec<GateOutcome> = comparison.gates.iter().map(|gate| gate.outcome).collect();
    use GateOutcome::{Fired, Held};
    assert_eq!(outcomes, [Fired, Fired, Held, Held, Held, Fired, Fired]);
    let bad = |text: &str, per: Option<Per>| {
        let options = CompareOptions {
            conditions: vec![text.parse().unwrap()],
            per,
            ..options.clone()
        };
        let recordings = Recordings {
            before: runs(1),
            after: runs(2),
        };
        matches!(
            compare(&recordings, &options),
            Err(DiffError::BadCondition { .. } | DiffError::UnknownName { .. })
        )
    };
    assert!(bad("sym:c>1%", None) && bad("total>1%", Some(Per::Event)));
}

#[test]
fn recordings_of_different_events_are_refused() {
    let recordings = Recordings {
        before: vec![run("cpu-clock", &[("a", vec![1])])],
        after: vec![run("cycles:u", &[("a", vec![1])])],
    };
    let error = compare(&recordings, &options()).unwrap_err().to_string();
    assert!(
        error.contains("cpu-clock") && error.contains("rprof record -e"),
        "{error}"
    );
    let modified = Recordings {
        after: vec![run("cpu-clock:u", &[("a", vec![1])])],
        ..recordings
    };
    let comparison = compare(&modified, &options()).unwrap();
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| note.contains("across different modifiers"))
    );
}

#[test]
fn an_empty_side_is_said() {
    let options = options();
    let comparison = compared(
        vec![run("cpu-clock", &[])],
        vec![run("cpu-clock", &[("a", vec![100; 64])])],
        &options,
    );
    assert!(
        comparison
            .notes
            .iter()
            .any(|note| note.contains("no samples"))
    );
    assert!(row(&comparison, "a").own.estimate.change().is_infinite());
    let mut json = Vec::new();
    write_diff_json(&comparison, &DiffLayout::default(), &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["events"][0]["rows"][0]["own"].get("change"), None);
}
