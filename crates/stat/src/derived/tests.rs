//! Counts as hardware would give them, and what perf says of them.

use super::*;
use crate::topology::Key;
use rprof_events::{Sources, parse_events};

fn row(count: f64) -> Row {
    Row {
        key: Key::Global,
        n: 1,
        count,
        enabled_ns: 100.0,
        running_ns: 100.0,
        noise_percent: 0.0,
    }
}

fn event(name: &str, role: Option<Role>) -> StatEvent {
    let text = if role.is_some() { "cycles" } else { name };
    let parsed = parse_events(text, &Sources::default()).unwrap();
    let mut event = StatEvent::new(&parsed[0].name, &parsed[0].attr);
    event.role = role.or(event.role);
    event
}

/// What each of the events says, as text.
fn said(counts: &[(&str, f64)]) -> Vec<Vec<String>> {
    let events: Vec<StatEvent> = counts.iter().map(|(name, _)| event(name, None)).collect();
    said_of(&events, counts.iter().map(|(_, count)| *count))
}

fn said_of(events: &[StatEvent], counts: impl Iterator<Item = f64>) -> Vec<Vec<String>> {
    let rows: Vec<Vec<Row>> = counts.map(|count| vec![row(count)]).collect();
    let counted = Counted {
        events,
        rows: &rows,
        metrics: &[],
        wall_ns: 1e9,
    };
    let text = |metric: Metric| match metric.value {
        Some(value) => format!("{} {}", metric.format.text(value), metric.unit),
        None => format!("- {}", metric.unit),
    };
    (0..events.len())
        .map(|nth| counted.metrics(nth, &rows[nth][0]))
        .map(|metrics| metrics.into_iter().map(text).collect())
        .collect()
}

#[test]
fn the_usual_set_says_what_perf_says() {
    let said = said(&[
        ("task-clock", 1_708_761_321.0),
        ("context-switches", 41_190.0),
        ("cycles", 5_205_202_243.0),
        ("stalled-cycles-frontend", 3_856_436_920.0),
        ("stalled-cycles-backend", 1_600_790_871.0),
        ("instructions", 2_603_501_247.0),
        ("branches", 484_357_498.0),
        ("branch-misses", 6_388_934.0),
    ]);
    // The numbers that the head of builtin-stat.c shows, where it shows them.
    for (line, expected) in said.iter().zip([
        &["   1.709 CPUs utilized"][..],
        &["  24.105 K/sec"],
        &["   3.046 GHz"],
        &["  74.09% frontend cycles idle"],
        &["  30.75% backend cycles idle"],
        &[
            "   0.50  insn per cycle",
            "   1.48  stalled cycles per insn",
        ],
        &[" 283.455 M/sec"],
        &["   1.32% of all branches"],
    ]) {
        assert_eq!(line, expected);
    }
}

#[test]
fn what_cannot_be_divided_is_not_a_number() {
    let said = said(&[
        ("branches", 0.0),
        ("branch-misses", 3.0),
        ("instructions", 5.0),
        ("cache-misses", 5.0),
        ("LLC-load-misses", 5.0),
        ("page-faults", 5.0),
    ]);
    for (line, expected) in said.iter().zip([
        &[][..],
        &["- of all branches"],
        &["- insn per cycle"],
        &["- of all cache refs"],
        &["- of all LL-cache accesses"],
        &[],
    ]) {
        assert_eq!(line, expected);
    }
}

#[test]
fn shares_are_of_the_same_instructions() {
    let said = said(&[
        ("branches:u", 100.0),
        ("branches:k", 1000.0),
        ("branch-misses:k", 50.0),
        ("branch-misses", 50.0),
    ]);
    assert_eq!(said[2], ["   5.00% of all branches"]);
    assert_eq!(said[3], ["- of all branches"]);
}

#[test]
fn slots_are_shared_out_at_both_levels() {
    let counts = [40.0, 10.0, 20.0, 30.0, 4.0, 8.0, 5.0, 21.0];
    let events: Vec<StatEvent> = (0..8)
        .map(|nth| event("topdown", Some(Role::SlotsOf(nth))))
        .collect();
    let said_both = said_of(&events, counts.into_iter());
    let expected = [
        &["    40.0% Retiring"][..],
        &["    10.0% Bad Speculation"],
        &["    20.0% Frontend Bound"],
        &["    30.0% Backend Bound"],
        &["     4.0% Heavy Operations", "    36.0% Light Operations"],
        &["     8.0% Branch Mispredict", "     2.0% Machine Clears"],
        &["     5.0% Fetch Latency", "    15.0% Fetch Bandwidth"],
        &["    21.0% Memory Bound", "     9.0% Core Bound"],
    ];
    for (line, expected) in said_both.iter().zip(expected) {
        assert_eq!(line, expected);
    }
    let zero = said_of(&events, [0.0; 8].into_iter());
    assert_eq!(zero[0], ["- Retiring"]);
    // One of the four is missing: shares of what?
    assert!(
        said_of(&events[..3], counts.into_iter())
            .concat()
            .is_empty()
    );
}

#[test]
fn older_pipelines_are_told_from_five_counts() {
    let events: Vec<StatEvent> = (0..5)
        .map(|nth| event("topdown", Some(Role::Pipeline(nth))))
        .collect();
    // Of 100 slots 50 issued, 40 retired, 20 bubbles, 5 recovery.
    let said = said_of(&events, [100.0, 50.0, 40.0, 20.0, 5.0].into_iter());
    let expected = [
        &[][..],
        &["    25.0% backend bound"],
        &["    40.0% retiring"],
        &["    20.0% frontend bound"],
        &["    15.0% bad speculation"],
    ];
    for (line, expected) in said.iter().zip(expected) {
        assert_eq!(line, expected);
    }
}

#[test]
fn what_users_define_stands_beside_its_first_event() {
    let names = crate::Names {
        metrics: &[],
        is_event: &|name| ["instructions", "cycles", "branches"].contains(&name),
        n_cpus: 1,
    };
    let metric = |text: &str, events: [Vec<usize>; 2]| MetricOfEvents {
        metric: crate::DefinedMetric::parse(text, names).unwrap(),
        events: events.to_vec(),
    };
    let events = ["cycles", "instructions", "branches"].map(|name| event(name, None));
    let rows = [50.0, 100.0, 0.0].map(|count| vec![row(count)]);
    let metrics = [
        metric("ipc=instructions/cycles", [vec![1], vec![0]]),
        metric("both=instructions/cycles", [vec![1], vec![0, 1]]),
        metric("odd=instructions/branches", [vec![1], vec![2]]),
        metric("gone=instructions/branches", [vec![1], vec![9]]),
    ];
    let counted = Counted {
        events: &events,
        rows: &rows,
        metrics: &metrics,
        wall_ns: 1e9,
    };
    assert!(counted.metrics(2, &rows[2][0]).is_empty());
    let shown = counted.metrics(1, &rows[1][0]);
    let values: Vec<_> = shown
        .iter()
        .map(|one| (&one.unit[..], one.value, one.why_none))
        .collect();
    assert_eq!(
        values,
        [
            ("ipc", Some(2.0), None),
            ("both", Some(100.0 / 150.0), None),
            ("odd", None, Some("div by 0")),
            ("gone", None, Some("not counted")),
        ]
    );
}
