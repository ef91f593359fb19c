//! Branch mode: each branch of a sample is a row's entry, as perf has it. No processor here keeps branches: the
//! recordings are made of what the tests put into them.

use super::keys::assert_same;
use crate::common::{fixtures, has, rprof, run, scratch};
use rprof_abi::record::{Comm, FileIdentity, Inode, Mmap2};
use rprof_abi::sample::BranchStack;
use rprof_abi::{
    AttrFlags, BranchSampleType, Endian, Misc, PerfEventAttr, Record, Sample, SampleId,
    SampleLayout, SampleType, event_type, sw,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent};
use std::fs::File;
use std::path::Path;

/// No process has this id: ids end at 4 million.
const PID: i32 = 1 << 23;

/// From, to, and flags: mispredicted, predicted, in a transaction, aborts it, then cycles.
type Branch = (u64, u64, u64);

/// Functions of the program of the fixture `spin`.
const HOT: u64 = 0x40_1000;
const COLD: u64 = 0x40_1049;
const WORK: u64 = 0x40_108a;

const PREDICTED: u64 = 1 << 1;

/// Rows of different weights by any key.
const BRANCHES: &[Branch] = &[
    (WORK + 9, HOT, PREDICTED | 7 << 4),
    (WORK + 9, HOT, PREDICTED | 7 << 4),
    (WORK + 9, HOT, PREDICTED | 7 << 4),
    (WORK + 9, HOT + 4, PREDICTED | 7 << 4),
    (WORK + 20, COLD, 1 | 300 << 4),
    (WORK + 21, COLD, 1 | 300 << 4),
    (0x7000, WORK, 1 | 1 << 2 | 1 << 3),
];

/// Writes a recording with two samples of the same branches.
fn record(path: &Path) {
    let bits = [
        SampleType::IP,
        SampleType::TID,
        SampleType::TIME,
        SampleType::PERIOD,
        SampleType::BRANCH_STACK,
    ];
    let sample_type = bits
        .into_iter()
        .fold(SampleType::default(), SampleType::with);
    let attr = PerfEventAttr {
        kind: event_type::SOFTWARE,
        config: sw::CPU_CLOCK,
        sample_period: 1000,
        sample_type,
        branch_sample_type: BranchSampleType::ANY,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    let mut records = Vec::new();
    let mut time_ns = 1_000_000_000;
    let mut add = |record: &dyn Fn(u64) -> Record<'static>| {
        time_ns += 1000;
        let id = SampleId {
            pid: Some(PID),
            tid: Some(PID),
            time_ns: Some(time_ns),
            ..SampleId::default()
        };
        let encoded = record(time_ns).encode(Misc::USER, &id, &layout, &mut records);
        encoded.unwrap();
    };
    add(&|_| {
        Record::Comm(Comm {
            pid: PID,
            tid: PID,
            comm: b"spin",
        })
    });
    add(&|_| {
        Record::Mmap2(Mmap2 {
            pid: PID,
            tid: PID,
            addr: 0x40_1000,
            len: 0x1000,
            pgoff: 0x1000,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 2,
            filename: b"/tmp/rprof-fixture/spin",
        })
    });
    let entries = BRANCHES
        .iter()
        .flat_map(|&(from, to, flags)| [from, to, flags]);
    let entries: Vec<u8> = entries.flat_map(u64::to_ne_bytes).collect();
    let entries: &'static [u8] = entries.leak();
    for _ in 0..2 {
        add(&|time_ns| {
            Record::Sample(Box::new(Sample {
                ip: Some(HOT),
                pid: Some(PID),
                tid: Some(PID),
                time_ns: Some(time_ns),
                period: Some(1000),
                branch_stack: Some(BranchStack::from_encoded(entries, Endian::NATIVE)),
                ..Sample::default()
            }))
        });
    }
    let event = WrittenEvent {
        name: "cpu-clock".to_owned(),
        attr,
        ids: vec![1],
    };
    let file = File::create(path).unwrap();
    // perf counts branches where this says that there are some.
    let features = vec![(FeatureId::BRANCH_STACK, Vec::new())];
    let mut writer = Writer::start(file, path, &[event], features).unwrap();
    writer.write(&records).unwrap();
    writer.finish(Vec::new()).unwrap();
}

#[test]
fn rows_of_branches_are_those_of_perf() {
    let test = "rows_of_branches_are_those_of_perf";
    if !has(test, "perf", "linux-perf") {
        return;
    }
    let dir = scratch();
    let file = dir.path().join("branches");
    record(&file);
    let root = fixtures().join("spin/root");
    let symfs = ["--symfs", root.to_str().unwrap()];
    // perf 6.1 ends by SIGSEGV with -s symbol_from.
    for what in [
        &[][..],
        &["-b", "-n"],
        &["--no-branch-stack"],
        &["-s", "dso_from"],
        &["-s", "dso_to"],
        &["-F", "overhead,symbol_from,symbol_to"],
        &["-F", "overhead,dso_from,symbol_from,dso_to"],
        &["-s", "cycles,mispredict"],
        &["-s", "in_tx,abort"],
        &["-s", "cycles"],
        &["-s", "sym,mispredict"],
        &["-s", "dso,cycles", "-F", "overhead,sample,period"],
        &["-F", "overhead,srcline_from"],
        &["-F", "overhead,symbol_to,srcline_to"],
    ] {
        assert_same(&file, &symfs, what);
    }
}

#[test]
fn a_sample_counts_as_many_times_as_it_has_branches() {
    let dir = scratch();
    let file = dir.path().join("branches");
    record(&file);
    let root = fixtures().join("spin/root");
    let report = |args: &[&str]| {
        let mut rprof = rprof(["report", "-q", "--format", "csv", "-i"]);
        rprof.arg(&file).arg("--symfs").arg(&root).args(args);
        run(&mut rprof)
    };
    let table = report(&["-n", "-s", "symbol_from,symbol_to,cycles"])
        .ok()
        .stdout;
    assert_eq!(
        table,
        "overhead,sample,symbol_from,symbol_to,cycles\n\
         57.14,8,[.] work,[.] hot,7\n\
         28.57,4,[.] work,[.] cold,300\n\
         14.29,2,[H] 0x0000000000007000,[.] work,0\n"
    );
    let table = report(&["--no-branch-stack", "-n", "-s", "sym"])
        .ok()
        .stdout;
    assert_eq!(table, "overhead,sample,sym\n100.00,2,[.] hot\n");
    let said = report(&["--no-branch-stack", "-s", "cycles"]).fails(2);
    assert!(said.contains("cycles is of branches"), "{said}");
}

#[test]
fn a_recording_without_branches_says_how_to_have_them() {
    let dir = fixtures().join("spin");
    let report = |args: &[&str]| {
        let mut rprof = rprof([&["report"], args].concat());
        run(rprof.arg("-i").arg(dir.join("perf.data")))
    };
    let said = report(&["-b"]).fails(2);
    assert!(said.contains("rprof record -b has them"), "{said}");
    let said = report(&["-s", "symbol_from"]).fails(1);
    assert!(said.contains("rprof record -b has them"), "{said}");
}
