//! The table of what was measured.

/// One line of the table.
pub(super) fn row(what: &str, perf: &str, rprof: &str, ratio: Option<f64>) {
    let ratio = ratio.map_or_else(String::new, |ratio| format!("{ratio:.1}x"));
    println!("| {what:<52} | {perf:>24} | {rprof:>24} | {ratio:>7} |");
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
