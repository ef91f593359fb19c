//! Tables of groups in all forms.

use super::*;
use rprof_profile::view::{SortKey, Sum, WantedColumns};
use rprof_profile::{GroupedEvents, testing};
use std::io;

/// Two events of one name, in a group; the first has nothing in `b`, the second nothing in `a`.
fn profile() -> Profile {
    let mut profile = Profile::default();
    for stacks in [&[("a", 6)][..], &[("b", 5), ("b", 5)]] {
        let tally = testing::tally(&mut profile, stacks);
        let event = testing::counted(&mut profile, tally);
        profile.events.push(event);
    }
    profile.event_groups = vec![GroupedEvents {
        name: None,
        members: vec![0, 1],
    }];
    profile
}

fn options(sets: EventSets) -> TableOptions {
    let wanted = WantedColumns {
        sums: vec![Sum::Samples],
        ..WantedColumns::default()
    };
    TableOptions {
        columns: wanted.columns(&[SortKey::Symbol], Weighing::Own),
        hierarchy: false,
        events: EventTables {
            sets,
            ..EventTables::default()
        },
        graph: Some(Graph::DEFAULT),
        percent_limit: 0.0,
        is_filtered: false,
        percentage: Percentage::Absolute,
        time_slices: None,
        colors: false,
        layout: Layout {
            quiet: true,
            ..Layout::default()
        },
    }
}

type Write = fn(&Profile, &TableOptions, &mut Vec<u8>) -> io::Result<()>;

fn written(sets: EventSets, write: Write) -> String {
    let mut out = Vec::new();
    write(&profile(), &options(sets), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn text_has_the_sums_of_all_events_in_a_column() {
    let text = written(EventSets::Recorded, write_table);
    let rows = text.lines().filter(|line| line.contains('%'));
    let rows: Vec<&str> = rows.collect();
    let expected = [
        "   100.00%   0.00%             1           0  [.] a",
        "     0.00% 100.00%             0           2  [.] b",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn data_have_a_column_of_each_event() {
    let csv = written(EventSets::Recorded, write_csv);
    let expected = "cycles.overhead,cycles#2.overhead,cycles.sample,cycles#2.sample,sym\n\
                    100.00,0.00,1,0,[.] a\n0.00,100.00,0,2,[.] b\n";
    assert_eq!(csv, expected);
    let markdown = written(EventSets::Recorded, write_markdown);
    let first = "3 samples of events anon group { cycles, cycles }\n\n\
                 | cycles Overhead | cycles\\#2 Overhead | cycles Samples | cycles\\#2 Samples | Symbol |\n";
    assert!(markdown.starts_with(first), "{markdown}");
    let json = written(EventSets::Recorded, write_json);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let event = &json["events"][0];
    assert_eq!(event["samples"], 1);
    assert_eq!(event["members"][1]["samples"], 2);
    assert_eq!(event["columns"][1]["name"], "cycles#2.overhead");
    let row = &event["rows"][1];
    assert_eq!(row["cycles#2.overhead"], 100.0);
    assert_eq!(
        (row["cycles.sample"].as_u64(), row.get("tree")),
        (Some(0), None)
    );
}

#[test]
fn data_of_several_tables_have_the_same_columns() {
    let csv = written(EventSets::Single, write_csv);
    let expected = "event,overhead,sample,sym\ncycles,100.00,1,[.] a\ncycles,100.00,2,[.] b\n";
    assert_eq!(csv, expected);
}
