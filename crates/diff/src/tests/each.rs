//! Many recordings, each compared with the same ones before; and rows that are not worth a line.

use super::{compared, noisy, options, run};
use crate::{
    CompareOptions, ComparedRecording, DiffError, DiffLayout, EachForm, NamedRun, Recordings,
    compare, compare_each, write_diff, write_each, write_each_json,
};
use rprof_base::Share;

fn called(name: &str, mut one: NamedRun) -> NamedRun {
    name.clone_into(&mut one.name);
    one
}

/// Eight runs before; after them one of the same, one with a slow function, one that is slower as a whole, a faster one.
fn recordings() -> Recordings {
    Recordings {
        before: (0..8).map(|seed| noisy(seed, 1.0, 1.0)).collect(),
        after: vec![
            called("same", noisy(100, 1.0, 1.0)),
            called("function", noisy(101, 2.5, 1.0)),
            called("all", noisy(102, 1.0, 1.5)),
            called("faster", noisy(103, 1.0, 0.5)),
        ],
    }
}

fn each(options: &CompareOptions) -> Vec<ComparedRecording> {
    compare_each(&recordings(), options).unwrap()
}

fn text(compared: &[ComparedRecording], form: EachForm) -> String {
    let mut text = Vec::new();
    write_each(compared, form, &DiffLayout::default(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn those_that_regressed_are_named_first() {
    let compared = each(&options());
    let regressed: Vec<bool> = compared
        .iter()
        .map(ComparedRecording::has_regressed)
        .collect();
    assert_eq!(regressed, [false, true, true, false]);
    let text = text(&compared, EachForm::Text);
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let order: Vec<&str> = rows
        .map(|line| {
            let mut names = ["same", "function", "all", "faster"].into_iter();
            let found = names.find(|name| line.split_whitespace().any(|word| word == *name));
            found.unwrap_or("?")
        })
        .collect();
    assert_eq!(order, ["all", "function", "same", "faster"], "{text}");
    assert!(
        text.contains("# Regressed: 2 of 4: function, all\n"),
        "{text}"
    );
    let slow = text
        .lines()
        .find(|line| line.contains(" function "))
        .unwrap();
    assert!(slow.ends_with("prog [.] f17"), "{slow}");
}

#[test]
fn all_forms_have_all_recordings() {
    let compared = each(&options());
    for form in [EachForm::Markdown, EachForm::Csv] {
        let text = text(&compared, form);
        for name in ["same", "function", "all", "faster"] {
            assert!(text.contains(name), "{text}");
        }
    }
    let csv = text(&compared, EachForm::Csv);
    let columns = csv.lines().filter(|line| !line.is_empty());
    let columns: Vec<usize> = columns.map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [13; 5], "{csv}");
    let mut json = Vec::new();
    write_each_json(&compared, &DiffLayout::default(), &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["recordings"][1]["has_regressed"], true);
    assert_eq!(json["recordings"][1]["comparison"]["schema"], "rprof-diff");
}

#[test]
fn conditions_are_asked_of_each_recording() {
    let conditions = vec!["total>+20%".parse().unwrap()];
    let compared = each(&CompareOptions {
        conditions,
        ..options()
    });
    let fired = compared.iter().map(|one| {
        let outcome = one.comparison.gates[0].outcome;
        outcome == crate::GateOutcome::Fired
    });
    assert_eq!(fired.collect::<Vec<_>>(), [false, false, true, false]);
}

#[test]
fn recordings_without_a_common_event_are_named() {
    let one = |name: &str, event: &str| called(name, run(event, &[("a", vec![9])]));
    let recordings = Recordings {
        before: vec![one("a1", "cycles"), one("a2", "cycles")],
        after: vec![one("b1", "cpu-clock")],
    };
    let said = compare(&recordings, &options()).unwrap_err().to_string();
    assert!(
        said.contains("a1 and 1 other have cycles; b1 has cpu-clock"),
        "{said}"
    );
    let error = compare_each(&recordings, &options()).unwrap_err();
    assert!(matches!(error, DiffError::Each { recording, .. } if recording == "b1"));
}

#[test]
fn small_rows_are_counted_and_large_or_marked_ones_are_shown() {
    let names: Vec<String> = (0..70).map(|at| format!("small{at}")).collect();
    let rows = |marked: u64| {
        let mut rows: Vec<_> = names.iter().map(|name| (name.as_str(), vec![1])).collect();
        rows.push(("large", vec![100_000]));
        rows.push(("marked", vec![marked]));
        rows
    };
    let runs = |marked: u64| {
        (0..6)
            .map(|at| run("cpu-clock", &rows(marked + at)))
            .collect()
    };
    let comparison = compared(runs(10), runs(70), &options());
    let layout = DiffLayout {
        least: Share::from_percent(0.1),
        ..DiffLayout::default()
    };
    let mut text = Vec::new();
    write_diff(&comparison, &layout, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("[.] large") && text.contains("[.] marked"),
        "{text}"
    );
    assert!(!text.contains("[.] small"), "{text}");
    assert!(
        text.contains(
            "# 70 rows with less than 0.1 % self on both sides, none with a significant change \
             (--percent-limit 0 shows all)"
        ),
        "{text}"
    );
}

#[test]
fn one_recording_a_side_says_what_makes_it_surer() {
    let comparison = compared(
        vec![noisy(1, 1.0, 1.0)],
        vec![noisy(2, 1.0, 1.0)],
        &options(),
    );
    let says = |note: &String| {
        note.starts_with("for a firmer answer, record each side at least five times")
    };
    assert!(comparison.notes.iter().any(says), "{:?}", comparison.notes);
    let several = || (1..4).map(|seed| noisy(seed, 1.0, 1.0)).collect();
    let comparison = compared(several(), several(), &options());
    assert!(!comparison.notes.iter().any(says), "{:?}", comparison.notes);
}
