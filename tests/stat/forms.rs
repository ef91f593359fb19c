//! Text, CSV and JSON are perf's: the same lines, keys and fields for the same flags.

use crate::common::{needs, records_all, records_kernel};
use crate::stat::said;
use serde_json::Value;

/// What may be counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// The kernel: without it, perf counts its events as 0.
    Kernel,
    All,
}

/// Flags, and what they take.
const FLAGS: &[(&[&str], Needs)] = &[
    (&[], Needs::Kernel),
    (&["-d"], Needs::Kernel),
    (&["-r", "2"], Needs::Kernel),
    (&["-e", "page-faults"], Needs::Nothing),
    (&["-dd", "-e", "page-faults"], Needs::Nothing),
    (
        &["-e", "{page-faults,context-switches},task-clock:u"],
        Needs::Kernel,
    ),
    (&["-i", "-e", "cs,faults"], Needs::Kernel),
    (&["-I", "60000"], Needs::Nothing),
    (&["-a"], Needs::All),
    (&["-a", "-A", "-e", "cpu-clock,page-faults"], Needs::All),
    (
        &["-a", "--per-core", "-e", "cpu-clock,page-faults"],
        Needs::All,
    ),
    (
        &["-a", "--per-die", "-e", "cpu-clock,page-faults"],
        Needs::All,
    ),
    (
        &["-a", "--per-socket", "-e", "cpu-clock,page-faults"],
        Needs::All,
    ),
    (
        &["-a", "--per-node", "-e", "cpu-clock,page-faults"],
        Needs::All,
    ),
    (&["-C", "0", "-A", "-e", "cpu-clock"], Needs::All),
    (
        &[
            "-a",
            "--for-each-cgroup",
            "/",
            "-e",
            "cpu-clock,page-faults",
        ],
        Needs::All,
    ),
    (&["-a", "-e", "page-faults,cs", "-G", "/"], Needs::All),
];

/// Compares what both tools say for all flags that may be used here.
#[track_caller]
fn compare(form: &[&str], shape: impl Fn(&str) -> Vec<String>) {
    needs!(perf, alone);
    let (may_kernel, may_all) = (records_kernel(), records_all());
    for (flags, needs) in FLAGS {
        match needs {
            Needs::Kernel if !may_kernel => continue,
            Needs::All if !may_all => continue,
            _ => {}
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
    compare(&["-j"], keys);
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
    compare(&["-x", ";"], fields);
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
    compare(&["--no-big-num"], lines);
}
