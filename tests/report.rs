//! `rprof report` and `rprof flame` on a fixture whose profile is known.

mod against;
mod events;
mod flame;
mod folded;
mod folds;
mod formats;
mod header;
mod levels;
mod pprof;
mod quality;
mod screen;
mod several;
#[cfg(feature = "parquet")]
mod tables;
mod times;
mod trees;

use crate::common;
use crate::common::{closed_pipe, fixtures, golden, number_after, rprof, run, scratch, write};
use std::path::PathBuf;
use std::process::Stdio;

fn spin() -> PathBuf {
    fixtures().join("spin")
}

/// Runs a reader on the fixture.
fn read(command: &str, args: &[&str]) -> common::Ran {
    let dir = spin();
    let mut rprof = rprof([command]);
    rprof
        .arg("-i")
        .arg(dir.join("perf.data"))
        .arg("--symfs")
        .arg(dir.join("root"));
    run(rprof.args(args))
}

fn report(args: &[&str]) -> String {
    read("report", args).ok().stdout
}

#[test]
fn the_table_with_trees_is_as_reviewed() {
    golden(&spin().join("report.txt"), &report(&[]));
}

#[test]
fn a_recording_is_a_plain_word_or_that_of_i() {
    let file = spin().join("perf.data");
    for reader in ["script", "dump", "info", "symbols"] {
        let plain = run(rprof([reader]).arg(&file)).ok().stdout;
        let named = run(rprof([reader, "-i"]).arg(&file)).ok().stdout;
        assert!(!plain.is_empty() && plain == named, "{reader}");
    }
    let both = run(rprof(["info", "other.data", "-i"]).arg(&file)).fails(2);
    assert!(both.contains("either 'other.data' or -i '"), "{both}");
}

#[test]
fn the_flat_table_is_as_reviewed() {
    golden(
        &spin().join("flat.txt"),
        &report(&["--no-children", "-g", "none", "-n"]),
    );
}

#[test]
fn trees_from_callees_are_as_reviewed() {
    golden(
        &spin().join("callee.txt"),
        &report(&["--no-children", "-g", "callee,1", "--no-inline"]),
    );
}

