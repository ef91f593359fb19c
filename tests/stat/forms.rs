//! Text, CSV and JSON are perf's: the same lines, keys and fields for the same flags.

use crate::common::{has, live, records_all};
use crate::said;
use serde_json::Value;

/// Flags, and whether they take rights for all CPUs.
const FLAGS: &[(&[&str], bool)] = &[
    (&[], false),
    (&["-d"], false),
    (&["-r", "2"], false),
    (&["-e", "page-faults"], false),
    (&["-dd", "-e", "page-faults"], false),
    (
        &["-e", "{page-faults,context-switches},task-clock:u"],
        false,
    ),
    (&["-i", "-e", "cs,faults"], false),
    (&["-I", "60000"], false),
    (&["-a"], true),
    (&["-a", "-A", "-e", "cpu-clock,page-faults"], true),
    (&["-a", "--per-core", "-e", "cpu-clock,page-faults"], true),
    (&["-a", "--per-die", "-e", "cpu-clock,page-faults"], true),
    (&["-a", "--per-socket", "-e", "cpu-clock,page-faults"], true),
    (&["-a", "--per-node", "-e", "cpu-clock,page-faults"], true),
    (&["-C", "0", "-A", "-e", "cpu-clock"], true),
    (
        &[
            "-a",
            "--for-each-cgroup",
            "/",
            "-e",
            "cpu-clock,page-faults",
        ],
        true,
    ),
    (&["-a", "-e", "page-faults,cs", "-G", "/"], true),
];

/// Compares what both tools say for all flags that may be used here.
#[track_caller]
fn compare(test: &str, form: &[&str], shape: impl Fn(&str) -> Vec<String>) {
    if !has(test, "perf", "linux-perf") {
        return;
    }
    let Some(_live) = live(test) else { return };
    let may_all = records_all(test);
    for (flags, takes_all) in FLAGS {
        if *takes_all && !may_all {
            continue;
        }
        let words = [flags, form, &["true"]].concat();
        let [ours, mut perfs] = said(&words);
        // perf (6.1) says nothing of an interval if the command has ended before it looks.
        for _ in 0..5 {
            if perfs.trim().is_empty() {
                [_, perfs] = said(&words);
            }
        }
        assert_eq!(shape(&ours), shape(&perfs), "{words:?}\n{ours}\n{perfs}");
    }
}

#[test]
fn objects_have_perfs_keys() {
    let keys = |text: &str| -> Vec<String> {
        let of = |line: &str| {
            let object: Value = serde_json::from_str(line).expect(line);
            let object = object.as_object().unwrap().clone();
            let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
            keys.sort_unstable();
            let kept = [
                "event", "unit", "cpu", "core", "die", "socket", "node", "cgroup",
            ];
            let kept = kept.map(|key| object.get(key).map(Value::to_string));
            format!("{keys:?} {kept:?}")
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(of).collect()
    };
    compare("objects_have_perfs_keys", &["-j"], keys);
}

#[test]
fn lines_have_perfs_fields() {
    // What is no number: the event, its unit, names of CPUs and groups.
    let fields = |text: &str| -> Vec<String> {
        let of = |field: &str| match field.trim_end_matches('%').trim().parse::<f64>() {
            Ok(_) => "N".to_owned(),
            Err(_) => field.trim_start_matches(['K', 'M', 'G']).to_owned(),
        };
        let line = |line: &str| line.split(';').map(of).collect::<Vec<_>>().join(";");
        let lines = text.lines().filter(|line| !line.is_empty());
        lines.map(line).collect()
    };
    compare("lines_have_perfs_fields", &["-x", ";"], fields);
}

#[test]
fn people_see_perfs_lines() {
    // Words, and in which column the metric stands.
    let lines = |text: &str| -> Vec<String> {
        let of = |line: &str| {
            let is_number = |word: &&str| {
                let word = word.trim_matches(['(', ')', '%', '+', '-']);
                word.parse::<f64>().is_ok() || word.is_empty()
            };
            let words: Vec<&str> = line
                .split_whitespace()
                .filter(|word| !is_number(word))
                .collect();
            let words = words.join(" ");
            let words = words.replace("K/sec", "/sec").replace("M/sec", "/sec");
            // perf (6.1) does not pad the names of groups.
            let column = line.find('#').filter(|_| !line.contains(" / "));
            format!("{column:?} {words}")
        };
        text.trim_end().lines().map(of).collect()
    };
    compare("people_see_perfs_lines", &["--no-big-num"], lines);
}
