//! Tips are there, and are for names that rprof does not have.

use super::*;
use crate::args::Args;
use clap::Parser;

/// The heads of the table: commands, and names that they lack.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TIPS.lines().filter_map(head)
}

fn said(words: &[&str]) -> String {
    let command = "record";
    let words = [&["rprof", command], words].concat();
    explained(Args::try_parse_from(words).unwrap_err(), Some(command)).to_string()
}

#[test]
fn perfs_flags_that_are_not_there_have_a_tip() {
    for flag in [
        "--kcore",
        "--debuginfod",
        "--mmap-flush",
        "--no-buffering",
        "--clang-path",
    ] {
        let said = said(&["-o", "x", flag, "true"]);
        assert!(said.contains("leave it out"), "{said}");
        assert!(
            !said.contains("similar") && !said.contains("Usage"),
            "{said}"
        );
    }
    assert!(said(&["--dry-run", "true"]).contains("rprof doctor"));
    assert!(said(&["--timeout", "1000", "true"]).contains("use --duration"));
    assert!(said(&["--bogus", "true"]).contains("--help"));
    let other = said(&["--al-cpus", "true"]);
    assert!(
        other.contains("--all-cpus") && !other.contains("as a value"),
        "{other}"
    );
}

#[test]
fn no_flag_of_ours_is_said_to_be_missing() {
    use clap::CommandFactory;
    let command = Args::command();
    let names = |arg: &clap::Arg| {
        let short = arg.get_short().map(|short| format!("-{short}"));
        let long = arg.get_long().map(|long| format!("--{long}"));
        short.into_iter().chain(long)
    };
    for (commands, missing) in rows() {
        for command_name in commands.split(' ').filter(|name| *name != "rprof") {
            let command = command.find_subcommand(command_name).unwrap();
            let ours: Vec<String> = command.get_arguments().flat_map(names).collect();
            let known = missing
                .split(' ')
                .find(|name| ours.iter().any(|own| own == name));
            assert_eq!(known, None);
        }
    }
}

#[test]
fn every_row_has_a_tip_and_every_name_one_row() {
    let mut seen = std::collections::BTreeSet::new();
    for (commands, names) in rows() {
        for command in commands.split(' ') {
            for name in names.split(' ') {
                assert!(!tip(command, name).unwrap().is_empty(), "{command} {name}");
                assert!(seen.insert((command, name)), "{command} {name}");
            }
        }
    }
    // Words of a tip are no names.
    assert_eq!(tip("rprof", "it"), None);
}

#[test]
fn perfs_commands_that_are_not_there_have_a_tip() {
    use clap::CommandFactory;
    let said = |name: &str| {
        let error = Args::try_parse_from(["rprof", name]).unwrap_err();
        explained(error, Some(name)).to_string()
    };
    let commands = rows().filter(|(commands, _)| *commands == "rprof");
    for name in commands.flat_map(|(_, names)| names.split(' ')) {
        assert!(Args::command().find_subcommand(name).is_none(), "{name}");
        let (said, tip) = (said(name), tip("rprof", name).unwrap());
        assert!(said.contains(&tip) && !said.contains("similar"), "{said}");
    }
    assert!(said("reprot").contains("'report'"));
    assert!(said("qqqqqq").contains("rprof --help"));
}

#[test]
fn flags_of_perf_report_have_their_own_tips() {
    for (flag, instead) in [
        ("-D", "rprof dump"),
        ("-T", "-s tid"),
        ("--tui", "rprof tui"),
        ("--raw-trace", "trace_fields"),
        ("--percent-type", "--percentage"),
        ("--pretty", "--format csv"),
    ] {
        let words = ["rprof", "report", flag];
        let error = Args::try_parse_from(words).unwrap_err();
        let said = explained(error, Some("report")).to_string();
        assert!(said.contains(instead), "{said}");
    }
}

#[test]
fn flags_of_perf_annotate_have_their_own_tips() {
    for (flag, instead) in [
        ("--print-line", "file and number"),
        ("-l", "file and number"),
        ("-P", "--format json"),
        ("--tui", "rprof tui"),
        ("--itrace", "not decoded"),
        ("--objdump", "without other tools"),
        ("--skip-missing", "leave it out"),
    ] {
        let words = ["rprof", "annotate", flag];
        let error = Args::try_parse_from(words).unwrap_err();
        let said = explained(error, Some("annotate")).to_string();
        assert!(said.contains(instead), "{said}");
        assert!(!said.contains("similar"), "{said}");
    }
}

#[test]
fn flags_of_perf_top_have_their_own_tips() {
    for (flag, instead) in [
        ("-f", "--percent-limit"),
        ("--dsos", "rprof report"),
        ("--sym-annotate", "rprof annotate"),
        ("--tui", "leave it out"),
        ("-r", "leave it out"),
    ] {
        let words = ["rprof", "top", flag];
        let error = Args::try_parse_from(words).unwrap_err();
        let said = explained(error, Some("top")).to_string();
        assert!(said.contains(instead), "{said}");
    }
}
