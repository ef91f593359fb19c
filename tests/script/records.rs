//! Records beside samples, and times since others: what perf prints with the same flags.

use crate::common::{corpus, fixtures, needs, perf, rprof, run, scratch};
use crate::script::program;
use rprof_abi::record::{Comm, Switch, SwitchCpuWide, TextPoke};
use rprof_abi::{
    AttrFlags, Endian, Misc, PerfEventAttr, Record, SampleId, SampleLayout, SampleType, event_type,
};
use rprof_perfdata::{Writer, WrittenEvent};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// perf's flags that we have.
const KINDS: [&str; 8] = [
    "--show-task-events",
    "--show-mmap-events",
    "--show-namespace-events",
    "--show-cgroup-events",
    "--show-switch-events",
    "--show-lost-events",
    "--show-bpf-events",
    "--show-text-poke-events",
];

/// Compares both with flags; returns how many records were printed.
#[track_caller]
fn same(file: &Path, flags: &[&str]) -> usize {
    let fields = ["script", "-F", "comm,tid,misc,time,event"];
    let theirs = run(perf(fields).args(flags).arg("-i").arg(file))
        .ok()
        .stdout;
    let ours = run(rprof(fields).args(flags).arg("-i").arg(file))
        .ok()
        .stdout;
    for (line, (our, their)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our, their, "line {line} of {}, {flags:?}", file.display());
    }
    assert_eq!(ours.lines().count(), theirs.lines().count(), "{flags:?}");
    ours.matches(" PERF_RECORD_").count()
}

#[test]
fn records_stand_among_samples_as_perf_has_them() {
    let Some(program) = program() else {
        return;
    };
    let flags = [
        "-F",
        "499",
        "-e",
        "cpu-clock:u",
        "--namespaces",
        "--switch-events",
    ];
    let file = program.record_by_perf(&flags, &[]).file;
    let each: usize = KINDS.iter().map(|kind| same(&file, &[kind])).sum();
    assert_eq!(same(&file, &KINDS), each);
    assert_eq!(same(&file, &[]), 0);
    for kind in [
        "--show-task-events",
        "--show-mmap-events",
        "--show-switch-events",
    ] {
        assert!(same(&file, &[kind]) > 3, "{kind}");
    }
    for times in [&["--deltatime"][..], &["--reltime"], &["--reltime", "--ns"]] {
        same(&file, times);
        same(&file, &[&KINDS, times].concat());
    }
}

#[test]
fn records_of_old_and_foreign_recordings_are_printed_as_by_perf() {
    needs!(perf);
    let mut files = vec![
        fixtures().join("spin/perf.data"),
        fixtures().join("dwarf/perf.data"),
    ];
    if let Some(corpus) = corpus() {
        let names = [
            "linux-perf-data/sleep.compressed.pipe.data",
            "quipper/perf.data.branch-4.14",
            "quipper/perf.data.ctx_switch_namespaces-4.14",
            "quipper/perf.data.hybrid_topology",
            "quipper/perf.data.piped.lost_samples-4.4",
            "quipper/perf.data.remmap-3.2",
            "big-endian/perf.data.singleprocess-3.8.be",
        ];
        files.extend(names.map(|name| corpus.join(name)));
    }
    for file in &files {
        assert!(same(file, &KINDS) > 3, "{}", file.display());
        same(file, &[&KINDS[..], &["--deltatime"]].concat());
    }
}

#[test]
fn rounds_end_where_perf_says_so() {
    let Some(program) = program() else {
        return;
    };
    let recorded = program.record_by_perf(&["-F", "499", "-e", "cpu-clock:u"], &[]);
    let mut n_rounds = 0;
    for file in [recorded.file, fixtures().join("spin/perf.data")] {
        // In the file's order, perf knows names that come later.
        let words = ["script", "-F", "tid,time,event", "--show-round-events"];
        let theirs = run(perf(words).arg("-i").arg(&file)).ok().stdout;
        let ours = run(rprof(words).arg("-i").arg(&file)).ok().stdout;
        crate::script::assert_same("rounds", &ours, &theirs);
        n_rounds += ours.matches("PERF_RECORD_FINISHED_ROUND\n").count();
    }
    assert!(n_rounds >= 2, "{n_rounds}");
}

