//! Events beside each other, recordings without samples, and what conditions are not asked of.

use super::{compared, noisy, options, run};
use crate::{CompareOptions, Comparison, DiffError, NamedRun, Per, Recordings, compare};

/// A run with the events of two.
fn with_event_of(mut one: NamedRun, other: NamedRun) -> NamedRun {
    one.run.events.extend(other.run.events);
    one
}

/// Functions in two events: the second is twice as much after.
fn of_two_events() -> [Vec<NamedRun>; 2] {
    [1, 2].map(|twice| {
        let runs = (0..6).map(|at| {
            let faults = run("page-faults", &[("a", vec![900 + at]), ("b", vec![40])]);
            let rows = [("a", vec![twice * 1000 + at]), ("b", vec![900 + at])];
            with_event_of(run("cpu-clock", &rows), faults)
        });
        runs.collect()
    })
}

fn asked(
    [before, after]: [Vec<NamedRun>; 2],
    per: Option<Per>,
    conditions: &[&str],
) -> Result<Comparison, DiffError> {
    let conditions = conditions.iter().map(|text| text.parse().unwrap());
    let options = CompareOptions {
        per,
        conditions: conditions.collect(),
        ..options()
    };
    compare(&Recordings { before, after }, &options)
}

#[test]
fn totals_of_all_events_are_tested() {
    let comparison = asked(of_two_events(), None, &["total>1%"]).unwrap();
    let totals = comparison.events.iter().map(|event| event.total.unwrap());
    let sure: Vec<bool> = totals.map(|total| total.is_sure).collect();
    assert_eq!(sure, [true, false]);
    assert!(
        comparison
            .notes
            .contains(&"conditions apply to cpu-clock".to_owned())
    );
}

#[test]
fn what_is_divided_by_is_not_compared_with_itself() {
    for per in [
        Per::CpuTime,
        Per::parse("cpu-clock"),
        Per::parse("cpu-clock:u"),
    ] {
        let comparison = asked(of_two_events(), Some(per.clone()), &["total>1%"]).unwrap();
        let names: Vec<&str> = comparison
            .events
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["page-faults"], "{per}");
        assert!(
            comparison
                .notes
                .contains(&"conditions apply to page-faults".to_owned())
        );
        let alone = [1, 2].map(|seed| vec![noisy(seed, 1.0, 1.0)]);
        let refused = asked(alone, Some(per), &["total>1%"]).unwrap_err();
        assert!(
            matches!(refused, DiffError::NothingLeft { .. }),
            "{refused}"
        );
    }
}

#[test]
fn conditions_are_not_asked_of_recordings_without_samples() {
    for is_after in [false, true] {
        let mut sides = [1, 2].map(|seed| vec![noisy(seed, 1.0, 1.0)]);
        sides[usize::from(is_after)] = vec![run("cpu-clock", &[])];
        let refused = asked(sides.clone(), None, &["total>3%"]).unwrap_err();
        assert!(matches!(refused, DiffError::NoSamples { .. }), "{refused}");
        let [before, after] = sides;
        let comparison = compared(before, after, &options());
        let event = &comparison.events[0];
        assert!(event.rows.iter().all(|row| !row.own.is_sure));
        assert!(!event.total.unwrap().is_sure);
    }
}

#[test]
fn points_of_shares_are_no_surer_than_amounts() {
    // Every second function is slower or faster: as machines are, which one recording a side cannot know.
    let uneven = |factor: u64| {
        let names: Vec<String> = (0..30).map(|at| format!("f{at}")).collect();
        let rows = names.iter().enumerate().map(|(at, name)| {
            let more = 5 * factor * u64::from(at % 2 == 0);
            (name.as_str(), vec![20 + more; 64])
        });
        vec![run("cpu-clock", &rows.collect::<Vec<_>>())]
    };
    let conditions = ["sym:f0>+0.1pp", "sym:f0>+0.1%"];
    let comparison = asked([uneven(0), uneven(1)], None, &conditions).unwrap();
    let fired: Vec<_> = comparison.gates.iter().map(|gate| gate.outcome).collect();
    assert_eq!(fired[0], fired[1]);
    assert_ne!(fired[0], crate::GateOutcome::Fired);
}

#[test]
fn tables_without_rows_say_why() {
    let mut options = options();
    options.one_sided = crate::OneSided::Hidden;
    let of = |name: &str| vec![run("cpu-clock", &[(name, vec![100; 64])])];
    let comparison = compared(of("alpha"), of("beta"), &options);
    assert!(comparison.events[0].rows.is_empty());
    let said = comparison
        .notes
        .iter()
        .any(|note| note.contains("no samples match the filters"));
    assert!(said, "{:?}", comparison.notes);
}

#[test]
fn a_condition_is_not_asked_of_a_function_that_is_seldom_seen() {
    let one = |name: &str| {
        vec![run(
            "cpu-clock",
            &[("alpha", vec![100; 64]), (name, vec![0; 64])],
        )]
    };
    let refused = asked([one("beta"), one("beta")], None, &["sym:alhpa>5%"]).unwrap_err();
    assert!(
        refused.to_string().ends_with("did you mean 'alpha'?"),
        "{refused}"
    );
    // Another event has it, or the program without samples.
    let known = CompareOptions {
        known_functions: vec!["malloc".to_owned()],
        conditions: ["sym:beta>5%", "children:beta>-5%", "sym:malloc>1"]
            .map(|text| text.parse().unwrap())
            .to_vec(),
        ..options()
    };
    let comparison = compared(one("beta"), one("beta"), &known);
    for gate in &comparison.gates {
        assert_eq!(gate.outcome, crate::GateOutcome::NoSamples, "{gate:?}");
        assert!(
            gate.sentence().contains("not checked"),
            "{}",
            gate.sentence()
        );
    }
    // Of an image of that name nothing is known.
    let image = CompareOptions {
        conditions: vec!["dso:malloc>1".parse().unwrap()],
        ..known
    };
    let recordings = Recordings {
        before: one("beta"),
        after: one("beta"),
    };
    assert!(compare(&recordings, &image).is_err());
}
