//! The table of what was measured.

use super::measure::Cost;

/// One line of the table.
pub(super) fn row(what: &str, perf: &str, rprof: &str, ratio: Option<f64>) {
    let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.1}x"));
    println!("| {what:<52} | {perf:>24} | {rprof:>24} | {ratio:>7} |");
}

/// The line of what both take: time, memory, and how many times faster rprof is.
pub(super) fn compare(what: &str, theirs: Cost, ours: Cost) {
    let ratio = theirs.wall_s / ours.wall_s.max(0.001);
    row(what, &theirs.text(), &ours.text(), Some(ratio));
}

/// The table's head.
pub(super) fn heading(title: &str) {
    println!("\n## {title}\n");
    row("what", "perf", "rprof", None);
    let dashes = |n| "-".repeat(n);
    println!(
        "|{}|{}|{}|{}|",
        dashes(54),
        dashes(26),
        dashes(26),
        dashes(9)
    );
}
