//! Pictures of small trees.

use super::*;
use proptest::prelude::*;
use rprof_profile::difference::SideStacks;
use rprof_profile::testing;
use rprof_profile::view::{FirstFrame, ThreadNames};

/// Of stacks with so much weight, in 100 samples each.
fn tree<S: AsRef<str>>(before: &[(S, u64)], after: &[(S, u64)]) -> DifferentialTree {
    let profile = |stacks: &[(S, u64)]| {
        let stacks = stacks
            .iter()
            .map(|(stack, weight)| (stack.as_ref(), *weight));
        let stacks: Vec<_> = stacks.flat_map(|stack| vec![stack; 100]).collect();
        testing::profile(&stacks)
    };
    let (before, after) = (profile(before), profile(after));
    let sides = [&before, &after].map(|profile| SideStacks {
        profile,
        event: &profile.events[0],
    });
    let [before, after] = sides;
    DifferentialTree::of(before, after, FirstFrame::Outermost, ThreadNames::Pooled)
}

fn drawn(tree: &DifferentialTree, width_by: WidthBy) -> String {
    let options = DifferentialOptions {
        flame: FlameOptions::default(),
        profiles: None,
        width_by,
        scaling: Scaling::Shares,
        sure: SureChanges::default(),
    };
    let mut svg = Vec::new();
    write_differential(tree, "cycles", &options, &mut svg).unwrap();
    String::from_utf8(svg).unwrap()
}

/// What is said of each box, with its width in percent and its colour.
fn boxes(svg: &str) -> Vec<(String, f64, String)> {
    let boxes = svg.split("<title>").skip(1).filter_map(|text| {
        let (title, rest) = text.split_once("</title>")?;
        let of = |name: &str| {
            let (_, value) = rest.split_once(&format!(" {name}=\""))?;
            Some(value.split('"').next()?.to_owned())
        };
        let width = of("width")?.trim_end_matches('%').parse().ok()?;
        Some((title.replace("&gt;", ">"), width, of("fill")?))
    });
    boxes.collect()
}

#[test]
fn vanished_and_new_paths_are_there_with_both_numbers() {
    let tree = tree(
        &[("main;old", 25), ("main;same", 75)],
        &[("main;new", 50), ("main;same", 150)],
    );
    let all = "all (100.00 % -> 100.00 %, +0.00 points, +0.0 %)";
    let said = |width_by| {
        let svg = drawn(&tree, width_by);
        assert!(!svg.contains('\u{1}'), "{svg}");
        let boxes = boxes(&svg).into_iter();
        let mut boxes: Vec<_> = boxes
            .map(|(title, width, _)| (title, width.round()))
            .collect();
        boxes.sort_by(|one, other| one.0.cmp(&other.0));
        boxes.retain(|(title, _)| !title.starts_with("main") && !title.starts_with("prog"));
        boxes
    };
    let (new, old, same) = (
        "new (0.00 % -> 25.00 %, +25.00 points, new)",
        "old (25.00 % -> 0.00 %, -25.00 points, removed)",
        "same (75.00 % -> 75.00 %, +0.00 points, +0.0 %)",
    );
    let named = |widths: [f64; 4]| -> Vec<(String, f64)> {
        let titles = [all, new, old, same].map(str::to_owned);
        titles.into_iter().zip(widths).collect()
    };
    assert_eq!(said(WidthBy::After), named([100.0, 20.0, 20.0, 60.0]));
    assert_eq!(said(WidthBy::Before), named([100.0, 20.0, 20.0, 60.0]));
    let changes = said(WidthBy::Change);
    assert_eq!(changes[1..3], named([100.0, 50.0, 50.0, 0.0])[1..3]);
    assert_eq!(changes.len(), 3);
}

#[test]
fn a_side_against_itself_is_grey() {
    let stacks = [("main;a", 3), ("main;b;c", 50), ("d", 7)];
    let svg = drawn(&tree(&stacks, &stacks), WidthBy::After);
    let boxes = boxes(&svg);
    assert_eq!(boxes.len(), 7);
    for (title, _, fill) in boxes {
        assert_eq!(fill, "rgb(225,225,225)", "{title}");
        assert!(title.ends_with("+0.00 points, +0.0 %)"), "{title}");
    }
    let same = tree(&stacks, &stacks);
    let options = DifferentialOptions {
        flame: FlameOptions::default(),
        profiles: None,
        width_by: WidthBy::Change,
        scaling: Scaling::Shares,
        sure: SureChanges::default(),
    };
    let error = write_differential(&same, "cycles", &options, &mut Vec::new());
    assert!(matches!(error, Err(Error::NothingChanged)));
}

