//! Records beside samples, and times since others: what perf prints with the same flags.

use crate::common::{corpus, fixtures, needs, perf, rprof, run, scratch};
use crate::script::program;
use rprof_abi::record::TextPoke;
use rprof_abi::{
    AttrFlags, Endian, Misc, PerfEventAttr, Record, SampleId, SampleLayout, SampleType, event_type,
};
use rprof_perfdata::{Writer, WrittenEvent};
use std::path::Path;

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

/// Nobody can be made to patch the kernel here: the records are written.
#[test]
fn changes_of_the_kernels_code_are_printed_as_by_perf() {
    needs!(perf);
    let dir = scratch();
    let file = dir.path().join("perf.data");
    let bits = [SampleType::IDENTIFIER, SampleType::TID, SampleType::TIME];
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
    let code: Vec<u8> = (0..20).collect();
    let mut records = Vec::new();
    for (time_ns, old, new) in [(1, 5, 5), (2, 16, 20), (3, 0, 17)] {
        let poke = Record::TextPoke(TextPoke {
            addr: 0xffff_ffff_8100_0010,
            old: &code[..old],
            new: &code[..new],
        });
        let id = SampleId {
            id: Some(1),
            pid: Some(7),
            tid: Some(7),
            time_ns: Some(time_ns * 1_000_000_000),
            ..SampleId::default()
        };
        poke.encode(Misc::KERNEL, &id, &layout, &mut records)
            .unwrap();
    }
    let event = WrittenEvent {
        name: "dummy".to_owned(),
        attr,
        ids: vec![1],
    };
    let opened = std::fs::File::create(&file).unwrap();
    let mut writer = Writer::start(opened, &file, &[event], Vec::new()).unwrap();
    writer.write(&records).unwrap();
    writer.finish(Vec::new()).unwrap();
    assert_eq!(same(&file, &["--show-text-poke-events"]), 3);
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
