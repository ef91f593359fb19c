//! pprof's own tool reads our files.

use crate::common::{Recording, needs, run, scratch, tool};
use std::collections::BTreeMap;
use std::path::Path;

/// Output of a command of pprof's; nothing is looked for beside the file.
#[track_caller]
fn pprof(path: &Path, args: &[&str]) -> String {
    let mut command = tool("go");
    command
        .args(["tool", "pprof", "-symbolize=none"])
        .args(args);
    let home = path.parent().unwrap();
    let command = command.env("HOME", home).env("PPROF_TMPDIR", home);
    run(command.arg(path)).ok().stdout
}

type Rows = BTreeMap<String, (u64, u64)>;

/// Sum, and rows by name: flat and cumulative.
fn top(path: &Path, args: &[&str]) -> (u64, Rows) {
    let all = ["-top", "-nodecount=0", "-nodefraction=0"];
    let text = pprof(path, &[&all[..], args].concat());
    let total = text.split("% of ").nth(1).unwrap();
    let total = total.split(' ').next().unwrap().parse().unwrap();
    let rows = text
        .lines()
        .skip_while(|line| !line.contains("flat%"))
        .skip(1);
    let rows = rows.map(|line| {
        let mut words = line.split_whitespace();
        let mut number = |nth| words.nth(nth).unwrap().parse::<u64>().unwrap();
        let (flat, cum) = (number(0), number(2));
        let name: Vec<&str> = words.skip(1).collect();
        (name.join(" "), (flat, cum))
    });
    (total, rows.collect())
}

/// Samples and weight of each event.
pub(crate) fn totals(
    path: &Path,
    events: &[(String, u64, u64)],
) -> Option<Vec<(String, u64, u64)>> {
    needs!("go" in "golang-go");
    let raw = pprof(path, &["-raw"]);
    let samples = raw.lines().skip_while(|line| *line != "Samples:").skip(1);
    let mut samples = samples.take_while(|line| *line != "Locations");
    let kinds: Vec<&str> = samples.next().unwrap().split_whitespace().collect();
    // Values, a colon, locations; lines of labels come after each.
    let values = samples.filter_map(|line| {
        let (values, _) = line.split_once(':')?;
        let values = values.split_whitespace().map(str::parse);
        let values: Vec<u64> = values.collect::<Result<_, _>>().ok()?;
        (values.len() == kinds.len()).then_some(values)
    });
    let mut sums = vec![0; kinds.len()];
    for values in values {
        sums.iter_mut()
            .zip(values)
            .for_each(|(sum, value)| *sum += value);
    }
    let total = |name: &str| {
        let mut names = kinds.iter().map(|kind| kind.rsplit_once('/').unwrap().0);
        sums[names.position(|kind| kind == name).unwrap()]
    };
    let sums = events.iter().map(|(name, ..)| {
        let samples = match events.len() {
            1 => "samples".to_owned(),
            _ => format!("{name}-samples"),
        };
        (name.clone(), total(&samples), total(name))
    });
    Some(sums.collect())
}

/// A report's table by function: self samples, and the percentage with all that it called.
fn report(inlines: &[&str]) -> BTreeMap<String, (u64, String)> {
    let args = ["--sort", "sym", "-n", "-g", "none"];
    let text = Recording::fixture("spin")
        .run("report", &[&args[..], inlines].concat())
        .stdout;
    let rows = text
        .lines()
        .filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let rows = rows.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = words[4..].join(" ");
        (name, (words[2].parse().unwrap(), words[0].to_owned()))
    });
    rows.collect()
}

#[test]
fn top_has_the_reports_flat_and_cumulative_numbers() {
    needs!("go" in "golang-go");
    let dir = scratch();
    // Functions that were inlined are left out on either side: for pprof, a sample's own function
    // is the one inlined there, for a report's row the one that holds the code.
    let whole = Recording::fixture("spin").export(dir.path(), "whole.pb.gz", &[]);
    let plain = Recording::fixture("spin").export(dir.path(), "plain.pb.gz", &["--no-inline"]);
    let expected = report(&["--no-inline"]);
    assert!(expected.len() >= 4, "{expected:?}");
    for (path, args) in [
        (whole, &["-noinlines", "-sample_index=samples"][..]),
        (plain, &["-sample_index=samples"]),
    ] {
        let (total, rows) = top(&path, args);
        let rows: BTreeMap<String, (u64, String)> = rows
            .into_iter()
            .map(|(name, (flat, cum))| {
                #[allow(clippy::cast_precision_loss, reason = "small numbers")]
                let percent = 100.0 * cum as f64 / total as f64;
                (name, (flat, format!("{percent:.2}%")))
            })
            .collect();
        assert_eq!(rows, expected);
    }
}

#[test]
fn peek_shows_callers_and_inlined_functions() {
    needs!("go" in "golang-go");
    let dir = scratch();
    let path = Recording::fixture("spin").export(dir.path(), "spin.pb.gz", &[]);
    let peek = pprof(&path, &["-peek", "^hot$", "-sample_index=samples"]);
    let words: Vec<Vec<&str>> = peek
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let has_row = |row: &[&str]| words.iter().any(|words| words[..] == *row);
    // work calls hot 149 times, which all are in helper.
    assert!(has_row(&["149", "100%", "|", "work"]), "{peek}");
    assert!(
        has_row(&["149", "100%", "|", "helper", "(inline)"]),
        "{peek}"
    );
}

#[test]
fn labels_mappings_and_build_ids_are_there() {
    needs!("go" in "golang-go");
    let dir = scratch();
    let path = Recording::fixture("spin").export(dir.path(), "spin.pb.gz", &[]);
    let raw = pprof(&path, &["-raw"]);
    assert!(raw.contains("comm:[spin]"), "{raw}");
    assert!(
        raw.contains("tid:[1269]") && raw.contains("pid:[1269]"),
        "{raw}"
    );
    assert!(raw.contains("cpu:[0]"), "{raw}");
    let id = "49d8c258fb22da6d41c145a3ee8f3b3965f4176a";
    let mapping = format!("/tmp/rprof-fixture/spin {id} [FN][FL][LN][IN]");
    assert!(raw.contains(&mapping), "{raw}");
    let sorted = pprof(&path, &["-tags"]);
    assert!(sorted.contains("comm: Total"), "{sorted}");
}
