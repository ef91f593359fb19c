//! A folder with tables of several recordings, and what engines answer to the queries.

use crate::common::{Recording, fixtures, has, run, run_from, scratch, skipped, tool, write};
use crate::export::made::{MadeSample, SECOND, made_event, record, record_with};
use rprof_abi::{AttrFlags, Encoder, Endian, Misc, event_type, sw};
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::SpanEdge;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Two of these are more than INT64 holds.
pub(super) const HUGE: u64 = 9_000_000_000_000_000_000;

/// A folder with tables of several recordings.
pub(super) struct Tables {
    dir: TempDir,
    /// Of machine `vm`.
    pub(super) spin: Recording,
    /// Of machine `07`: the same work of another build, later.
    pub(super) rebuilt: Recording,
    /// Of machine `fixture`.
    pub(super) dwarf: Recording,
}

/// Which part of `rebuilt` is exported: all of it within one second.
pub(super) const LATER: [&str; 2] = ["--time", "70%-100%"];

impl Tables {
    #[track_caller]
    pub(super) fn write() -> Self {
        let dir = scratch();
        let spin = Recording::fixture("spin");
        let rebuilt = rebuilt(&spin, dir.path());
        let dwarf = Recording::fixture("dwarf");
        spin.tables(dir.path(), &[]);
        rebuilt.tables(dir.path(), &LATER);
        dwarf.tables(dir.path(), &[]);
        // Four seconds of ten samples: in every other second all are of the kernel, then half of each second's.
        let in_phases = |second: u64, _: u64| second.is_multiple_of(2);
        let evenly = |_: u64, number: u64| number.is_multiple_of(2);
        for (name, start, is_kernel) in [
            ("before.data", 2, &in_phases as &dyn Fn(u64, u64) -> bool),
            ("after.data", 8, &evenly),
        ] {
            let mut seconds = Recording::fixture("spin");
            seconds.file = dir.path().join(name);
            record_seconds(&seconds.file, start, is_kernel);
            seconds.tables(dir.path(), &[]);
        }
        let mut waits = Recording::fixture("spin");
        waits.file = dir.path().join("waits.data");
        record_waits(&waits.file);
        waits.tables(dir.path(), &["--off-cpu"]);
        let mut spans = Recording::fixture("spin");
        spans.file = dir.path().join("spans.data");
        record_spans(&spans.file);
        spans.tables(dir.path(), &[]);
        for (name, start) in [("huge.data", 20), ("huge again.data", 30)] {
            let mut huge = Recording::fixture("spin");
            huge.file = dir.path().join(name);
            record_huge(&huge.file, start);
            huge.tables(dir.path(), &[]);
        }
        leave_unlisted(dir.path());
        Self {
            dir,
            spin,
            rebuilt,
            dwarf,
        }
    }

    /// What an engine answers; `None` where it is missing.
    #[track_caller]
    pub(super) fn ask(&self, engine: &str, module: &str) -> Option<Answers> {
        if !has("python3", "python3") {
            return None;
        }
        let import = format!("import {module}");
        if !run(tool("python3").args(["-c", &import])).status.success() {
            skipped(&format!(
                "{module} (pip install -r tests/export/requirements.txt)"
            ));
            return None;
        }
        let sql = fixtures().join("../crates/export/sql");
        let read = |path: &str| fs::read_to_string(sql.join(path)).unwrap();
        let views = read(&format!("views/{engine}.sql"));
        let mut statements: Vec<String> = views.split(";\n").map(str::to_owned).collect();
        statements.retain(|statement| !statement.trim().is_empty());
        for asked in QUERIES {
            let mut query = read(asked.file);
            for (old, new) in asked.edits {
                assert!(query.contains(old), "{}: {old}", asked.file);
                query = query.replace(old, new);
            }
            statements.push(query.trim_end().trim_end_matches(';').to_owned());
        }
        let asked = self.dir.path().join("statements.json");
        write(&asked, &serde_json::to_vec(&statements).unwrap());
        let mut python = tool("python3");
        python
            .arg(fixtures().join("../tests/export/ask.py"))
            .arg(engine);
        let answer = run_from(python.current_dir(self.dir.path()), &asked).ok();
        let rows = answer
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        Some(QUERIES.iter().map(|query| query.answer).zip(rows).collect())
    }
}

/// The rows of each query.
pub(super) type Answers = BTreeMap<&'static str, Vec<Value>>;

const ONE_MACHINE: (&str, &str) = ("FROM samples\n", "FROM samples WHERE machine = 'vm'\n");

/// A query that is asked.
pub(super) struct Query {
    /// What its answer is called.
    answer: &'static str,
    file: &'static str,
    /// What a user would change in it.
    edits: &'static [(&'static str, &'static str)],
}

impl Query {
    const fn new(
        answer: &'static str,
        file: &'static str,
        edits: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            answer,
            file,
            edits,
        }
    }
}

pub(super) const QUERIES: &[Query] = &[
    Query::new("functions", "top_functions.sql", &[]),
    Query::new(
        "children",
        "top_functions_with_children.sql",
        &[ONE_MACHINE],
    ),
    Query::new(
        "callers",
        "callers_of.sql",
        &[("'main'", "'cold'"), ONE_MACHINE],
    ),
    Query::new("stacks", "folded.sql", &[ONE_MACHINE]),
    Query::new("cores", "cores_by_function.sql", &[]),
    Query::new("waits", "off_cpu_by_cause.sql", &[]),
    Query::new("spans", "slowest_spans.sql", &[]),
    Query::new("losses", "losses_by_machine.sql", &[]),
    Query::new(
        "builds",
        "diff.sql",
        &[
            ("source = 'before.data'", "machine = 'vm'"),
            ("source = 'after.data'", "machine = '07'"),
        ],
    ),
    Query::new("seconds", "diff.sql", &[]),
    Query::new(
        "whole",
        "diff.sql",
        &[
            ("'before.data'", "'huge.data'"),
            ("'after.data'", "'huge again.data'"),
            ("samples >= 10", "samples >= 1"),
        ],
    ),
    Query::new("misspelt", "diff.sql", &[("'before.data'", "'befor.data'")]),
    Query::new(
        "releases",
        "regressions_by_release.sql",
        &[("'program'", "'spin'")],
    ),
];

