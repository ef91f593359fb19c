//! What threads count, without samples, too.

use crate::common::{number_after, scratch};
use crate::fields::{both, info, ours};
use serde_json::Value;
use std::collections::BTreeMap;

/// What each thread counted in sum, by the READ records of a recording; page faults never happen on two CPUs.
fn counted(recording: &crate::common::Recording) -> BTreeMap<u64, u64> {
    let mut counts = BTreeMap::new();
    for line in recording.read("dump", &["--json"]).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] == "READ" {
            let value = record["fields"]["values"][0]["value"].as_u64().unwrap();
            *counts
                .entry(record["fields"]["tid"].as_u64().unwrap())
                .or_default() += value;
        }
    }
    counts
}

#[test]
fn each_thread_has_counted_as_much_as_it_has_samples() {
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    let flags = ["-s", "-e", "page-faults", "-c", "1"];
    let recording = ours(dir.path(), &flags, &["sh", "-c", "ls; ls; true"]);
    let mut samples: BTreeMap<u64, u64> = BTreeMap::new();
    for line in recording.read("script", &["-F", "tid", "-G"]).lines() {
        *samples.entry(line.trim().parse().unwrap()).or_default() += 1;
    }
    let counts = counted(&recording);
    assert!(counts.len() >= 2, "{counts:?}");
    // Of a parent and a child that run after one another, the kernel may exchange the counters: they are the same
    // (perf_event_context_sched_out in kernel/events/core.c, v6.12).
    let is_equal = |(tid, count): (&u64, &u64)| samples.get(tid) == Some(count);
    assert!(counts.iter().any(is_equal), "{counts:?}: {samples:?}");
    assert!(counts.keys().all(|tid| samples.contains_key(tid)));
    assert!(counts.values().sum::<u64>() <= samples.values().sum());
}

#[test]
fn without_samples_there_are_counts_all_the_same() {
    let Some(_live) = both() else {
        return;
    };
    let dir = scratch();
    let flags = ["-n", "-s", "-e", "page-faults"];
    let recording = ours(dir.path(), &flags, &["sh", "-c", "ls; ls; true"]);
    assert!(
        recording.stderr.contains("'page-faults"),
        "{}",
        recording.stderr
    );
    assert!(
        recording.stderr.contains("happened"),
        "{}",
        recording.stderr
    );
    assert_eq!(info(&recording)["events"][0]["samples"], 0);
    let happened = number_after(&recording.stderr, "happened ").unwrap();
    assert!(happened > 20, "{}", recording.stderr);
    // The command's first process has no record of this kind, and may get the counters of its children (see above).
    let counts = counted(&recording);
    assert!(!counts.is_empty());
    assert!(counts.values().sum::<u64>() <= happened, "{counts:?}");
}