#[test]
fn folded_stacks_are_as_reviewed() {
    golden(
        &spin().join("folded.txt"),
        &read("flame", &["--folded"]).ok().stdout,
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for args in [&["report"][..], &["flame"]] {
        let once = read(args[0], &[]).ok().stdout;
        assert_eq!(once, read(args[0], &[]).ok().stdout);
    }
}

#[test]
fn the_picture_holds_every_function_once_a_level() {
    let svg = read("flame", &["--title", "a <title>"]).ok().stdout;
    for name in ["_start", "work", "hot", "cold", "helper"] {
        let boxes = svg.matches(&format!("<title>{name} (")).count();
        assert_eq!(boxes, 1, "{name}");
    }
    assert!(svg.contains("a &lt;title&gt;"));
    let icicle = read("flame", &["--inverted", "--reverse"]).ok().stdout;
    assert!(icicle.matches("<title>_start (").count() > 1);
}

#[test]
fn filters_choose_samples_and_percentages_are_of_all() {
    let all = number_after(&report(&[]), "# Samples: ").unwrap();
    let rows = |args: &[&str]| -> Vec<String> {
        let flat = [&["--no-children", "-g", "none"], args].concat();
        let table = report(&flat);
        let counted = number_after(&table, "# Samples: ").unwrap();
        assert_eq!(counted, all);
        let shown = number_after(&table, "# Shown: ").unwrap_or(all);
        let of_all = " (percentages are of all)\n";
        assert_eq!(table.contains(of_all), shown < all, "{table}");
        let relative = report(&[&flat[..], &["--percentage", "relative"]].concat());
        assert_eq!(number_after(&relative, "# Samples: "), Some(shown));
        let of_all = format!("# All: {all} samples, event count ");
        assert_eq!(relative.contains(&of_all), shown < all, "{relative}");
        let filters: Vec<&str> = args.to_vec();
        let is_layout = args
            .iter()
            .any(|arg| matches!(*arg, "--percent-limit" | "--sort"));
        let filters = if is_layout { Vec::new() } else { filters };
        let each = read("script", &[&["-F", "tid"], &filters[..]].concat()).ok();
        assert_eq!(shown, each.stdout.lines().count() as u64);
        table
            .lines()
            .filter(|line| line.contains("% ") && !line.starts_with('#'))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rows(&[]).len(), 2);
    assert_eq!(rows(&["--symbols", "helper"]).len(), 1);
    assert_eq!(rows(&["--symbols", "hot"]).len(), 0);
    assert_eq!(rows(&["--comms", "spin", "--dsos", "spin"]).len(), 2);
    assert_eq!(rows(&["--comms", "other"]).len(), 0);
    assert_eq!(rows(&["--pid", "1"]).len(), 0);
    assert_eq!(rows(&["--percent-limit", "50"]).len(), 1);
    assert_eq!(rows(&["--sort", "dso"]).len(), 1);
    let warning = read("report", &["--comms", "other"]).ok().stderr;
    assert!(warning.contains("no samples match the filter"), "{warning}");
    // Times and CPUs choose what is looked at, totals too.
    let none = report(&["--time", "0,1"]);
    assert_eq!(number_after(&none, "# Samples: "), Some(0));
    let warning = read("report", &["--time", "0,1"]).ok().stderr;
    assert!(warning.contains("no samples match the filter"), "{warning}");
    let deepest = read("flame", &["--folded", "--max-stack", "1", "--no-inline"])
        .ok()
        .stdout;
    assert!(
        deepest
            .lines()
            .all(|line| line.starts_with("spin;hot ") || line.starts_with("spin;cold ")),
        "{deepest}"
    );
}

#[test]
fn a_changed_or_missing_binary_is_said_and_never_named_by_another() {
    let dir = scratch();
    let root = dir.path().join("tmp/rprof-fixture");
    std::fs::create_dir_all(&root).unwrap();
    let read = || {
        let mut command = rprof(["report", "--no-children", "-g", "none", "-i"]);
        command
            .arg(spin().join("perf.data"))
            .arg("--symfs")
            .arg(dir.path())
            // perf may have put a copy into its cache there.
            .env("HOME", dir.path());
        run(&mut command).ok().stdout
    };
    let table = read();
    assert!(
        table.contains("file not found") && !table.contains("hot"),
        "{table}"
    );
    // Another program at the same path: it has symbols, and none of them may appear.
    std::fs::copy(env!("CARGO_BIN_EXE_rprof"), root.join("spin")).unwrap();
    let table = read();
    assert!(
        table.contains("changed since the recording: expected build id "),
        "{table}"
    );
    assert!(
        table
            .lines()
            .filter(|line| line.contains("% ") && line.starts_with(' '))
            .all(|line| line.contains("0x")),
        "{table}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = spin();
    for args in [&["report"][..], &["flame", "--folded"], &["flame"]] {
        let child = rprof(args)
            .arg("-i")
            .arg(dir.join("perf.data"))
            .stdout(closed_pipe())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ran = common::finish(child);
        assert_eq!(
            (ran.status.code(), ran.stderr.contains("panicked")),
            (Some(0), false),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn names_with_control_characters_reach_no_terminal() {
    let dir = scratch();
    let mut bytes = std::fs::read(spin().join("perf.data")).unwrap();
    // The name in its COMM record: kind 3, misc COMM_EXEC.
    let comm = b"spin\0\0\0\0";
    let at = bytes.windows(8).position(|window| window == comm).unwrap();
    bytes[at..at + 8].copy_from_slice(b"\x1b[31m;9\0");
    let path = dir.path().join("perf.data");
    write(&path, &bytes);
    let table = run(rprof(["report", "-i"]).arg(&path)).ok().stdout;
    assert!(
        table.contains("\\x1b[31m;9") && !table.contains('\x1b'),
        "{table}"
    );
    let folded = run(rprof(["flame", "--folded", "-i"]).arg(&path))
        .ok()
        .stdout;
    assert!(
        folded.lines().all(|line| line.starts_with("\\x1b[31m:9;")),
        "{folded}"
    );
}

#[test]
fn wrong_words_are_usage_errors_with_the_right_ones() {
    let unknown = read("report", &["--sort", "nonsense"]).fails(2);
    for known in ["comm", "dso", "sym", "pid", "tid", "cpu", "cgroup"] {
        assert!(unknown.contains(&format!(" {known},")), "{unknown}");
    }
    assert!(
        read("report", &["-g", "sideways"])
            .fails(2)
            .contains("caller")
    );
    read("report", &["--time", "yesterday"]).fails(2);
    read("flame", &["--event", "nothing"]).fails(1);
}

#[test]
fn whatever_is_typed_wrong_is_said_in_one_form() {
    let dir = scratch();
    for words in [
        "bogus",
        "report --bogus",
        "report --sort nonsense",
        "report -g sideways",
        "report --time x",
        "report a -i b",
        "script a -i b",
        "script -F nonsense",
        "export",
        "export -o profile.svg",
        "export --format json --event x",
        "flame -i",
        "record",
        "record --bogus",
        "record -F 0 true",
        "record -m x true",
        "record -C x true",
        "record -e no-such-event true",
        "record --duration 0 true",
        "record --call-graph fp --post-unwind true",
        "record -o - --embed-symbols true",
    ] {
        let mut command = rprof(words.split(' '));
        let said = run(command.current_dir(dir.path())).fails(2);
        assert!(said.starts_with("rprof: error: "), "{words}: {said}");
        assert!(
            said.lines().all(|line| line.starts_with("rprof: ")),
            "{said}"
        );
    }
}

#[test]
fn help_is_as_wide_as_a_page_where_there_is_no_terminal() {
    let wide = |words: &[&str], columns: Option<&str>| {
        let mut command = rprof(words);
        columns.map(|columns| command.env("COLUMNS", columns));
        let help = run(&mut command).ok().stdout;
        help.lines().map(|line| line.chars().count()).max().unwrap()
    };
    for verb in ["record", "report", "export", "script", "symbols"] {
        let widest = wide(&[verb, "--help"], None);
        assert!((60..=80).contains(&widest), "{verb}: {widest}");
        assert!(wide(&[verb, "--help"], Some("120")) > 80, "{verb}");
    }
    assert!(wide(&["--help"], None) <= 80);
}

#[test]
fn the_filter_that_leaves_nothing_is_named_with_what_there_is() {
    let said = |filter: &[&str]| {
        let stderr = read("report", filter).ok().stderr;
        let (_, why) = stderr.split_once("no samples match the filter: ").unwrap();
        why.lines().next().unwrap().to_owned()
    };
    for (filter, why) in [
        (
            &["--comms", "spim"][..],
            "--comms 'spim' leaves no samples (threads: spin): did you mean 'spin'?",
        ),
        (
            &["--comms", "spin", "--dsos", "*.so"],
            "--dsos '*.so' leaves no samples (binaries: spin)",
        ),
        (
            &["--dsos", "spin", "-S", "!helper,!cold"],
            "--symbols '!helper,!cold' leaves no samples (functions: helper, cold)",
        ),
        (
            &["--symbol-filter", "main"],
            "--symbol-filter 'main' leaves no samples (functions: helper, cold)",
        ),
    ] {
        assert_eq!(said(filter), why);
    }
    assert!(said(&["--pid", "1"]).starts_with("--pid '1' leaves no samples (processes: "));
    assert!(said(&["--time", "0,1"]).starts_with("--time '0,1' leaves no samples (times: "));
}
