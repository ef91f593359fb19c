//! Words become arguments as perf's users expect.

use super::RecordArgs;
use crate::args::{Args, Command};
use clap::Parser;

pub(super) fn record(words: &[&str]) -> Result<RecordArgs, clap::Error> {
    let args = Args::try_parse_from([&["rprof", "record"], words].concat())?;
    let Command::Record(record) = args.command else {
        panic!()
    };
    Ok(*record)
}

#[test]
fn a_commands_own_options_are_left_to_it() {
    let own: &[(&[&str], &[&str])] = &[
        (
            &["-F", "99", "ls", "-a", "--", "-F"],
            &["ls", "-a", "--", "-F"],
        ),
        (&["-F99", "--", "ls", "-a"], &["ls", "-a"]),
        (&["-g", "-F99", "--", "-a", "-q"], &["-a", "-q"]),
        (&["-F99", "sh", "-c", "exit"], &["sh", "-c", "exit"]),
    ];
    for (words, command) in own {
        let record = record(words).unwrap();
        assert_eq!(record.command, *command);
        assert_eq!(record.events.frequency.as_deref(), Some("99"));
        assert!(!record.targets.all_cpus && !record.quiet);
    }
}

#[test]
fn values_are_attached_as_in_perf() {
    let args = record(&["-F99", "-p12,13", "-oout", "-m8", "-C0-1", "-vv", "-ecs"]).unwrap();
    assert_eq!((&args.targets.pid[..], args.verbose), (&[12, 13][..], 2));
    assert_eq!(args.output.output.to_str(), Some("out"));
    assert_eq!(args.output.mmap_pages.as_deref(), Some("8"));
    assert_eq!(args.targets.cpu.as_deref(), Some("0-1"));
    assert_eq!(args.events.events, ["cs"]);
    assert!(args.command.is_empty());
    let args = record(&["-c1000", "-t7", "-agF99"]);
    assert!(args.is_err(), "-a and -t exclude each other");
    let args = record(&["-agF99", "-F", "100"]).unwrap();
    assert!(args.targets.all_cpus && args.call_chains.callers);
    assert_eq!(
        args.events.frequency.as_deref(),
        Some("100"),
        "the last one counts"
    );
}

#[test]
fn an_unknown_flag_is_an_error_and_no_command() {
    for (words, nearest) in [
        (&["--al-cpus", "true"][..], "--all-cpus"),
        (&["--cal-graph", "fp", "true"], "--call-graph"),
        (&["-y", "true"], "-y"),
        (&["-gy", "true"], "-y"),
        (&["-F99", "--bogus", "--", "true"], "--bogus"),
    ] {
        let error = record(words).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(nearest), "{error}");
    }
}

#[test]
fn perfs_flags_for_what_is_always_so_are_taken() {
    let words = "-T -P --sample-cpu --timestamp-boundary -k mono --clockid CLOCK_MONOTONIC \
        --buildid-mmap --buildid-all -N --no-buildid-cache --no-bpf-event --strict-freq true";
    let args = record(&words.split_whitespace().collect::<Vec<_>>()).unwrap();
    assert_eq!(args.command, ["true"]);
    assert!(args.perfs.no_bpf_event && args.events.strict_freq);
    assert!(record(&["-k", "tai", "true"]).is_ok());
    assert!(record(&["-k", "cpu", "true"]).is_err());
}

#[test]
fn a_filter_is_of_the_events_before_it() {
    let words = "--exclude-perf -e a,b --filter x>0 -e c --exclude-perf -e d --exclude-perf --filter y --filter -z true";
    let args = record(&words.split_whitespace().collect::<Vec<_>>()).unwrap();
    assert_eq!(args.events.events, ["a,b", "c", "d"]);
    let filters = |idx| args.filters.of(idx).collect::<Vec<_>>();
    assert_eq!(filters(0), ["x>0"]);
    assert!(filters(1).is_empty());
    assert_eq!(filters(2), ["y", "-z"]);
    let excludes = [0, 1, 2].map(|idx| args.filters.excludes_perf(idx));
    assert_eq!(excludes, [false, true, true]);
    assert!(record(&["--filter", "x", "-e", "a", "true"]).is_err());
    assert!(record(&["--exclude-perf", "--include-self", "true"]).is_err());
}
