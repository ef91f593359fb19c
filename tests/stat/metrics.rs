//! Metrics of users, and top-down analysis where there is none.

use crate::common::{Ran, needs, rprof, run, scratch};
use crate::stat::{HIT, work};

fn stat(words: &[&str]) -> Ran {
    run(&mut rprof(["stat"].iter().chain(words)))
}

#[test]
fn metrics_are_computed_from_counts() {
    let Some(program) = work() else { return };
    needs!(alone);
    let path = program.path();
    let path = path.to_str().unwrap();
    let hits = format!("mem:{HIT:#x}:x");
    let dir = scratch();
    let file = dir.path().join("metrics");
    let text = "# of a thousand hits\nfaults=page-faults:u * 1\n\nnone = page-faults:u / (faults - faults)\n";
    std::fs::write(&file, text).unwrap();
    let words = ["-x;", "-e", &hits, "-M", file.to_str().unwrap(), path];
    let said = stat(&words).ok().stderr;
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split(';').collect()).collect();
    assert_eq!(lines[0][..3], ["1000", "", &hits]);
    let count: f64 = lines[1][0].parse().unwrap();
    assert_eq!(lines[1][5], format!("{count:.2}"));
    assert_eq!(lines[1][6], "faults");
    // Both metrics name one event; the second is shown at its own line.
    assert_eq!(lines[2][5..], ["div by 0", "none"]);

    let json = stat(&["-j", "-M", "none=page-faults / (cs - cs)", path])
        .ok()
        .stderr;
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert!(first["metric-value"].is_null() && first["metric-unit"] == "none");
    let large = stat(&["-j", "-M", "large=1e308 * 1e308 + page-faults", path])
        .ok()
        .stderr;
    let first: serde_json::Value = serde_json::from_str(large.lines().next().unwrap()).unwrap();
    assert!(first["metric-value"].is_null(), "{large}");
    let only = [
        "--metric-only",
        "-M",
        "share=page-faults:u/page-faults:u",
        path,
    ];
    let only = stat(&only).ok().stderr;
    assert!(only.contains("share") && only.contains("1.00"), "{only}");
}

#[test]
fn broken_metrics_are_one_line_with_the_column() {
    needs!(alone);
    for (metric, code, expected) in [
        (
            "a=cycles +",
            2,
            "metric 'a', column 11: expected a number, an event or '('",
        ),
        (
            "a=cycels/2",
            2,
            "metric 'a', column 3: 'cycels' is not an event, a metric or a function",
        ),
        ("a=1+1", 2, "metric 'a' uses no event"),
        (
            "no-such-file",
            1,
            "a metric is NAME=EXPRESSION, or a file of such lines",
        ),
    ] {
        let said = stat(&["-M", metric, "true"]).fails(code);
        assert!(said.contains(expected), "{said}");
        assert_eq!(said.lines().count(), 1);
    }
}

#[test]
fn a_machine_that_counts_no_slots_says_so() {
    needs!(alone);
    let has = |pmu: &str| {
        let folder = std::path::Path::new("/sys/bus/event_source/devices").join(pmu);
        folder.join("events/topdown-retiring").exists()
            || folder.join("events/topdown-total-slots").exists()
    };
    if has("cpu") || has("cpu_core") {
        return;
    }
    let said = stat(&["--topdown", "true"]).fails(1);
    assert!(said.contains("does not count slots at level 1"), "{said}");
}
