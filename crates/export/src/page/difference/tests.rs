//! Columns of small trees.

use super::super::code::PageCode;
use super::*;
use rprof_profile::difference::SideStacks;
use rprof_profile::testing;
use rprof_profile::view::{FirstFrame, ThreadNames};

fn compared(before: &[(&str, u64)], after: &[(&str, u64)]) -> ComparedRecordings {
    let profiles = [before, after].map(testing::profile);
    let [before, after] = profiles.each_ref().map(|profile| SideStacks {
        profile,
        event: &profile.events[0],
    });
    let (first, threads) = (FirstFrame::Outermost, ThreadNames::Whole);
    let tree = DifferentialTree::of(before, after, first, threads);
    let event = EventOfBoth {
        name: "cycles".to_owned(),
        kind: EventKind::Cycles,
        tree,
        sure: Vec::new(),
    };
    ComparedRecordings {
        names: ["before".to_owned(), "after".to_owned()],
        measures: vec![Scaling::Recorded],
        events: vec![event.clone(), event],
    }
}

#[test]
fn each_side_has_its_rows_and_events_follow_each_other() {
    let compared = compared(&[("main;f", 3)], &[("main;f", 5), ("main;g;h", 7)]);
    let columns = Columns::of(&compared, 0);
    // prog main f g h, twice.
    assert_eq!(columns.ups, [0, 0, 0, 1, 0, 4, 0, 0, 1, 0]);
    let rows = |rows: &[SideRow]| -> Vec<(u64, u64, u64)> {
        let rows = rows.iter();
        rows.map(|row| (row.stack, row.event, row.count.weight))
            .collect()
    };
    assert_eq!(rows(&columns.before), [(3, 0, 3), (8, 1, 3)]);
    let after = [(3, 0, 5), (5, 0, 7), (8, 1, 5), (10, 1, 7)];
    assert_eq!(rows(&columns.after), after);
}

#[test]
fn what_has_few_samples_counts_for_its_caller() {
    let compared = compared(
        &[("main;f", 3), ("main;f;g", 4)],
        &[("main;f", 5), ("main;h;i", 7)],
    );
    let columns = Columns::of(&compared, 2);
    assert_eq!(columns.ups, [0, 0, 0, 3, 0, 0]);
    let weight = |rows: &[SideRow]| rows.iter().map(|row| row.count.weight).sum::<u64>();
    assert_eq!((weight(&columns.before), weight(&columns.after)), (14, 24));
}

#[test]
fn what_is_sure_is_said_of_frames_and_of_all() {
    let mut compared = compared(&[("main;f", 3)], &[("main;f", 9)]);
    let mut changes = SureChanges {
        total: Directions::of(1.0),
        ..SureChanges::default()
    };
    let more = Directions::of(1.0);
    for (label, own) in [("f", more), ("main", Directions::default()), ("gone", more)] {
        let with_callees = more;
        changes.add(label.to_owned(), SureFunction { own, with_callees });
    }
    compared
        .events
        .iter_mut()
        .for_each(|event| event.sure = vec![changes.clone()]);
    let columns = Columns::of(&compared, 0);
    let page = Page {
        title: String::new(),
        notes: Vec::new(),
        recording: None,
        is_filtered: false,
        code: PageCode::default(),
        max_bytes: Page::MAX_BYTES,
    };
    let json: serde_json::Value =
        serde_json::from_slice(&columns.json(&page, &compared).unwrap()).unwrap();
    assert_eq!(json["measures"], serde_json::json!([{ "per": "run" }]));
    // All, then f and main by their frames; what no stack has is not there.
    let expected = serde_json::json!([[1, 1, 5, 0, 4]]);
    assert_eq!(json["events"][0]["sure"], expected);
}
