//! Branch mode: each branch of a sample is a row's entry, as perf has it. No processor here keeps branches: the
//! recordings are made of what the tests put into them.

use super::keys::assert_same;
use super::made::{COLD, HOT, Made, WORK};
use crate::common::{fixtures, needs, rprof, run, scratch};
use rprof_abi::sample::BranchStack;
use rprof_abi::{BranchSampleType, Endian, Sample, SampleType};
use rprof_perfdata::FeatureId;
use std::path::Path;

/// From, to, and flags: mispredicted, predicted, in a transaction, aborts it, then cycles.
type Branch = (u64, u64, u64);

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
    let entries = BRANCHES
        .iter()
        .flat_map(|&(from, to, flags)| [from, to, flags]);
    let entries: Vec<u8> = entries.flat_map(u64::to_ne_bytes).collect();
    let sample = Sample {
        ip: Some(HOT),
        period: Some(1000),
        branch_stack: Some(BranchStack::from_encoded(&entries, Endian::NATIVE)),
        ..Sample::default()
    };
    let mut made = Made::new(&[SampleType::BRANCH_STACK]);
    made.attr.branch_sample_type = BranchSampleType::ANY;
    // perf counts branches where this says that there are some.
    made.features = vec![(FeatureId::BRANCH_STACK, Vec::new())];
    made.write(path, &[sample.clone(), sample]);
}

#[test]
fn rows_of_branches_are_those_of_perf() {
    needs!(perf);
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
    let table = report(&["-n", "-s", "addr"]).ok().stdout;
    let targets = table.lines().count() - 1;
    assert_eq!(targets, 4, "{table}");
    for words in [&["-p", "main"][..], &["-x"], &["-s", "parent"], &["-g"]] {
        let said = report(words).fails(2);
        let expected = format!("{} needs callers", words[..1].join(" "));
        let is_key = words[0] == "-s" && said.contains("-s parent needs callers");
        assert!(is_key || said.contains(&expected), "{said}");
        assert!(said.contains("record with rprof record -g"), "{said}");
    }
    let table = report(&["--no-branch-stack", "-n", "-s", "sym"])
        .ok()
        .stdout;
    assert_eq!(table, "overhead,sample,sym\n100.00,2,[.] hot\n");
    let said = report(&["--no-branch-stack", "-s", "cycles"]).fails(2);
    assert!(said.contains("cycles is a branch column"), "{said}");
}

#[test]
fn names_of_branches_are_embedded() {
    let dir = scratch();
    let file = dir.path().join("branches");
    record(&file);
    let root = fixtures().join("spin/root");
    let keys = "symbol_from,symbol_to,dso_from,dso_to,srcline_to";
    let report = |args: &[&str], root: &Path| {
        let mut rprof = rprof([&["report", "-q"], args].concat());
        run(rprof.arg("-i").arg(&file).arg("--symfs").arg(root)).ok()
    };
    let both = |root: &Path| [&[][..], &["-s", keys]].map(|args| report(args, root).stdout);
    let here = both(&root);
    assert!(here[0].contains("[.] cold"), "{}", here[0]);
    let mut embed = rprof(["symbols", "--embed", "-i"]);
    run(embed.arg(&file).arg("--symfs").arg(&root)).ok();
    assert_eq!(both(Path::new("/nonexistent")), here);
}

#[test]
fn a_recording_without_branches_says_how_to_have_them() {
    let dir = fixtures().join("spin");
    let report = |args: &[&str]| {
        let mut rprof = rprof([&["report"], args].concat());
        run(rprof.arg("-i").arg(dir.join("perf.data")))
    };
    let said = report(&["-b"]).fails(1);
    assert!(said.contains("rprof record -b"), "{said}");
    let said = report(&["-s", "symbol_from"]).fails(1);
    assert!(said.contains("rprof record -b"), "{said}");
}