/// A recording of records, each with its time in seconds and its thread.
fn written(records: &[(Misc, Record<'_>, u64, i32)]) -> (TempDir, PathBuf) {
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let bits = [
        SampleType::IDENTIFIER,
        SampleType::TID,
        SampleType::TIME,
        SampleType::CPU,
    ];
    let attr = PerfEventAttr {
        kind: event_type::SOFTWARE,
        config: 9,
        sample_type: bits
            .into_iter()
            .fold(SampleType::default(), SampleType::with),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    let mut bytes = Vec::new();
    for (misc, record, seconds, tid) in records {
        let id = SampleId {
            id: Some(1),
            pid: Some(7),
            tid: Some(*tid),
            time_ns: Some(seconds * 1_000_000_000),
            cpu: Some(3),
            ..SampleId::default()
        };
        record.encode(*misc, &id, &layout, &mut bytes).unwrap();
    }
    let event = WrittenEvent {
        name: "dummy".to_owned(),
        attr,
        ids: vec![1],
    };
    let opened = std::fs::File::create(&file).unwrap();
    let mut writer = Writer::start(opened, &file, &[event], Vec::new()).unwrap();
    writer.write(&bytes).unwrap();
    writer.finish(Vec::new()).unwrap();
    (dir, file)
}

/// Nobody can be made to patch the kernel here: the records are written.
#[test]
fn changes_of_the_kernels_code_are_printed_as_by_perf() {
    needs!(perf);
    let code: Vec<u8> = (0..20).collect();
    let poke = |(time, old, new): (u64, usize, usize)| {
        let poke = Record::TextPoke(TextPoke {
            addr: 0xffff_ffff_8100_0010,
            old: &code[..old],
            new: &code[..new],
        });
        (Misc::KERNEL, poke, time, 7)
    };
    let (_dir, file) = written(&[(1, 5, 5), (2, 16, 20), (3, 0, 17)].map(poke));
    assert_eq!(same(&file, &["--show-text-poke-events"]), 3);
}

#[test]
fn switches_are_in_json_too() {
    let out = Misc::SWITCH_OUT;
    let preempted = Misc(out.0 | Misc::SWITCH_OUT_PREEMPT.0);
    let wide = |other: i32| {
        Record::SwitchCpuWide(SwitchCpuWide {
            next_prev_pid: other,
            next_prev_tid: other + 1,
        })
    };
    let comm = Record::Comm(Comm {
        pid: 7,
        tid: 8,
        comm: b"worker",
    });
    let (_dir, file) = written(&[
        (Misc::default(), comm, 1, 8),
        (preempted, Record::Switch(Switch), 2, 8),
        (Misc::default(), Record::Switch(Switch), 3, 8),
        (out, wide(40), 4, 8),
        (Misc::default(), wide(50), 5, 8),
    ]);
    let lines = |flags: &[&str]| {
        let mut script = rprof(["script", "--json"]);
        let text = run(script.args(flags).arg("-i").arg(&file)).ok().stdout;
        let lines = text.lines().skip(1);
        let lines = lines.map(|line| serde_json::from_str(line).expect(line));
        lines.collect::<Vec<serde_json::Value>>()
    };
    let head = |record: &str, second: u64| {
        serde_json::json!({
            "record": record, "time_ns": second * 1_000_000_000, "cpu": 3, "pid": 7, "tid": 8, "comm": "worker",
        })
    };
    let with = |mut head: serde_json::Value, more: serde_json::Value| {
        let more = more.as_object().unwrap().clone();
        head.as_object_mut().unwrap().extend(more);
        head
    };
    let expected = [
        with(
            head("SWITCH", 2),
            serde_json::json!({"switch": "out", "preempted": true}),
        ),
        with(head("SWITCH", 3), serde_json::json!({"switch": "in"})),
        with(
            head("SWITCH_CPU_WIDE", 4),
            serde_json::json!({"switch": "out", "preempted": false, "next_pid": 40, "next_tid": 41}),
        ),
        with(
            head("SWITCH_CPU_WIDE", 5),
            serde_json::json!({"switch": "in", "prev_pid": 50, "prev_tid": 51}),
        ),
    ];
    assert_eq!(lines(&["--show-switch-events"]), expected);
    assert_eq!(lines(&[]), [] as [serde_json::Value; 0]);
    let late = ["--show-switch-events", "--time", "4,4", "-F", "time"];
    let keys = |line: &serde_json::Value| line.as_object().unwrap().len();
    assert_eq!(lines(&late).iter().map(keys).collect::<Vec<_>>(), [6]);
    let mut tasks = rprof(["script", "--json", "--show-task-events", "-i"]);
    let said = run(tasks.arg(&file)).fails(2);
    assert!(said.contains("--show-task-events"), "{said}");
}

#[test]
fn chains_stop_where_perfs_do() {
    let Some(program) = program() else {
        return;
    };
    let file = program
        .record_by_perf(&["-F", "499", "-g", "-e", "cpu-clock:u"], &[])
        .file;
    let both = |stop: &str| {
        let args = [
            "script",
            "--no-inline",
            "-F",
            "comm,time,ip,sym",
            "--stop-bt",
            stop,
        ];
        let theirs = run(perf(args).arg("-i").arg(&file)).ok().stdout;
        let ours = run(rprof(args).arg("-i").arg(&file)).ok().stdout;
        crate::script::assert_same(stop, &ours, &theirs);
        ours
    };
    let whole = both("none");
    let cut = both("touch,deep");
    assert!(whole.contains(" deep\n\t"), "{whole}");
    assert!(!cut.contains(" deep\n\t"), "{cut}");
    assert!(cut.lines().count() < whole.lines().count());
    let mut json = rprof([
        "script",
        "--json",
        "-F",
        "comm,ip,sym",
        "--stop-bt",
        "leaf",
        "-i",
    ]);
    let json = run(json.arg(&file)).ok().stdout;
    assert!(
        json.contains("\"leaf\"}]") && !json.contains("\"leaf\"},{"),
        "{json}"
    );
}

#[test]
fn records_outside_of_the_time_asked_for_are_left_out() {
    let file = fixtures().join("spin/perf.data");
    let script = |time: &str| {
        let mut ours = rprof(["script", "-G", "--show-mmap-events", "--time", time, "-i"]);
        run(ours.arg(&file)).ok().stdout
    };
    assert!(script("0,").contains("PERF_RECORD_MMAP"));
    let late = script("5179.1,");
    assert!(
        late.contains("cpu-clock") && !late.contains("PERF_RECORD"),
        "{late}"
    );
    let mut both = rprof(["script", "--deltatime", "--reltime", "-i"]);
    run(both.arg(&file)).fails(2);
}
