//! Rows by time, and what is said of slots without rows.

use super::{read, report};
use std::collections::BTreeSet;

const QUANTUM_NS: u64 = 3_000_000;

/// The times of samples, nanoseconds.
fn times(filter: &[&str]) -> Vec<u64> {
    let args = [&["-G", "-F", "time", "--ns"], filter].concat();
    let text = read("script", &args).ok().stdout;
    let times = text.lines().map(|line| {
        let digits = line.trim().trim_end_matches(':').replace('.', "");
        digits.parse().expect(line)
    });
    times.collect()
}

/// The first slot of the longest stretch of those without samples, and how many there are in it.
fn longest(all: std::ops::RangeInclusive<u64>, used: &BTreeSet<u64>) -> (u64, u64) {
    let (mut longest, mut begin) = ((0, 0), *all.start());
    for slot in all.clone().chain([all.end() + 1]) {
        if used.contains(&slot) || slot > *all.end() {
            if slot - begin > longest.1 {
                longest = (begin, slot - begin);
            }
            begin = slot + 1;
        }
    }
    longest
}

#[test]
fn slots_without_samples_are_counted_below_the_rows() {
    for filter in [&["-S", "cold"][..], &["-S", "hot", "--no-inline"]] {
        let (all, shown) = (times(&[]), times(filter));
        let slots = all[0] / QUANTUM_NS..=all[all.len() - 1] / QUANTUM_NS;
        let used: BTreeSet<u64> = shown.iter().map(|time| time / QUANTUM_NS).collect();
        let n_slots = slots.end() - slots.start() + 1;
        let n_empty = n_slots - used.len() as u64;
        let (begin, len) = longest(slots, &used);
        assert!(n_empty > 0, "{filter:?}");

        let args = ["-s", "time", "--time-quantum", "3ms", "--no-children"];
        let args = [&args, filter].concat();
        let text = report(&[&args[..], &["-g", "none"]].concat());
        let rows = text.lines().filter(|line| line.contains("%  ")).count();
        assert_eq!(rows, used.len(), "{text}");
        let line = format!(
            "# Time: {n_slots} slots of 3 ms, {n_empty} without matching samples; longest gap: "
        );
        assert!(text.contains(&line), "{line}\n{text}");

        let json = report(&[&args[..], &["--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let expected = serde_json::json!({
            "quantum_ns": QUANTUM_NS,
            "slots": n_slots,
            "empty": n_empty,
            "longest_empty": {
                "start_ns": begin * QUANTUM_NS,
                "end_ns": (begin + len) * QUANTUM_NS,
            },
            "first_recorded_ns": QUANTUM_NS - all[0] % QUANTUM_NS,
            "last_recorded_ns": all[all.len() - 1] % QUANTUM_NS,
        });
        assert_eq!(json["events"][0]["time_slots"], expected);
    }
}

#[test]
fn slots_at_the_ends_that_are_not_whole_are_named() {
    let all = times(&[]);
    let whole = report(&["-s", "time", "-g", "none"]);
    let slot = |time: u64| time / 100_000_000;
    let n_slots = slot(all[all.len() - 1]) - slot(all[0]) + 1;
    let line = format!("# Time: {n_slots} slots of 100 ms, all with samples\n#   only ");
    assert!(whole.contains(&line), "{line}\n{whole}");
    // It begins with the range that is asked for, and ends with it.
    let part = report(&["-s", "time", "-g", "none", "--time", "+10ms,+120ms"]);
    let begin = all[0] + 10_000_000;
    let recorded = 100_000_000 - begin % 100_000_000;
    let said = format!("only {}", recorded / 1_000_000);
    assert!(part.contains(&said), "{said}\n{part}");
}

#[test]
fn other_tables_and_data_say_nothing_of_slots() {
    for args in [
        &["-s", "sym"][..],
        &["-s", "time", "-q"],
        &["-s", "time", "--format", "csv"],
        &["-s", "time", "--time-quantum", "1000s"],
    ] {
        let text = report(&[&["--no-children"], args].concat());
        assert!(!text.contains("slots"), "{args:?}: {text}");
    }
    let markdown = report(&["-s", "time", "--format", "markdown"]);
    assert!(markdown.contains("\nTime: "), "{markdown}");
}
