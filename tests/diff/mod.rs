//! `rprof diff`: perf's numbers where perf has them, and beside them what is noise.

mod runs;

use crate::common;
use crate::common::{Recording, compile_c, live_alone, needs, perf, rprof, run, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Four functions; arguments say how much the second one does, and how often the fourth.
const PROGRAM: &str = r#"
    #include <stdlib.h>
    static volatile unsigned long sink;
    #define WORK(name) __attribute__((noinline)) void name(unsigned long n) \
        { for (unsigned long i = 0; i < n; i++) sink += i; }
    WORK(alpha) WORK(beta) WORK(gamma_) WORK(delta)
    int main(int n, char **words) {
        unsigned long more = n > 1 ? atol(words[1]) : 100, extra = n > 2 ? atol(words[2]) : 0;
        for (int i = 0; i < 600; i++) {
            alpha(900000); beta(6000 * more); gamma_(300000);
            if (extra) delta(3000 * extra);
        }
    }
"#;

/// Recordings before and after; rows are of the program alone, since perf and rprof name other code by other means.
struct Pair {
    _dir: tempfile::TempDir,
    before: PathBuf,
    after: PathBuf,
}

impl Pair {
    fn made() -> Option<Self> {
        needs!(cc, perf);
        let live = live_alone()?;
        let dir = scratch();
        let program = compile_c(dir.path(), "work", PROGRAM);
        let record = |name: &str, words: &[&str]| {
            let file = dir.path().join(name);
            let mut command = rprof(["record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o"]);
            command.arg(&file).arg("--").arg(&program).args(words);
            run(&mut command).ok();
            file
        };
        let before = record("before.data", &[]);
        let after = record("after.data", &["140", "100"]);
        drop(live);
        Some(Self {
            before,
            after,
            _dir: dir,
        })
    }

    fn rprof(&self, words: &[&str]) -> String {
        let mut command = rprof(["diff", "--exact-names", "--no-fde", "--no-inline"]);
        run(command.args(words).args([&self.before, &self.after]))
            .ok()
            .stdout
    }

    fn perf(&self, words: &[&str]) -> String {
        let mut command = perf(["diff", "-f"]);
        run(command.args(words).args([&self.before, &self.after]))
            .ok()
            .stdout
    }
}

/// Rows of a table with `|` between columns; of the first columns, as many as there are in `columns`, and of those named.
fn rows(table: &str, columns: &[&str]) -> BTreeSet<Vec<String>> {
    let heading = table.lines().rfind(|line| line.starts_with("# Baseline"));
    let heading = heading.unwrap().trim_start_matches("# ");
    let cells = |line: &str| -> Vec<String> {
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let names = cells(heading);
    let places: Vec<usize> = columns
        .iter()
        .map(|column| names.iter().position(|name| name == column).unwrap())
        .collect();
    let lines = table
        .lines()
        .filter(|line| line.contains('|') && !line.starts_with('#'));
    let picked = |line: &str| {
        let cells = cells(line);
        places.iter().map(|&at| cells[at].clone()).collect()
    };
    // Rows without samples of their own are shown for what they called: perf has none.
    let is_own = |row: &Vec<String>| {
        let (_, numbers) = row.split_last().unwrap();
        numbers.iter().any(|cell| !cell.is_empty() && cell != "0")
    };
    lines.map(picked).filter(is_own).collect()
}

#[test]
fn rows_are_those_of_perf_diff() {
    let Some(pair) = Pair::made() else {
        return;
    };
    // perf leaves out the column of a filter for one name.
    let of_program = ["-d", "work"];
    for (words, column, key) in [
        (&[][..], "Delta Abs", "Symbol"),
        (&["-c", "delta"], "Delta", "Symbol"),
        (&["-c", "ratio"], "Ratio", "Symbol"),
        (&["-c", "wdiff:2,-3"], "Weighted diff", "Symbol"),
        (&["--percentage", "relative"], "Delta Abs", "Symbol"),
        (&["-S", "beta,delta"], "Delta Abs", "Symbol"),
        (&["-s", "symbol"], "Delta Abs", "Symbol"),
        (&["-s", "comm,dso"], "Delta Abs", "Command"),
    ] {
        let words = [&of_program, words, &["-t", "|"]].concat();
        let columns = ["Baseline", column, key];
        let own = rows(&pair.rprof(&words), &columns);
        assert_eq!(own, rows(&pair.perf(&words), &columns), "{words:?}");
        assert!(!own.is_empty(), "{words:?}");
    }
    // With -b, perf's baseline is of the rows that are left.
    let words = ["-d", "work", "-t", "|", "-b"];
    let columns = ["Delta Abs", "Symbol"];
    assert_eq!(
        rows(&pair.rprof(&words), &columns),
        rows(&pair.perf(&words), &columns)
    );
    let words = ["-d", "work", "-t", "|", "-p", "-F"];
    let columns = [
        "Baseline",
        "Base period",
        "Delta Abs",
        "Formula",
        "Period",
        "Symbol",
    ];
    let own = rows(&pair.rprof(&words), &columns);
    assert_eq!(own, rows(&pair.perf(&words), &columns));
}

#[test]
fn changes_beyond_noise_are_marked_and_conditions_fail_on_them() {
    let Some(pair) = Pair::made() else {
        return;
    };
    let asked = |words: &[&str]| {
        let mut command = rprof(["diff", "--no-inline"]);
        run(command.args(words).args([&pair.before, &pair.after]))
    };
    let json: Value = serde_json::from_str(&asked(&["--format", "json"]).ok().stdout).unwrap();
    let rows = json["events"][0]["rows"].as_array().unwrap();
    let row = |symbol: &str| {
        let found = rows
            .iter()
            .find(|row| row["sym"] == format!("[.] {symbol}"));
        found.unwrap()
    };
    // Twice as much as before would be noise on no machine; what was not there is new.
    assert!(row("delta")["own"]["is_sure"] == true, "{}", row("delta"));
    assert!(row("delta")["own"].get("change").is_none());
    let code = |words: &[&str]| asked(words).status.code();
    assert_eq!(code(&["--fail-if", "sym:delta>+5%"]), Some(1));
    assert_eq!(code(&["--fail-if", "sym:alpha>+500%"]), Some(0));
    assert_eq!(
        code(&["--fail-if", "dso:work>+5pp", "--fail-if", "sym:delta>+5pp"]),
        Some(1)
    );
    let said = asked(&["--format", "github", "--fail-if", "sym:delta>+5%"]).fails(1);
    assert!(
        said.contains("::error title=rprof diff sym%3Adelta>+5%25::"),
        "{said}"
    );
    let said = asked(&["--fail-if", "sym:epsilon>+5%"]).fails(2);
    assert!(said.contains("'epsilon' is in no recording"), "{said}");
    let said = asked(&["--per", "event", "--fail-if", "total>+5%"]).fails(2);
    assert!(said.contains("--per run"), "{said}");
}

fn fixture(name: &str) -> PathBuf {
    Recording::fixture(name).file
}

fn diff_of(files: &[&Path], words: &[&str]) -> common::Ran {
    run(rprof(["diff"]).args(words).args(files))
}

#[test]
fn a_recording_does_not_differ_from_itself() {
    let file = fixture("spin");
    for words in [
        &[][..],
        &["--per", "time"],
        &["--per", "event"],
        &["--exact-names"],
    ] {
        let ran = diff_of(&[&file, &file], words).ok();
        assert!(ran.stdout.contains("# Event '"), "{}", ran.stdout);
        let marked = ran
            .stdout
            .lines()
            .find(|line| !line.starts_with('#') && line.contains('*'));
        assert_eq!(marked, None, "{words:?}");
        assert_eq!(diff_of(&[&file, &file], words).stdout, ran.stdout);
    }
    let several = diff_of(&[&file, &file, Path::new("--"), &file, &file], &[]).ok();
    assert!(
        several.stdout.contains("# Before: 2 recordings"),
        "{}",
        several.stdout
    );
}

#[test]
fn what_cannot_be_compared_is_said() {
    let file = fixture("spin");
    let said = diff_of(&[&file, &file, &file], &[]).fails(2);
    assert!(said.contains("rprof diff a1 a2 -- b1 b2"), "{said}");
    let said = diff_of(&[&file, &file], &["--fail-if", "total>+x"]).fails(2);
    assert!(
        said.contains("rprof:   total>+x\nrprof:         ^"),
        "{said}"
    );
    let said = diff_of(&[&file, &file], &["--per", "no-such-event"]).fails(2);
    assert!(
        said.contains("--per no-such-event") && said.contains("cpu-time"),
        "{said}"
    );
    let said = diff_of(&[&file, Path::new("/nowhere/perf.data")], &[]).fails(2);
    assert!(said.contains("/nowhere/perf.data"), "{said}");
    let said = diff_of(&[&file, &file], &["-s", "dso,nonsense"]).fails(2);
    assert!(said.contains("'nonsense' is not a sort key"), "{said}");
    let said = diff_of(&[&file, &file], &["-c", "cycles"]).fails(2);
    assert!(said.contains("wdiff:W1,W2"), "{said}");
}

#[test]
fn trees_are_beside_the_table_and_a_renamed_program_is_the_same() {
    needs!(cc, live);
    let dir = scratch();
    let recorded = ["prog-old", "prog-new"].map(|name| {
        // Builds that are the same are known by their build id.
        let code = format!("{PROGRAM} int of_{};", name.replace('-', "_"));
        let program = compile_c(dir.path(), name, &code);
        let file = dir.path().join(format!("{name}.data"));
        let mut command = rprof(["record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o"]);
        run(command.arg(&file).arg("--").arg(&program)).ok();
        file
    });
    let diff = |words: &[&str]| run(rprof(["diff"]).args(words).args(&recorded));
    let text = diff(&["-g"]).ok().stdout;
    assert!(text.contains("comparing prog-old with prog-new"), "{text}");
    let rows = text.lines().filter(|line| line.contains("[.] alpha"));
    let rows: Vec<&str> = rows.collect();
    assert!(rows.len() == 1 && !rows[0].contains("removed"), "{rows:?}");
    let tree = text.split("# Calls of 'cpu-clock:u'").nth(1).unwrap();
    let of_both = tree.lines().find(|line| line.ends_with(" alpha")).unwrap();
    assert!(!of_both.contains(" 0.00%"), "{of_both}");
    for words in [&["-g", "--format", "json"][..], &["-g", "--exact-names"]] {
        assert!(!diff(words).status.success(), "{words:?}");
    }
}

/// From the first sample to the last, nanoseconds.
fn span_of(recording: &Recording) -> f64 {
    let samples = recording.read("script", &["--ns", "-F", "time"]);
    let times = samples.lines().filter_map(|line| {
        let (seconds, ns) = line.trim().trim_end_matches(':').split_once('.')?;
        Some(seconds.parse::<f64>().ok()? * 1e9 + ns.parse::<f64>().ok()?)
    });
    let times: Vec<f64> = times.collect();
    times[times.len() - 1] - times[0]
}

#[test]
fn two_times_of_one_recording_are_compared() {
    let spin = Recording::fixture("spin");
    let diff = |words: &[&str]| {
        let mut command = rprof(["diff", "--format", "json"]);
        command.args(words).arg(&spin.file);
        run(&mut command)
    };
    let compared = diff(&["--time", "0%-30%:30%-100%"]).ok().stdout;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let event = &compared["events"][0];
    let of_report = |time: &str| {
        let table = spin.read("report", &["--format", "json", "--time", time]);
        let table: Value = serde_json::from_str(&table).unwrap();
        table["events"][0]["samples"].clone()
    };
    assert_eq!(event["before"]["samples"], of_report("0%-30%"));
    assert_eq!(event["after"]["samples"], of_report("30%-100%"));
    let sum =
        event["before"]["samples"].as_u64().unwrap() + event["after"]["samples"].as_u64().unwrap();
    assert_eq!(sum, 212);
    // Amounts are those of a second of each time.
    let span_ns = span_of(&spin);
    for (side, share) in [("before", 0.3), ("after", 0.7)] {
        let weight = event[side]["weight"].as_f64().unwrap();
        let per_second = weight / (span_ns * share / 1e9);
        let told = event["total"][side].as_f64().unwrap();
        assert!(
            (told / per_second - 1.0).abs() < 0.01,
            "{side}: {told}, {per_second}"
        );
    }
    // Also where one side has several times: what lies between them does not count.
    let both = diff(&["--time", "0%-10%,50%-60%:70%-90%"]).ok().stdout;
    let both: Value = serde_json::from_str(&both).unwrap();
    let event = &both["events"][0];
    for side in ["before", "after"] {
        let per_second = event[side]["weight"].as_f64().unwrap() / (span_ns * 0.2 / 1e9);
        let told = event["total"][side].as_f64().unwrap();
        assert!(
            (told / per_second - 1.0).abs() < 0.01,
            "{side}: {told}, {per_second}"
        );
    }
    // What is in both cannot differ.
    let overlap = diff(&["--time", "0%-60%:50%-100%"]).fails(2);
    assert!(overlap.contains("the two times overlap by"), "{overlap}");
    // Also where the recording has two names.
    let dir = scratch();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&spin.file, &link).unwrap();
    let overlap = diff(&["--time", "0%-60%:50%-100%", link.to_str().unwrap()]).fails(2);
    assert!(overlap.contains("the two times overlap by"), "{overlap}");
    let mut text = rprof(["diff", "--time", "0%-30%:30%-100%"]);
    let text = run(text.arg(&spin.file)).ok().stdout;
    assert!(text.contains("--per time"), "{text}");
    let three = diff(&["--time", "0%-30%:30%-60%:60%-100%"]).fails(2);
    assert!(three.contains("expected at most two times"), "{three}");
    let mut one = rprof(["diff", "--time", "+1,"]);
    let said = run(one.arg(&spin.file).current_dir(dir.path())).fails(2);
    assert!(
        said.contains("no perf.data.old to compare with; to compare two times"),
        "{said}"
    );
}
