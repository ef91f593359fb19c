//! What words of `rprof diff` mean.

use crate::args::{Args, Command};
use clap::Parser;
use std::ffi::OsString;

fn sides(words: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
    let args = Args::try_parse_from([&["rprof", "diff"], words].concat());
    let Command::Diff(args) = args.map_err(|error| error.to_string())?.command else {
        return Err(String::new());
    };
    let names = |paths: Vec<std::path::PathBuf>| {
        let names = paths.iter().map(|path| path.display().to_string());
        names.collect()
    };
    let (before, after) = args.sides(words.iter().map(OsString::from))?;
    Ok((names(before), names(after)))
}

#[test]
fn recordings_are_named_as_perf_has_it_or_around_dashes() {
    let both = |before: &[&str], after: &[&str]| {
        let owned = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect();
        Ok((owned(before), owned(after)))
    };
    assert_eq!(sides(&[]), both(&["perf.data.old"], &["perf.data"]));
    assert_eq!(sides(&["b"]), both(&["perf.data.old"], &["b"]));
    assert_eq!(sides(&["a", "b"]), both(&["a"], &["b"]));
    assert_eq!(sides(&["--each", "a", "b", "c"]), both(&["a"], &["b", "c"]));
    assert!(
        sides(&["--each", "a"])
            .unwrap_err()
            .contains("--each needs BEFORE")
    );
    assert_eq!(
        sides(&["a", "b", "--", "c", "./-d"]),
        both(&["a", "b"], &["c", "./-d"])
    );
    assert!(
        sides(&["a", "b", "c"])
            .unwrap_err()
            .contains("a1 a2 -- b1 b2")
    );
    assert!(sides(&["--", "c"]).is_err());
    // As of a shell whose list is empty: not perf's form, which compares two of one side.
    for words in [&["a", "b", "--"][..], &["a", "--"], &["--"]] {
        assert_eq!(sides(words), Err("no recordings after --".to_owned()));
    }
}

#[test]
fn flags_after_the_dashes_are_no_recordings() {
    for words in [
        &["a", "--", "b", "--fail-if", "total>3%"][..],
        &["a", "--", "--fail-if=total>3%", "b"],
        &["a", "--", "b", "-q"],
    ] {
        let said = sides(words).unwrap_err();
        assert!(said.starts_with('-') && said.contains("after --"), "{said}");
    }
}

#[test]
fn conditions_that_are_not_understood_are_of_usage() {
    let error = sides(&["--fail-if", "total>x", "a", "b"]).unwrap_err();
    assert!(error.contains("  total>x\n        ^"), "{error}");
}

#[test]
fn rows_go_by_amounts_unless_an_option_of_perf_says_otherwise() {
    use rprof_diff::RowOrder::{Amount, Baseline, Computed};
    for (words, expected) in [
        (&[][..], Amount),
        (&["-o", "1"], Computed),
        (&["-o", "0"], Baseline),
        (&["-c", "delta-abs"], Computed),
        (&["-c", "ratio", "-o", "0"], Baseline),
    ] {
        let args = Args::try_parse_from([&["rprof", "diff"], words].concat());
        let Command::Diff(args) = args.unwrap().command else {
            panic!("{words:?}");
        };
        assert_eq!(args.order(), expected, "{words:?}");
    }
}
