//! Memory mode: samples weigh what their access to memory cost, as perf has it. No processor here tells that: the
//! recordings are made of what the tests put into them.

use super::keys::assert_same;
use super::made::{COLD, HOT, Made};
use crate::common::{Program, fixtures, needs, rprof, run, scratch};
use rprof_abi::{Sample, SampleType, Weight};
use std::path::Path;

/// A load that hit the first level, and its translation there.
const L1: u64 = 1 << 1 | 0b1010 << 5 | 1 << 20 | 1 << 25 | 0b1010 << 26 | 1 << 40;
/// A store that missed the third one.
const MISS: u64 = 1 << 2 | 0b100_0100 << 5 | 1 << 23 | 0b100_0100 << 26 | 0b110 << 40;

/// Writes a recording of three accesses, of different cost.
fn record(path: &Path) {
    let sample = |ip, addr, data_src, weight| Sample {
        ip: Some(ip),
        period: Some(1000),
        addr: Some(addr),
        data_src: Some(data_src),
        weight: Some(Weight::Whole(weight)),
        ..Sample::default()
    };
    let made = Made::new(&[SampleType::ADDR, SampleType::DATA_SRC, SampleType::WEIGHT]);
    made.write(
        path,
        &[
            sample(HOT, 0x7f00_0000_1010, L1, 5),
            sample(HOT, 0x7f00_0000_1020, L1, 20),
            sample(COLD, 0x7f00_0000_2000, MISS, 300),
            sample(COLD, 0, 0, 0),
        ],
    );
}

#[test]
fn rows_of_accesses_to_memory_are_those_of_perf() {
    needs!(perf);
    let dir = scratch();
    let file = dir.path().join("memory");
    record(&file);
    let root = fixtures().join("spin/root");
    let symfs = ["--symfs", root.to_str().unwrap(), "--mem-mode"];
    for what in [
        &[][..],
        &["-s", "mem"],
        &["-s", "mem,tlb,snoop"],
        &["-s", "locked,blocked"],
        &["-F", "overhead,sym,symbol_daddr"],
        &["-s", "dso_daddr", "-n"],
        &["-s", "dcacheline"],
        &["-s", "local_weight,sym,dso", "-F", "overhead,sample,period"],
        &["-s", "weight,mem"],
    ] {
        assert_same(&file, &symfs, what);
    }
}

/// A variable at an address that no loader moves.
const VARIABLE: &str = r#"
    __attribute__((section(".watched"))) volatile long table[16] = {1, 2, 3};
    __attribute__((noinline)) void touch(long i) { table[4] += i; }
    int main(void) {
        for (long i = 0; i < 20000; i++)
            touch(i);
        return 0;
    }"#;

#[test]
fn data_has_the_name_that_perf_gives_it() {
    needs!(perf);
    let place = "-Wl,--section-start=.watched=0x20000000";
    let Some(program) = Program::new(VARIABLE, &["-O1", "-no-pie", place]) else {
        return;
    };
    let event = ["-e", "mem:0x20000020:w", "-c", "100", "-d", "-W"];
    let file = program.record_by_perf(&event, &[]).file;
    for keys in ["symbol_daddr,dso_daddr,mem", "sym,symbol_daddr"] {
        let fields = format!("overhead,sample,{keys}");
        assert_same(&file, &["--mem-mode"], &["-F", &fields]);
    }
    let mut report = rprof(["report", "-q", "--format", "csv", "-s", "symbol_daddr"]);
    let table = run(report.arg("-i").arg(&file)).ok().stdout;
    assert_eq!(table, "overhead,symbol_daddr\n100.00,[.] table+0x20\n");
}

#[test]
fn accesses_to_memory_weigh_what_they_cost() {
    let dir = scratch();
    let file = dir.path().join("memory");
    record(&file);
    let report = |args: &[&str]| {
        let mut rprof = rprof(["report", "-q", "--format", "csv", "-i"]);
        rprof.arg(&file).args(args);
        let root = fixtures().join("spin/root");
        run(rprof.arg("--symfs").arg(root)).ok().stdout
    };
    assert_eq!(
        report(&["--mem-mode", "-F", "period,sample,sym,mem"]),
        "period,sample,sym,mem\n\
         300,1,[.] cold,L3 miss\n\
         25,2,[.] hot,L1 hit\n\
         1,1,[.] cold,N/A\n"
    );
    let usual = report(&["--mem-mode"]);
    assert!(
        usual.starts_with(
            "overhead,local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
        ),
        "{usual}"
    );
    // Without the mode, samples weigh their periods.
    assert_eq!(
        report(&["-F", "overhead,sym"]),
        "overhead,sym\n50.00,[.] cold\n50.00,[.] hot\n"
    );
}

#[test]
fn a_recording_without_accesses_says_how_to_have_them() {
    let file = fixtures().join("spin/perf.data");
    let report = |args: &[&str]| run(rprof([&["report"], args].concat()).arg("-i").arg(&file));
    let said = report(&["--mem-mode"]).fails(1);
    assert!(said.contains("rprof record -d"), "{said}");
    let said = report(&["-s", "symbol_daddr"]).fails(1);
    assert!(said.contains("rprof record -d"), "{said}");
}
