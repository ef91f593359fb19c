//! Counts that no machine here has, in each of the forms.

use super::*;
use crate::runs::Runs;
use crate::unit::Unit;
use rprof_events::{Sources, parse_events};

fn event(name: &str) -> StatEvent {
    let event = &parse_events(name, &Sources::default()).unwrap()[0];
    StatEvent {
        unit: Unit::of(event, &Sources::default()),
        ..StatEvent::new(&event.name, &event.attr)
    }
}

fn row(key: Key, count: f64, running_ns: f64) -> Row {
    Row {
        key,
        n: 2,
        count,
        enabled_ns: 2e9,
        running_ns,
        noise_percent: 0.0,
    }
}

fn style(form: CountForm, metric_only: bool) -> Style {
    Style {
        form,
        big_numbers: true,
        metric_only,
        table: false,
        summary: false,
    }
}

/// One event took turns, one never had one, one is not there.
fn written(style: &Style, aggregation: Aggregation, at: Option<Duration>) -> String {
    let mut events = [
        "task-clock",
        "cycles",
        "instructions",
        "branches",
        "branch-misses",
    ]
    .map(event);
    events[4].state = EventState::NotSupported;
    let keys = match aggregation {
        Aggregation::Global => vec![Key::Global],
        Aggregation::Socket => vec![Key::Socket(0), Key::Socket(1)],
        _ => vec![Key::Cpu(0), Key::Cpu(1)],
    };
    let rows = [
        (2e9, 2e9),
        (4_000_000_000.0, 2e9),
        (6_000_000_000.0, 5e8),
        (0.0, 0.0),
    ];
    let mut rows: Vec<Vec<Row>> = rows
        .map(|(count, running)| keys.iter().map(|&key| row(key, count, running)).collect())
        .to_vec();
    rows.push(Vec::new());
    let span = Span {
        counted: Counted {
            events: &events,
            rows: &rows,
            metrics: &[],
            wall_ns: 1e9,
        },
        threads: &[],
        at,
    };
    let mut printer = Printer {
        style,
        aggregation,
        title: "'./work'".to_owned(),
        is_interval: at.is_some(),
        is_repeated: false,
        n_headed: 0,
    };
    let mut out = Vec::new();
    printer.head(&span, &mut out).unwrap();
    printer.counts(&span, &mut out).unwrap();
    let mut runs = Runs::default();
    runs.add(&rows, 1.0);
    let times = (Duration::from_millis(1500), Duration::from_millis(250));
    let footer = Footer { cpu: Some(times) };
    footer.write(&printer, &runs, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn people_read_lines() {
    let text = written(&style(CountForm::Text, false), Aggregation::Global, None);
    assert_eq!(
        text,
        "
 Performance counter stats for './work':

          2,000.00 msec task-clock                       #    2.000 CPUs utilized
     4,000,000,000      cycles                           #    2.000 GHz
     6,000,000,000      instructions                     #    1.50  insn per cycle              (25.00%)
     <not counted>      branches
   <not supported>      branch-misses

       1.000000000 seconds time elapsed

       1.500000000 seconds user
       0.250000000 seconds sys

"
    );
}

#[test]
fn programs_read_fields() {
    let csv = CountForm::Csv(";".to_owned());
    let text = written(&style(csv.clone(), false), Aggregation::Global, None);
    assert_eq!(
        text,
        "2000.00;msec;task-clock;2000000000;100.00;2.000;CPUs utilized
4000000000;;cycles;2000000000;100.00;2.000;GHz
6000000000;;instructions;500000000;25.00;1.50;insn per cycle
<not counted>;;branches;0;0.00;;
<not supported>;;branch-misses;0;100.00;;
"
    );
    let at = Some(Duration::from_millis(1500));
    let text = written(&style(csv, false), Aggregation::Socket, at);
    let first = text.lines().next().unwrap();
    let expected =
        "     1.500000000;S0;2;2000.00;msec;task-clock;2000000000;100.00;2.000;CPUs utilized";
    assert_eq!(first, expected);
    // What belongs to a socket stands together.
    let sockets: Vec<&str> = text
        .lines()
        .map(|line| line.split(';').nth(1).unwrap())
        .collect();
    assert_eq!(sockets, [["S0"; 5], ["S1"; 5]].concat());
}

#[test]
fn each_object_is_json() {
    let at = Some(Duration::from_millis(10));
    let text = written(&style(CountForm::Json, false), Aggregation::Cpu, at);
    for line in text.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["interval"], 0.01);
        assert!(object["cpu"] == "0" || object["cpu"] == "1");
    }
    // By event, then by CPU.
    let first = text.lines().nth(1).unwrap();
    assert_eq!(
        first,
        "{\"interval\" : 0.010000000, \"cpu\" : \"1\", \"counter-value\" : \"2000.000000\", \"unit\" : \"msec\", \
         \"event\" : \"task-clock\", \"event-runtime\" : 2000000000, \"pcnt-running\" : 100.00, \
         \"metric-value\" : 2.000000, \"metric-unit\" : \"CPUs utilized\"}"
    );
}

