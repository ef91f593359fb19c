//! Several runs a side, by page faults: there are as many as there are pages, however fast the machine is.

use crate::common::{Ran, Recording, compile_c, needs, rprof, run, scratch};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Touches hundreds of pages: as many as words say. `seldom` is never called.
const PROGRAM: &str = r#"
    #define _GNU_SOURCE
    #include <stdlib.h>
    #include <sys/mman.h>
    static char *pages;
    static void give_back(void) { madvise(pages, 2 << 20, MADV_DONTNEED); }
    #define TOUCH(name) __attribute__((noinline)) void name(long n) \
        { for (long i = 0; i < 100 * n; i++) { \
            *(volatile char *)(pages + i % 512 * 4096) = 1; if (i % 512 == 511) give_back(); } }
    TOUCH(steady) TOUCH(leaf) TOUCH(seldom)
    __attribute__((noinline)) void outer(long n) { leaf(n); __asm__ volatile(""); }
    int main(int n, char **words) {
        pages = mmap(0, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise(pages, 2 << 20, MADV_NOHUGEPAGE);
        steady(atol(words[1]));
        give_back();
        outer(atol(words[2]));
        if (n > 3) seldom(1);
    }
"#;

/// Recordings of six runs a side. No run is just like another; after the change `leaf` does three times as much.
struct Runs {
    _dir: tempfile::TempDir,
    before: Vec<PathBuf>,
    after: Vec<PathBuf>,
}

impl Runs {
    fn recorded() -> Option<Self> {
        needs!(cc);
        let dir = scratch();
        let program = compile_c(dir.path(), "touch", PROGRAM);
        needs!(alone);
        let record = |side: &str, times: u32| {
            let one = |at: u32| {
                let file = dir.path().join(format!("{side}{at}.data"));
                // The kernel takes no more samples than some hundreds in a tick.
                let mut command = rprof(["record", "-q", "-g", "-c", "100"]);
                command.args(["-e", "page-faults:u,minor-faults:u", "-o"]);
                command.arg(&file).arg("--").arg(&program);
                // Runs vary by one in a hundred.
                let [steady, leaf] = [400 + 3 * (at * 5 % 7), times * (300 + 2 * (at * 3 % 5))];
                command.args([steady, leaf].map(|pages| pages.to_string()));
                run(&mut command).ok();
                file
            };
            (0..6).map(one).collect()
        };
        let (before, after) = (record("before", 1), record("after", 3));
        Some(Self {
            _dir: dir,
            before,
            after,
        })
    }

    /// The first of each side, compared.
    fn diff(&self, (n_before, n_after): (usize, usize), words: &[&str]) -> Ran {
        let (before, after) = (&self.before[..n_before], &self.after[..n_after]);
        diff((before, after), words)
    }

    fn json(&self, counts: (usize, usize), words: &[&str]) -> Value {
        let words = [&["--format", "json"], words].concat();
        serde_json::from_str(&self.diff(counts, &words).ok().stdout).unwrap()
    }
}

fn diff((before, after): (&[PathBuf], &[PathBuf]), words: &[&str]) -> Ran {
    let dashes = [PathBuf::from("--")];
    let files = before.iter().chain(&dashes).chain(after);
    run(rprof(["diff", "--no-inline"]).args(words).args(files))
}

/// The row of a function of the program.
fn row<'j>(event: &'j Value, symbol: &str) -> &'j Value {
    let rows = event["rows"].as_array().unwrap();
    let found = rows
        .iter()
        .find(|row| row["sym"] == format!("[.] {symbol}"));
    found.unwrap_or_else(|| panic!("no {symbol}: {event}"))
}

fn change(judged: &Value) -> f64 {
    judged["change"].as_f64().unwrap()
}

#[test]
fn what_changed_is_marked_in_all_events_however_many_runs_a_side_has() {
    let Some(runs) = Runs::recorded() else {
        return;
    };
    for counts in [(6, 6), (6, 3), (1, 6), (2, 5), (1, 1)] {
        let json = runs.json(counts, &[]);
        let events = json["events"].as_array().unwrap();
        assert_eq!(events.len(), 2, "{json}");
        for event in events {
            let leaf = row(event, "leaf");
            assert!(
                (1.9..2.1).contains(&change(&leaf["own"])),
                "{counts:?} {leaf}"
            );
            let interval = leaf["own"]["interval"].as_array().unwrap();
            assert!(interval[0].as_f64() < Some(change(&leaf["own"])), "{leaf}");
            // The caller does nothing itself.
            let outer = row(event, "outer");
            assert_eq!(outer["after"]["samples"], 0, "{outer}");
            assert!((1.9..2.1).contains(&change(&outer["children"])), "{outer}");
            let steady = &row(event, "steady")["own"];
            assert!(change(steady).abs() < 0.05, "{steady}");
            assert_eq!(steady["is_sure"], false, "{counts:?} {steady}");
            if counts.0 > 1 {
                assert_eq!(leaf["own"]["is_sure"], true, "{counts:?} {leaf}");
                assert_eq!(outer["children"]["is_sure"], true, "{counts:?} {outer}");
                assert_eq!(event["total"]["is_sure"], true, "{counts:?} {event}");
            }
        }
    }
}

