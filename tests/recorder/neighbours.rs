//! Other tools that record at the same time.

use crate::common::{Running, alone, needs, perf, report, rprof, run, scratch};

#[test]
fn perf_records_everybody_while_rprof_does() {
    needs!(perf, alone, all_cpus);
    let dir = scratch();
    let (ours, theirs) = (dir.path().join("ours"), dir.path().join("theirs"));
    // Events that were opened last come first in what the kernel goes through.
    let mut other = perf([
        "record",
        "-q",
        "-a",
        "-e",
        "cpu-clock",
        "-F",
        "499",
        "-g",
        "-o",
    ]);
    other.arg(&theirs);
    other.args(["--", "sh", "-c", "echo ready; read -r line"]);
    let mut other = Running::start(&mut other);
    assert_eq!(other.line(), "ready");
    // New mappings of many files, and work in between.
    let script = "for n in 1 2 3 4 5 6 7 8 9 10; do /bin/ls / >/dev/null; /bin/cat /dev/null; done; \
                  n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done";
    let mut record = rprof(["record", "-q", "-a", "-e", "cpu-clock", "-F", "499", "-o"]);
    record.arg(&ours);
    run(record.args(["--", "sh", "-c", script])).ok();
    other.type_in(b"\n");
    other.finish().ok();
    for file in [&ours, &theirs] {
        run(perf(["script", "-i"]).arg(file)).ok();
        let names = run(rprof([
            "report",
            "--no-children",
            "-g",
            "none",
            "--sort",
            "dso",
            "-i",
        ])
        .arg(file));
        let names = names.ok();
        assert!(!names.stderr.contains("changed"), "{}", names.stderr);
        assert!(!names.stderr.contains("damaged"), "{}", names.stderr);
    }
    let table = report(&theirs, &["--no-children", "-g", "none", "--sort", "comm"]);
    assert!(table.contains("sh"), "{table}");
}

#[test]
fn a_test_that_takes_the_place_for_live_tests_twice_is_told() {
    let place = alone();
    let again = std::panic::catch_unwind(|| drop(alone()));
    let message = again.unwrap_err();
    assert_eq!(
        message.downcast_ref(),
        Some(&"this test has the place for live tests already")
    );
    drop(place);
    drop(alone());
}