/// The recording of another build on another machine, whose name engines could take for a number.
fn rebuilt(spin: &Recording, dir: &Path) -> Recording {
    const BUILD_ID: [u8; 4] = [0x49, 0xd8, 0xc2, 0x58];
    let program = "tmp/rprof-fixture/spin";
    let root = dir.join("root");
    fs::create_dir_all(root.join(program).parent().unwrap()).unwrap();
    let file = dir.join("rebuilt.data");
    let original = spin.root.as_ref().unwrap().join(program);
    for (from, to) in [(&spin.file, &file), (&original, &root.join(program))] {
        let mut bytes = fs::read(from).unwrap();
        replace(&mut bytes, &BUILD_ID, &[0xf0, 0xd8, 0xc2, 0x58]);
        if to == &file {
            replace(&mut bytes, b"\x40\0\0\0vm\0\0", b"\x40\0\0\x0007\0\0");
        }
        write(to, &bytes);
    }
    Recording {
        file,
        root: Some(root),
        stderr: String::new(),
    }
}

/// Replaces bytes wherever they are.
#[track_caller]
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let found: Vec<usize> = (0..bytes.len())
        .filter(|&at| bytes[at..].starts_with(old))
        .collect();
    assert!(!found.is_empty(), "{old:?}");
    for at in found {
        bytes[at..at + new.len()].copy_from_slice(new);
    }
}

/// Writes a recording of four seconds of CPU time and of a page fault.
fn record_seconds(path: &Path, start: u64, is_kernel: &dyn Fn(u64, u64) -> bool) {
    let software = |name, config, period| {
        let kind = (event_type::SOFTWARE, config);
        made_event(name, kind, period, AttrFlags::default())
    };
    let events = vec![
        software("cpu-clock", 0, SECOND / 10),
        software("page-faults", 2, 1),
    ];
    let mut samples = Vec::new();
    for second in start..start + 4 {
        samples.extend((0..10).map(|number| MadeSample {
            event: 0,
            time_ns: second * SECOND + number * SECOND / 10,
            misc: if is_kernel(second, number) {
                Misc::KERNEL
            } else {
                Misc::USER
            },
        }));
    }
    samples.push(MadeSample {
        event: 1,
        time_ns: (start + 4) * SECOND,
        misc: Misc::USER,
    });
    record(path, events, &samples);
}

/// Writes a recording of two waits of a second and a half, as perf writes them.
fn record_waits(path: &Path) {
    let event = made_event(
        "offcpu-time",
        (event_type::SOFTWARE, sw::BPF_OUTPUT),
        3 * SECOND / 2,
        AttrFlags::default(),
    );
    let wait = |time_ns| MadeSample {
        event: 0,
        time_ns,
        misc: Misc::USER,
    };
    record(path, vec![event], &[wait(40 * SECOND), wait(42 * SECOND)]);
}

/// Writes a recording of two requests: one takes 400 ms, the other 200. Samples are all 100 ms.
fn record_spans(path: &Path) {
    let event = |name, kind, period| made_event(name, kind, period, AttrFlags::default());
    let edge = |name| event(name, (event_type::SOFTWARE, sw::BPF_OUTPUT), 1);
    let cycles = event("cycles", (event_type::HARDWARE, 0), SECOND / 10);
    let events = vec![cycles, edge("begin"), edge("end")];
    let mut section = Vec::new();
    let edges = [(1, 0), (2, 1)].map(|(event_idx, is_end)| SpanEdge {
        name: b"request".to_vec(),
        event_idx,
        is_end,
    });
    SpanEdge::encode_all(&edges, &mut Encoder::new(&mut section, Endian::NATIVE));
    let samples = [
        (1, 500),
        (0, 501),
        (0, 502),
        (0, 503),
        (2, 504),
        (1, 510),
        (0, 511),
        (2, 512),
        (0, 520),
    ];
    let samples = samples.map(|(event, tenths)| MadeSample {
        event,
        time_ns: tenths * SECOND / 10,
        misc: Misc::USER,
    });
    let features = vec![(FeatureId::SPANS, section)];
    record_with(path, (events, features), &samples);
}

/// Writes a recording of one sample, which weighs as much as the tables can hold, nearly.
fn record_huge(path: &Path, start: u64) {
    let event = made_event("huge", (event_type::RAW, 0), HUGE, AttrFlags::default());
    let sample = MadeSample {
        event: 0,
        time_ns: start * SECOND,
        misc: Misc::USER,
    };
    record(path, vec![event], &[sample]);
}

/// Exports a recording and takes it from the list, as if the export had been killed: its samples count nowhere.
#[track_caller]
fn leave_unlisted(dir: &Path) {
    let listed = || {
        let found = run(tool("find")
            .arg(dir.join("profiles/recordings"))
            .args(["-type", "f"]));
        let lines = found.ok().stdout;
        lines.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let before = listed();
    let mut killed = Recording::fixture("spin");
    killed.file = dir.join("killed.data");
    record_seconds(&killed.file, 40, &|_, _| true);
    killed.tables(dir, &[]);
    let new: Vec<String> = listed().difference(&before).cloned().collect();
    assert_eq!(new.len(), 1, "{new:?}");
    fs::remove_file(&new[0]).unwrap();
}
