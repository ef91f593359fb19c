//! What comes first: in rows, and in the verdict.

use super::{Counted, compared, noisy, options, row, run, verdict_of};
use crate::{CompareOptions, DiffLayout, NamedRun, Per, RowOrder, write_diff, write_diff_csv};

#[test]
fn rows_go_by_amounts_and_the_verdict_names_the_first_that_grew() {
    let runs = |samples: [u64; 3]| -> Vec<NamedRun> {
        let all = (0..6).map(|at| {
            let rows = ["hash", "parse", "main"].into_iter().zip(samples);
            let rows: Vec<Counted<'_>> = rows.map(|(name, n)| (name, vec![n + at])).collect();
            run("cpu-clock", &rows)
        });
        all.collect()
    };
    // The share of parse changes most, the amount of hash.
    let (before, after) = ([6000, 1000, 1000], [7200, 2000, 1000]);
    let rows = |per: Per, order: RowOrder| {
        let options = CompareOptions {
            per: Some(per),
            order,
            ..options()
        };
        let comparison = compared(runs(before), runs(after), &options);
        let rows = comparison.events[0].rows.iter();
        let names: Vec<String> = rows.map(|row| row.cells[1].clone()).collect();
        (names, verdict_of(&comparison), comparison)
    };
    let (names, verdict, comparison) = rows(Per::Run, RowOrder::default());
    assert_eq!(names, ["[.] hash", "[.] parse", "[.] main"]);
    assert!(
        verdict.contains("(largest increase: hash, +20.0%)"),
        "{verdict}"
    );
    let mut text = Vec::new();
    write_diff(&comparison, &DiffLayout::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let hash = text.lines().find(|line| line.ends_with("hash")).unwrap();
    assert!(hash.contains("  +1.200 s  +20.0% *"), "{text}");
    let order = "# Rows are ordered by change of amount, significant ones first";
    let perfs = "; -c delta-abs orders by shares\n";
    assert!(text.contains(&format!("{order}{perfs}")), "{text}");
    let layout = DiffLayout {
        is_interactive: true,
        ..DiffLayout::default()
    };
    let mut shown = Vec::new();
    write_diff(&comparison, &layout, &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains(&format!("{order}\n")), "{shown}");
    let (names, ..) = rows(Per::Run, RowOrder::Computed);
    assert_eq!(names[0], "[.] parse");
    let (names, verdict, _) = rows(Per::Event, RowOrder::default());
    assert_eq!(names[0], "[.] parse");
    assert!(verdict.contains("(largest increase: parse, "), "{verdict}");
}

#[test]
fn where_own_samples_only_shrank_the_verdict_names_no_caller() {
    let runs = |parse: u64| -> Vec<NamedRun> {
        let all = (0..6).map(|at| {
            let rows = [("parse", vec![parse + at]), ("main", vec![9000 + at])];
            run("cpu-clock", &rows)
        });
        all.collect()
    };
    let mut comparison = compared(runs(2000), runs(1000), &options());
    let grown = compared(runs(1000), runs(2000), &options());
    let grown = row(&grown, "parse").own;
    for row in &mut comparison.events[0].rows {
        row.children = Some(grown);
    }
    // Callers show by how much that changed which they are ordered by.
    let mut text = Vec::new();
    write_diff(&comparison, &DiffLayout::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let line = |name| text.lines().find(|line| line.ends_with(name)).unwrap();
    assert!(line("parse").contains("  -1.000 s  "), "{text}");
    assert!(line("main").contains("  +1.000 s  "), "{text}");
    let mut csv = Vec::new();
    write_diff_csv(&comparison, &DiffLayout::default(), &mut csv).unwrap();
    let csv = String::from_utf8(csv).unwrap();
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let cell = |row: usize, name| {
        let at = lines[0].iter().position(|&one| one == name).unwrap();
        lines[row][at].parse::<f64>().unwrap()
    };
    assert_eq!((cell(1, "own_amount"), cell(2, "own_amount")), (-1e9, 0.0));
    assert_eq!(cell(2, "children_amount"), 1e9);
    let verdict = verdict_of(&comparison);
    assert!(
        verdict.contains("1 function takes significantly less (parse, -"),
        "{verdict}"
    );
}

#[test]
fn what_only_shares_show_is_said() {
    let per_time = CompareOptions {
        per: Some(Per::Time),
        ..options()
    };
    let verdict = |slow: f64, all: f64| {
        let (before, after) = (noisy(1, 1.0, 1.0), noisy(2, slow, all));
        verdict_of(&compared(vec![before], vec![after], &per_time))
    };
    // The side after had less of the machine.
    let said = verdict(1.7, 0.6);
    assert!(
        said.contains("; by share of the event, ") && said.contains("f17, +"),
        "{said}"
    );
    // Amounts say it themselves.
    let said = verdict(1.7, 1.0);
    assert!(
        said.contains("f17, +") && !said.contains("by share"),
        "{said}"
    );
}
