//! The text of both, sample by sample.

use crate::common::{perf, rprof, run};
use std::path::Path;

/// Samples as blocks of lines. A line that is indented belongs to the sample above it.
pub(crate) fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match blocks.last_mut() {
            Some(block) if line.starts_with('\t') => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    blocks
}

/// Whether a chain went astray: with frame pointers that are none it can hold any number. perf takes
/// those above -4096 for context markers, and drops or mistakes what follows; rprof prints them.
fn is_astray(block: &[&str]) -> bool {
    let is_one = |line: &&str| line.trim_start().starts_with("fffffffffffff");
    block.get(1..).unwrap_or_default().iter().any(is_one)
}

/// Whether a sample is of what we run, or of the kernel. With `-a` there are neighbours, too: programs
/// in memory that has no file, of other file systems, killed while perf looks at them.
fn is_ours(block: &[&str]) -> bool {
    let comm = block[0].trim_start();
    let all = [
        "program",
        "perf",
        "swapper",
        "kworker",
        "ksoftirqd",
        "rcu_",
        "migration",
    ];
    all.iter().any(|name| comm.starts_with(name))
}

/// What is in each sample for every reader: command, ids and time. The image is not of it.
fn head<'t>(block: &[&'t str]) -> &'t str {
    let head = block[0].split(": ").next().unwrap_or_default();
    head.split(" (").next().unwrap_or_default()
}

/// The ids and the time alone.
fn without_comm<'t>(block: &[&'t str]) -> &'t str {
    let at = head(block).find('/').unwrap_or(0);
    head(block).get(at..).unwrap_or_default()
}

#[track_caller]
pub(crate) fn assert_same(what: &str, ours: &str, theirs: &str) {
    let (ours, theirs) = (blocks(ours), blocks(theirs));
    assert!(!theirs.is_empty(), "{what}: perf printed nothing");
    for (our, their) in ours.iter().zip(&theirs) {
        // perf names a file also where no line is known.
        let no_line = |theirs: &str, ours: &str| theirs.ends_with(":0") && ours.ends_with(']');
        if their.len() == our.len() && their.iter().zip(our).any(|(t, o)| no_line(t, o)) {
            continue;
        }
        match is_astray(our) {
            // A neighbour that begins while perf looks around: its name comes later in the file, or is overwritten.
            _ if !is_ours(our) && head(their).trim_start().starts_with(':') => {
                assert_eq!(without_comm(our), without_comm(their), "{what}");
            }
            _ if !is_ours(our) => assert_eq!(head(our), head(their), "{what}"),
            true => assert_eq!(our[0], their[0], "{what}"),
            false => assert_eq!(our, their, "{what}"),
        }
    }
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

pub(crate) fn perf_script(file: &Path, fields: &str) -> String {
    let mut theirs = perf(["script", "--no-inline", "--max-stack", "1000"]);
    theirs.env("TZ", "UTC");
    run(theirs.args(lists(fields)).arg("-i").arg(file))
        .ok()
        .stdout
}

pub(crate) fn our_script(file: &Path, fields: &str) -> String {
    let mut ours = rprof(["script", "--no-inline"]);
    run(ours.args(lists(fields)).arg("-i").arg(file))
        .ok()
        .stdout
}

/// Each list with an `-F` of its own.
fn lists(fields: &str) -> impl Iterator<Item = &str> {
    fields.split(' ').flat_map(|list| ["-F", list])
}
