//! Where and when samples are missing, of recordings whose records say it.

use crate::common::{
    Recording, corpus, needs, number_after, number_before, report, rprof, run, scratch, work::burn,
};
use rprof_abi::record::{Lost, Record, Throttle};
use rprof_abi::{AttrFlags, Endian, Misc, PerfEventAttr, SampleId, SampleLayout, SampleType};
use rprof_perfdata::{Writer, WrittenEvent};
use std::fs::File;

#[test]
fn losses_and_throttling_are_shown_by_cpu_second_and_thread() {
    let dir = scratch();
    let path = dir.path().join("perf.data");
    let types = [
        SampleType::IP,
        SampleType::TID,
        SampleType::TIME,
        SampleType::CPU,
    ];
    let sample_type = types
        .into_iter()
        .fold(SampleType::IDENTIFIER, SampleType::with);
    let attr = PerfEventAttr {
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    let event = WrittenEvent {
        name: "cycles".to_owned(),
        attr,
        ids: vec![5],
    };
    let mut records = Vec::new();
    let mut push = |time_ns: u64, cpu, record: Record<'_>| {
        let id = SampleId {
            pid: Some(10),
            tid: Some(11),
            time_ns: Some(time_ns),
            id: Some(5),
            cpu: Some(cpu),
            ..SampleId::default()
        };
        record.encode(Misc(0), &id, &layout, &mut records).unwrap();
    };
    let throttle = |time_ns| Throttle {
        time_ns,
        id: 5,
        stream_id: 50,
    };
    let second = 1_000_000_000;
    push(3 * second, 0, Record::Lost(Lost { id: 5, lost: 7 }));
    push(4 * second, 1, Record::Lost(Lost { id: 5, lost: 20 }));
    push(
        4 * second + 1,
        1,
        Record::Throttle(throttle(4 * second + 1)),
    );
    let later = 4 * second + 2_500_001;
    push(later, 1, Record::Unthrottle(throttle(later)));
    // One that never goes on.
    push(9 * second, 0, Record::Throttle(throttle(9 * second)));
    let mut writer =
        Writer::start(File::create(&path).unwrap(), &path, &[event], Vec::new()).unwrap();
    writer.write(&records).unwrap();
    writer.finish(Vec::new()).unwrap();
    let stats = report(&path, &["--stats"]);
    let expected = "\
Missing:          lost  throttled  for ms
  CPU 0               7          1     0.0
  CPU 1              20          1     2.5
  second 4           20          1     2.5
  second 3            7          0     0.0
  second 9            0          1     0.0
  thread 11          27          2     2.5
";
    assert!(stats.contains(expected), "{stats}");
}

#[test]
fn losses_of_other_recorders_are_summed_as_their_records_say() {
    let Some(dir) = corpus() else {
        return;
    };
    let mut files = vec![dir];
    let mut n_lossy = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let is_small = path.metadata().unwrap().len() < 4 << 20;
        if !is_small || path.extension().is_none_or(|ending| ending != "data") {
            continue;
        }
        let mut dump = rprof(["dump", "--json", "-i"]);
        let dump = run(dump.arg(&path));
        let lost: u64 = dump
            .stdout
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter(|record| record["kind"] == "LOST" && !record["id"]["cpu"].is_null())
            .filter_map(|record| record["fields"]["lost"].as_u64())
            .sum();
        if lost == 0 {
            continue;
        }
        n_lossy += 1;
        let stats = report(&path, &["--stats"]);
        let rows = stats.lines().filter(|line| line.starts_with("  CPU "));
        let sum: u64 = rows
            .map(|line| {
                line.split_whitespace()
                    .nth(2)
                    .unwrap()
                    .parse::<u64>()
                    .unwrap()
            })
            .sum();
        assert_eq!(sum, lost, "{}: {stats}", path.display());
    }
    println!("{n_lossy} recordings with losses");
}

#[test]
fn what_was_lost_would_have_fit_into_rings_of_a_size_that_is_said() {
    needs!(alone, root);
    let dir = scratch();
    let path = dir.path().join("perf.data");
    // A ring of a page, and a recorder that is stopped while its command works.
    let mut record = rprof([
        "record",
        "-v",
        "-F",
        "9999",
        "-e",
        "cpu-clock",
        "-m",
        "1",
        "-g",
    ]);
    record.args(["--call-graph", "fp", "-o"]).arg(&path);
    let ran = run(record.args([
        "--",
        "sh",
        "-c",
        &format!("kill -STOP $PPID; {}; kill -CONT $PPID", burn(30)),
    ]))
    .ok();
    let lost = number_before(&ran.stderr, " lost").unwrap();
    assert!(lost > 0, "{}", ran.stderr);
    let pages = number_after(&ran.stderr, "(-m ").unwrap();
    assert!(pages > 1 && pages.is_power_of_two(), "{}", ran.stderr);
    assert!(ran.stderr.contains("rprof itself used"), "{}", ran.stderr);
    // That many would have been enough: a sample has at most some 300 bytes.
    assert!(pages * 4096 > lost * 60, "{}", ran.stderr);
    let info = Recording::new(path.clone(), ran).info();
    let cost = &info["features"]["recorder_cost"];
    for what in ["cpu_ns", "wall_ns", "ring_bytes", "written_bytes"] {
        assert!(cost[what].as_u64().unwrap() > 0, "{cost}");
    }
}
