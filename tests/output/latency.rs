//! Shares of the time that passed, of a recording whose threads run at known times.

use crate::common::{report, rprof, run, scratch};
use rprof_abi::record::{Record, Switch, Task};
use rprof_abi::{
    AttrFlags, Endian, Misc, PerfEventAttr, Sample, SampleId, SampleLayout, SampleType,
};
use rprof_perfdata::{Writer, WrittenEvent};
use std::fs::File;
use std::path::Path;

/// What happens to a thread at a time.
enum Moment {
    Begins,
    Ceases,
    Exits,
    Sample,
}

/// A recording of a process, each sample of weight 100.
fn record(path: &Path, flags: AttrFlags, moments: &[(u64, i32, Moment)]) {
    let types = [SampleType::IP, SampleType::TID, SampleType::TIME];
    let types = types.into_iter();
    let attr = PerfEventAttr {
        sample_type: types.fold(SampleType::IDENTIFIER, SampleType::with),
        flags,
        sample_period: 100,
        ..PerfEventAttr::default()
    };
    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    let mut records = Vec::new();
    for &(time_ns, tid, ref moment) in moments {
        let id = SampleId {
            pid: Some(10),
            tid: Some(tid),
            time_ns: Some(time_ns),
            id: Some(5),
            ..SampleId::default()
        };
        let (misc, record) = match moment {
            Moment::Begins => (Misc(0), Record::Switch(Switch)),
            Moment::Ceases => (Misc::SWITCH_OUT, Record::Switch(Switch)),
            Moment::Exits => {
                let task = Task {
                    pid: 10,
                    ppid: 1,
                    tid,
                    ptid: 1,
                    time_ns,
                };
                (Misc(0), Record::Exit(task))
            }
            Moment::Sample => {
                let sample = Sample {
                    id: Some(5),
                    ip: Some(0x1000),
                    pid: Some(10),
                    tid: Some(tid),
                    time_ns: Some(time_ns),
                    ..Sample::default()
                };
                (Misc::USER, Record::Sample(Box::new(sample)))
            }
        };
        record.encode(misc, &id, &layout, &mut records).unwrap();
    }
    let event = WrittenEvent {
        name: "cycles".to_owned(),
        attr,
        ids: vec![5],
    };
    let file = File::create(path).unwrap();
    let mut writer = Writer::start(file, path, &[event], Vec::new()).unwrap();
    writer.write(&records).unwrap();
    writer.finish(Vec::new()).unwrap();
}

#[test]
fn a_sample_counts_by_the_threads_that_run() {
    use Moment::{Begins, Ceases, Exits, Sample};
    let dir = scratch();
    let path = dir.path().join("perf.data");
    // One thread runs from the beginning on; for a time there are two.
    let moments = [
        (10, 10, Sample),
        (20, 11, Begins),
        (30, 10, Sample),
        (30, 11, Sample),
        (40, 10, Ceases),
        (50, 11, Sample),
        (60, 11, Sample),
        (70, 11, Exits),
        (80, 10, Begins),
        (90, 10, Sample),
        (100, 10, Ceases),
    ];
    record(
        &path,
        AttrFlags::SAMPLE_ID_ALL.with(AttrFlags::CONTEXT_SWITCH),
        &moments,
    );
    let rows = |args: &[&str]| {
        let csv = report(
            &path,
            &[&["--format", "csv", "--no-debuginfod"], args].concat(),
        );
        let lines = csv.lines().skip(1);
        lines
            .map(|line| line.split(" :").next().unwrap_or(line).to_owned())
            .collect::<Vec<_>>()
    };
    // Of 500, thread 10 has 100 + 50 + 100, thread 11 has 50 + 200.
    assert_eq!(
        rows(&["--latency", "-s", "parallelism"]),
        ["80.00,66.67,1", "20.00,33.33,2"]
    );
    // perf's limit, too, is of CPU time.
    let above = |limit| {
        let args = ["--latency", "-s", "parallelism", "--percent-limit", limit];
        rows(&args).len()
    };
    assert_eq!((above("30"), above("60"), above("70")), (2, 1, 0));
    assert_eq!(
        rows(&["-F", "latency,sample,parallelism,tid"]).len(),
        4,
        "two threads, alone and together"
    );
    let by_thread = report(&path, &["--latency", "-s", "tid", "-n", "-q"]);
    let cells: Vec<&str> = by_thread.split_whitespace().collect();
    assert_eq!(
        (cells[0], cells[1], cells[2]),
        ("50.00%", "50.00%", "3"),
        "{by_thread}"
    );
    assert_eq!(
        rows(&["--parallelism", "2", "-s", "parallelism"]),
        ["33.33,2"]
    );
    let error = run(rprof(["report", "--parallelism", "3", "-i"]).arg(&path)).ok();
    let why = "--parallelism '3' leaves no samples";
    assert!(error.stderr.contains(why), "{}", error.stderr);
}

#[test]
fn without_context_switches_it_is_said_how_to_record_them() {
    let dir = scratch();
    let path = dir.path().join("perf.data");
    record(&path, AttrFlags::SAMPLE_ID_ALL, &[(1, 1, Moment::Sample)]);
    for args in [
        &["--latency"][..],
        &["-s", "parallelism"],
        &["--parallelism", "1"],
    ] {
        let ran = run(rprof(["report", "-i"]).arg(&path).args(args));
        let error = ran.fails(1);
        let why = "context switches";
        assert!(
            error.contains(why) && error.contains("rprof record"),
            "{error}"
        );
    }
}
