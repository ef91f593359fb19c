//! What is recorded instead, where something is not there, or mounted on the way.

use crate::common::{
    am_root, in_path, needs, not_run, rprof, run, samples, scratch, skipped, tool, work::burn,
};
use serde_json::Value;
use std::path::Path;

#[test]
fn cycles_without_a_pmu_are_the_clock_with_the_same_modifiers() {
    needs!(live);
    let dir = scratch();
    let mut names = Vec::new();
    for (event, expected) in [
        ("cycles", "cpu-clock"),
        ("cycles:u", "cpu-clock:u"),
        ("cpu-cycles:ppp", "cpu-clock"),
        ("cycles:uP", "cpu-clock:u"),
    ] {
        let mut record = rprof(["record", "-F", "999", "-e", event, "sh", "-c"]);
        let ran = run(record.arg(burn(10)).current_dir(dir.path())).ok();
        if !ran.stderr.contains("no hardware PMU") {
            not_run("there is a PMU");
            return;
        }
        let opening = ran.stderr.lines().filter(|line| line.contains("cpu-clock"));
        assert_eq!(opening.count(), 1, "{}", ran.stderr);
        assert!(samples(&ran.stderr) > 0, "{}", ran.stderr);
        let info = run(rprof(["info", "--json"]).current_dir(dir.path())).ok();
        let info: Value = serde_json::from_str(&info.stdout).unwrap();
        let name = info["events"][0]["name"].as_str().unwrap().to_owned();
        names.push((name, expected));
    }
    // Users without rights get no samples of the kernel.
    for (name, expected) in names {
        assert!(
            name == expected || name == format!("{expected}:u"),
            "{name} {expected}"
        );
    }
}

#[test]
fn tracefs_is_mounted_for_root_and_said_to_be() {
    needs!(alone);
    if !am_root() || in_path("unshare").is_none() {
        skipped("root, and util-linux");
        return;
    }
    if !run(tool("unshare").args(["-m", "true"])).status.success() {
        not_run("no mount namespaces here");
        return;
    }
    let dir = scratch();
    // In a mount namespace of its own: nothing of it stays.
    let script = "while mountpoint -q /sys/kernel/tracing; do umount /sys/kernel/tracing || exit 9; done; \
                  umount /sys/kernel/debug 2>/dev/null; \
                  \"$0\" record -e sched:sched_process_exec -- /bin/true && \
                  mountpoint -q /sys/kernel/tracing";
    let mut unshare = tool("unshare");
    unshare.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_rprof")]);
    let ran = run(unshare.current_dir(dir.path()));
    if matches!(ran.status.code(), Some(9)) || !Path::new("/sys/kernel/tracing").is_dir() {
        not_run("this kernel has no tracefs");
        return;
    }
    let ran = ran.ok();
    assert!(
        ran.stderr
            .contains("tracefs was not mounted: mounted it at"),
        "{}",
        ran.stderr
    );
    assert_eq!(samples(&ran.stderr), 1, "{}", ran.stderr);
}