#[test]
fn own_samples_are_the_same_without_what_is_called() {
    let Some(runs) = Runs::recorded() else {
        return;
    };
    let own = |words: &[&str]| -> Vec<(String, String)> {
        let json = runs.json((2, 2), words);
        let rows = json["events"][0]["rows"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["before"]["samples"] != 0 || row["after"]["samples"] != 0);
        // Marks are bounded over all tests, and Children are tests.
        let rows = rows.map(|row| {
            let own = &row["own"];
            let numbers = [
                &own["before"],
                &own["after"],
                &own["interval"],
                &own["p_value"],
            ];
            (row["sym"].to_string(), format!("{numbers:?}"))
        });
        rows.collect()
    };
    assert_eq!(own(&["--no-children"]), own(&[]));
    let text = runs.diff((1, 1), &["--no-children"]).ok().stdout;
    assert!(!text.contains("Children"), "{text}");
    let words = ["--no-children", "--fail-if", "children:outer>1%"];
    let said = runs.diff((1, 1), &words).fails(2);
    assert!(said.contains("sym:NAME"), "{said}");
}

#[test]
fn each_recording_is_compared_by_itself() {
    let Some(runs) = Runs::recorded() else {
        return;
    };
    let after = [runs.before[5].clone(), runs.after[0].clone()];
    let each = |words: &[&str]| {
        let words = [&["--each"], words].concat();
        diff((&runs.before[..5], &after), &words)
    };
    let text = each(&[]).ok().stdout;
    let named = format!("# Regressed: 1 of 2: {}\n", after[1].display());
    assert!(text.contains(&named), "{text}");
    let json: Value = serde_json::from_str(&each(&["--format", "json"]).ok().stdout).unwrap();
    let compared = json["recordings"].as_array().unwrap();
    let regressed = compared.iter().map(|one| &one["has_regressed"]);
    assert_eq!(regressed.collect::<Vec<_>>(), [false, true]);
    // Of each by itself, that is what one comparison says.
    let leaf = &row(&compared[1]["comparison"]["events"][0], "leaf")["own"];
    assert!((1.9..2.1).contains(&change(leaf)), "{leaf}");
    let said = each(&["--fail-if", "total>+10%"]).fails(1);
    assert!(said.contains("beyond the limit"), "{said}");
    // Of another event, it is named.
    let spin = Recording::fixture("spin").file;
    let said = diff((&runs.before[..2], std::slice::from_ref(&spin)), &[]).fails(2);
    let named = format!(
        "{} and 1 other have minor-faults:u, page-faults:u; {} has cpu-clock:u",
        runs.before[0].display(),
        spin.display()
    );
    assert!(said.contains(&named), "{said}");
    // Without dashes the first is before.
    let mut plain = rprof(["diff", "--each"]);
    let text = run(plain.args(&runs.before[..3])).ok().stdout;
    assert!(
        text.contains("each recording against 1 recording before"),
        "{text}"
    );
    assert!(text.contains("# Regressed: none of 2"), "{text}");
    let mut trees = rprof(["diff", "--each", "-g"]);
    run(trees.args(&runs.before[..3])).fails(2);
}

#[test]
fn a_gate_has_an_exit_code_for_each_end() {
    let Some(runs) = Runs::recorded() else {
        return;
    };
    let asked = |condition: &str| runs.diff((6, 6), &["--fail-if", condition]);
    for condition in [
        "sym:leaf>+100%",
        "children:outer>+100%",
        "total>+10%",
        "sym:leaf>+5pp",
    ] {
        let said = asked(condition).fails(1);
        assert!(said.contains("beyond the limit"), "{condition}: {said}");
    }
    let json = runs.json((6, 6), &[]);
    let leaf = &row(&json["events"][0], "leaf")["own"];
    let low = leaf["interval"][0].as_f64().unwrap();
    // The estimate is beyond it, and the interval's low end is not.
    let between = 100.0 * (low + 3.0 * change(leaf)) / 4.0;
    for (condition, says) in [
        ("sym:steady>+20%", "within the limit"),
        ("dso:touch<+10%", "within the limit"),
        (
            &format!("sym:leaf>+{between:.6}%"),
            "more runs would decide",
        ),
        // The program has it, and no run had a sample of it.
        ("sym:seldom>+5%", "not checked"),
    ] {
        let text = asked(condition).ok().stdout;
        let line = text.lines().find(|line| line.starts_with("# Condition:"));
        assert!(
            line.is_some_and(|line| line.contains(says)),
            "{condition}: {text}"
        );
    }
    for (condition, says) in [
        ("sym:laef>+5%", "did you mean 'leaf'?"),
        ("dso:seldom>+5%", "'seldom' is in no recording"),
        ("leaf>+5%", "sym:NAME"),
    ] {
        let said = asked(condition).fails(2);
        assert!(said.contains(says), "{condition}: {said}");
    }
    let words = ["--per", "cpu-clock", "--fail-if", "total>1%"];
    runs.diff((6, 6), &words).fails(2);
    let missing = Path::new("/nowhere/perf.data").to_path_buf();
    let words = ["--fail-if", "total>1%"];
    diff((&runs.before, &[missing]), &words).fails(2);
    // A flag behind the dashes would be a recording.
    let flag = PathBuf::from("--fail-if=total>1%");
    let said = diff((&runs.before, &[runs.after[0].clone(), flag]), &[]).fails(2);
    assert!(said.contains("comes after --"), "{said}");
}