#[test]
fn names_of_any_form_are_said_as_they_are() {
    let names = ["worker 12", "a<b>(int)", "all", "x_[k]", "f 1 2"];
    let stacks: Vec<_> = names.iter().map(|&name| (name, 1)).collect();
    let svg = drawn(&tree(&stacks, &stacks), WidthBy::After);
    let titles: Vec<String> = boxes(&svg).into_iter().map(|(title, ..)| title).collect();
    for name in ["worker_12", "a&lt;b>(int)", "x_[k]", "f 1_2"] {
        let begin = format!("{name} (20.00 % -> ");
        assert!(
            titles.iter().any(|title| title.starts_with(&begin)),
            "{name} {titles:?}"
        );
    }
}

#[test]
fn what_is_too_narrow_counts_for_its_callers() {
    let stacks = [("main;a", 1), ("main;b", 999_999)];
    let tree = tree(&stacks, &stacks);
    let options = DifferentialOptions {
        flame: FlameOptions::default(),
        profiles: None,
        width_by: WidthBy::After,
        scaling: Scaling::Shares,
        sure: SureChanges::default(),
    };
    let mut svg = Vec::new();
    let drawn = write_differential(&tree, "cycles", &options, &mut svg).unwrap();
    assert_eq!(drawn.left_out, 1);
    assert!(!String::from_utf8(svg).unwrap().contains("<title>a ("));
}

#[test]
fn the_title_has_the_command_and_no_text_is_wider_than_the_picture() {
    let stacks = [("main;a", 1), ("main;b", 3)];
    let mut tree_profile = testing::profile(&stacks);
    tree_profile.about.command = ["rprof", "record", "./words"].map(str::to_owned).into();
    let pooled = tree(&stacks, &stacks);
    for width in [300, 600, 1200] {
        let options = DifferentialOptions {
            flame: FlameOptions {
                width: Some(width),
                subtitle: Some("asked for".to_owned()),
                ..FlameOptions::default()
            },
            profiles: Some([&tree_profile; 2]),
            width_by: WidthBy::After,
            scaling: Scaling::Shares,
            sure: SureChanges::default(),
        };
        let (subtitle, legend) = texts(&options, "cycles", &pooled);
        for line in legend.iter().chain([&subtitle]) {
            assert!(line.len() <= width / 8, "{width}: {line}");
        }
        let all = format!("{subtitle}; {}", legend.join(" "));
        for said in [
            "asked for",
            "each side's shares; widths are after",
            "grey: no significant",
        ] {
            assert!(all.contains(said), "{width}: {all}");
        }
        let mut svg = Vec::new();
        write_differential(&pooled, "cycles", &options, &mut svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert_eq!(svg.contains(">./words: cycles, "), width == 1200, "{svg}");
    }
}

fn stacks() -> impl Strategy<Value = Vec<(String, u64)>> {
    let stack = prop::collection::vec("[a-c]", 1..5).prop_map(|frames| frames.join(";"));
    prop::collection::vec((stack, 1..1000u64), 1..8)
}

proptest! {
    #[test]
    fn boxes_of_a_level_are_as_wide_as_what_is_below_them(before in stacks(), after in stacks()) {
        let tree = tree(&before, &after);
        for width_by in [WidthBy::After, WidthBy::Before] {
            let scaled = tree.scaled(Count::Weight, Scaling::Shares);
            let widths = own_widths(&tree, &scaled, width_by);
            let sum: u64 = widths.iter().flatten().sum();
            let side = |after: bool| -> u64 {
                scaled.iter().map(|pair| if after { pair.after } else { pair.before }).sum()
            };
            // Both sides are as large; what only the other side has comes on top.
            prop_assert_eq!(side(true), side(false));
            prop_assert!(sum >= side(true) && sum <= 2 * side(true));
            let mut narrow = widths.clone();
            let options = FlameOptions {
                min_width: Share::from_percent(10.0),
                ..FlameOptions::default()
            };
            leave_out_narrow(&tree, &mut narrow, &options);
            prop_assert_eq!(narrow.iter().flatten().sum::<u64>(), sum);
        }
    }
}