#[test]
fn metrics_alone_have_a_line_for_each_key() {
    let text = written(&style(CountForm::Text, true), Aggregation::Cpu, None);
    let lines: Vec<&str> = text.lines().collect();
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(lines[3]), ["GHz", "insn", "per", "cycle"]);
    assert_eq!(words(lines[4]), ["CPU0", "2.000", "1.50"]);
    let csv = written(
        &style(CountForm::Csv(",".into()), true),
        Aggregation::Global,
        None,
    );
    assert_eq!(csv, "GHz,insn per cycle\n2.000,1.50\n");
    let json = written(&style(CountForm::Json, true), Aggregation::Global, None);
    assert_eq!(json, "{\"GHz\":2.0,\"insn per cycle\":1.5}\n");
}

#[test]
fn what_is_counted_on_other_cpus_only_is_shown() {
    let events = ["task-clock", "cycles"].map(event);
    let rows = [vec![row(Key::Global, 1e9, 1e9)], Vec::new()];
    let style = style(CountForm::Csv(",".to_owned()), false);
    let printer = Printer {
        style: &style,
        aggregation: Aggregation::Global,
        title: String::new(),
        is_interval: false,
        is_repeated: false,
        n_headed: 0,
    };
    let span = Span {
        counted: Counted {
            events: &events,
            rows: &rows,
            metrics: &[],
            wall_ns: 1e9,
        },
        threads: &[],
        at: None,
    };
    let mut out = Vec::new();
    printer.counts(&span, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(
        text.lines().nth(1),
        Some("<not counted>,,cycles,0,100.00,,")
    );
}

#[test]
fn columns_stay_where_the_head_has_them() {
    let events = [
        "task-clock",
        "cycles",
        "instructions",
        "stalled-cycles-backend",
    ]
    .map(event);
    let style = style(CountForm::Csv(",".to_owned()), true);
    let mut printer = Printer {
        style: &style,
        aggregation: Aggregation::Cpu,
        title: String::new(),
        is_interval: true,
        is_repeated: false,
        n_headed: 0,
    };
    let mut out = Vec::new();
    // An interval in which nothing runs, then one with work; CPU 1 has no cycles to be counted.
    for counts in [[0.0; 4], [1e9, 2e9, 4e9, 1e9]] {
        let keys = |nth| if nth == 1 { &[0][..] } else { &[0, 1] };
        let of = |(nth, count): (usize, f64)| {
            let rows = keys(nth)
                .iter()
                .map(|&cpu| row(Key::Cpu(cpu), count, count));
            rows.collect::<Vec<Row>>()
        };
        let rows: Vec<Vec<Row>> = counts.into_iter().enumerate().map(of).collect();
        let span = Span {
            counted: Counted {
                events: &events,
                rows: &rows,
                metrics: &[],
                wall_ns: 1e9,
            },
            threads: &[],
            at: Some(Duration::from_secs(1)),
        };
        printer.head(&span, &mut out).unwrap();
        printer.counts(&span, &mut out).unwrap();
    }
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split(',').skip(1).collect())
        .collect();
    assert_eq!(
        lines,
        [
            [
                "cpu",
                "GHz",
                "insn per cycle",
                "stalled cycles per insn",
                "backend cycles idle"
            ],
            ["CPU0", "", "", "", ""],
            ["CPU1", "", "", "", ""],
            ["CPU0", "2.000", "2.00", "0.25", "50.00"],
            ["CPU1", "", "", "0.25", ""],
        ]
    );
}

#[test]
fn heads_come_again_after_25_intervals() {
    let style = style(CountForm::Text, false);
    let mut printer = Printer {
        style: &style,
        aggregation: Aggregation::Global,
        title: String::new(),
        is_interval: true,
        is_repeated: false,
        n_headed: 0,
    };
    let span = Span {
        counted: Counted {
            events: &[],
            rows: &[],
            metrics: &[],
            wall_ns: 1.0,
        },
        threads: &[],
        at: Some(Duration::from_secs(1)),
    };
    let mut out = Vec::new();
    for _ in 0..53 {
        printer.head(&span, &mut out).unwrap();
    }
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count(), 3);
    assert_eq!(
        text.lines().next().unwrap(),
        "#           time             counts unit events"
    );
}
