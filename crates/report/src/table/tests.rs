//! Tables of groups in all forms.

use super::*;
use rprof_profile::view::{SortKey, Sum, WantedColumns};
use rprof_profile::{
    DimensionValue, DimensionValues, EventProfile, Group, GroupedEvents, Tally, TimeSlots, testing,
};
use std::io;
use std::ops::RangeInclusive;

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
        spans: false,
        events: EventTables {
            sets,
            ..EventTables::default()
        },
        graph: Some(Graph::DEFAULT),
        percent_limit: 0.0,
        limits_trees: false,
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

/// What a table of one row says, as text.
fn line_of(options: &TableOptions) -> String {
    let mut out = Vec::new();
    write_table(&profile(), options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn without_keys_there_are_no_levels() {
    let flat = TableOptions {
        columns: Columns::of(&[], Weighing::Own),
        graph: None,
        ..options(EventSets::Single)
    };
    let levels = TableOptions {
        hierarchy: true,
        ..flat.clone()
    };
    assert_eq!(line_of(&flat).trim(), "100.00%");
    assert_eq!(line_of(&levels), line_of(&flat));
}

#[test]
fn the_heading_of_levels_ends_where_the_screen_ends() {
    use Dimension::{Cpu, Pid, Tid};
    let keys = [
        SortKey::DEFAULT,
        &[Cpu, Pid, Tid].map(SortKey::Dimension)[..],
    ];
    let mut options = TableOptions {
        columns: Columns::of(&keys.concat(), Weighing::Own),
        hierarchy: true,
        graph: None,
        ..options(EventSets::Single)
    };
    options.layout.quiet = false;
    let headings = |options: &TableOptions| {
        let mut out = Vec::new();
        write_table(&profile(), options, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines = text.lines().filter(|line| line.contains("  "));
        let lines = lines.filter(|line| line.starts_with("# .") || line.contains("Overhead"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let whole = headings(&options);
    assert!(whole[0].ends_with("/ Tid:Command"), "{whole:?}");
    let columns = 60;
    options.layout.fit = Some(Fit {
        columns,
        ellipsis: "..",
    });
    let cut = headings(&options);
    assert_eq!(cut.len(), whole.len());
    for (line, whole) in cut.iter().zip(&whole) {
        assert!(line.len() <= columns && whole.starts_with(line), "{line}");
    }
}

#[test]
fn a_table_may_have_thousands_of_events() {
    let mut profile = profile();
    let event = profile.events[0].clone();
    profile.events.resize(9000, event);
    profile.event_groups[0].members = (0..9000).collect();
    let mut options = options(EventSets::Recorded);
    options.layout.quiet = false;
    let mut out = Vec::new();
    write_table(&profile, &options, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let row = text.lines().find(|line| line.ends_with("[.] a")).unwrap();
    assert_eq!(row.matches("100.00%").count(), 8999);
}

#[test]
fn trees_that_recursion_makes_long_say_how_they_get_shorter() {
    let stacks: Vec<String> = (1..80)
        .map(|depth| format!("main{}", ";sort".repeat(depth)))
        .collect();
    let stacks: Vec<(&str, u64)> = stacks.iter().map(|stack| (stack.as_str(), 1)).collect();
    let mut profile = testing::profile(&stacks);
    let options = TableOptions {
        layout: Layout::default(),
        ..options(EventSets::Recorded)
    };
    let said = |profile: &Profile| {
        let mut out = Vec::new();
        write_table(profile, &options, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        lines.find(|line| line.contains("--fold recursion"))
    };
    let line = said(&profile).unwrap();
    assert!(line.starts_with("# Trees: 78 of 160 tree lines "), "{line}");
    profile.fold(&[rprof_profile::Fold::Recursion]);
    assert_eq!(said(&profile), None);
    assert_eq!(said(&testing::profile(&[("main;sort;sort", 1)])), None);
}

/// Two events of a group, each with the times at which its slots begin, of slots of 100 ns.
fn by_time(begins_ns: [&[u64]; 2], times_ns: RangeInclusive<u64>) -> Profile {
    let mut profile = Profile::default();
    for begins_ns in begins_ns {
        let mut tally = Tally::default();
        let frame = testing::frame(&mut profile, "f");
        let comm = profile.strings.intern("prog");
        let mut groups = Vec::new();
        for (number, begin_ns) in (0..).zip(begins_ns) {
            let mut values = DimensionValues::NONE;
            let begin = DimensionValue::Number(begin_ns.cast_signed());
            values.set(Dimension::Time, Some(begin));
            let values = profile.values.intern(values);
            groups.push(Group { comm, values });
            tally.add_samples(1, 1);
            let group = tally.group(number);
            tally.add_stack(group, [frame].into_iter(), SampleCount::one(1));
        }
        let event = testing::counted(&mut profile, tally);
        profile.events.push(EventProfile { groups, ..event });
    }
    profile.event_groups = vec![GroupedEvents {
        name: None,
        members: vec![0, 1],
    }];
    profile.time_slots = Some(TimeSlots::new(100, vec![times_ns]));
    profile
}

/// What the table of a group says of its slots, and its number of rows.
fn slots_of(profile: &Profile) -> (Vec<String>, usize) {
    let by_time = TableOptions {
        columns: Columns::of(&[SortKey::Dimension(Dimension::Time)], Weighing::Own),
        ..options(EventSets::Recorded)
    };
    let set = by_time.events.of(profile).remove(0);
    let table = Table::of(profile, set, &by_time);
    (slots::lines(&table), table.shown.len())
}

#[test]
fn a_slot_that_any_event_of_a_group_has_is_not_empty() {
    let profile = by_time([&[0, 100], &[300, 400]], 0..=999);
    let line =
        "Time: 10 slots of 100 ns, 6 without samples; longest gap: 500 ns (0.000000 to 0.000001 s)";
    let (lines, n_rows) = slots_of(&profile);
    assert_eq!((lines, n_rows), (vec![line.to_owned()], 4));
}

#[test]
fn slots_of_times_without_a_sign_are_counted() {
    let begin = (1 << 63) / 100 * 100 + 100;
    let all = [begin, begin + 100];
    let profile = by_time([&all, &[]], begin..=begin + 399);
    let (lines, n_rows) = slots_of(&profile);
    let line = "Time: 4 slots of 100 ns, 2 without samples; longest gap: 200 ns";
    assert!(lines[0].starts_with(line), "{lines:?}");
    assert_eq!(n_rows, 2);
}
