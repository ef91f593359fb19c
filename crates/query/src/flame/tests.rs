//! Boxes of small recordings.

use super::*;
use crate::{Explorer, SampleSelection, StackFolding};
use rprof_base::Share;
use rprof_profile::testing;

const SAMPLES: [(u64, &str, &str, u64); 5] = [
    (0, "prog", "main;b", 1),
    (1, "prog", "main;a;x", 2),
    (2, "pool", "main;b", 1),
    (3, "prog", "main;b", 1),
    (4, "prog", "main;b;y", 3),
];

fn texts(layout: &FlameLayout, profile: &Profile) -> Vec<String> {
    let text = |one: &FlameBox| {
        let name = match one.label {
            FlameLabel::Comm(comm) => profile.strings.of(comm).into_raw().to_owned(),
            FlameLabel::Frame(frame) => profile.frames.label(frame, &profile.strings).into_raw(),
            FlameLabel::Wait(cause) => profile.wait_label(cause),
        };
        format!(
            "{}{name} {}+{}",
            " ".repeat(one.depth as usize),
            one.start,
            one.width
        )
    };
    layout.boxes.iter().map(text).collect()
}

#[test]
fn the_heaviest_boxes_are_to_the_left_or_names_are_in_order() {
    let mut explorer = Explorer::new(testing::sampled(&SAMPLES));
    let event = explorer
        .select(&SampleSelection::default(), &StackFolding::default())
        .unwrap();
    let of = |first, order| {
        let layout = FlameLayout::of(explorer.profile(), &event, first, order);
        assert_eq!((layout.whole, layout.depth), (8, 4));
        texts(&layout, explorer.profile())
    };
    let heaviest = of(FirstFrame::Outermost, FlameOrder::Heaviest);
    let expected = [
        "prog 0+7",
        " main 0+7",
        "  b 0+5",
        "   y 0+3",
        "  a 5+2",
        "   x 5+2",
        "pool 7+1",
        " main 7+1",
        "  b 7+1",
    ];
    assert_eq!(heaviest, expected);
    let names = of(FirstFrame::Outermost, FlameOrder::Name);
    let expected = [
        "pool 0+1",
        " main 0+1",
        "  b 0+1",
        "prog 1+7",
        " main 1+7",
        "  a 1+2",
        "   x 1+2",
        "  b 3+5",
        "   y 3+3",
    ];
    assert_eq!(names, expected);
    let callers = of(FirstFrame::Innermost, FlameOrder::Heaviest);
    assert_eq!(
        callers[..4],
        ["prog 0+7", " y 0+3", "  b 0+3", "   main 0+3"]
    );
}

#[test]
fn in_time_only_neighbours_are_one_box() {
    let sampled = testing::sampled(&SAMPLES);
    let of = |percent| {
        let narrow = Share::from_percent(percent);
        FlameChart::of(&sampled, &SampleSelection::default(), narrow)
    };
    let FlameChart {
        layout, threads, ..
    } = of(0.0);
    let expected = [
        "prog 0+7",
        " main 0+7",
        "  b 0+1",
        "  a 1+2",
        "   x 1+2",
        "  b 3+4",
        "   y 4+3",
        "pool 7+1",
        " main 7+1",
        "  b 7+1",
    ];
    assert_eq!(texts(&layout, &sampled.profile), expected);
    assert_eq!(layout.boxes[5].own, 1);
    assert_eq!(threads, [0, 1]);
    // Of eight, what one sample counts is narrower; so is all of the other thread.
    let wide = of(15.0);
    let expected = [
        "prog 0+7",
        " main 0+7",
        "  a 1+2",
        "   x 1+2",
        "  b 3+4",
        "   y 4+3",
    ];
    assert_eq!(texts(&wide.layout, &sampled.profile), expected);
    assert_eq!((wide.threads, wide.left_out), (vec![0], 4));
}

#[test]
fn what_is_waited_for_is_innermost() {
    let samples = [
        (0, "prog", "main;lock;[futex]", 5),
        (1, "prog", "main;lock;[runnable]", 2),
        (2, "prog", "main;lock", 1),
        (3, "prog", "main;lock;[futex]", 1),
    ];
    let sampled = testing::sampled(&samples);
    let mut explorer = Explorer::new(sampled.clone());
    let event = explorer
        .select(&SampleSelection::default(), &StackFolding::default())
        .unwrap();
    let of = |first| {
        let layout = FlameLayout::of(explorer.profile(), &event, first, FlameOrder::Heaviest);
        assert_eq!(layout.whole, 9);
        texts(&layout, explorer.profile())
    };
    let expected = [
        "prog 0+9",
        " main 0+9",
        "  lock 0+9",
        "   [futex] 0+6",
        "   [runnable] 6+2",
    ];
    assert_eq!(of(FirstFrame::Outermost), expected);
    let expected = [
        "prog 0+9",
        " [futex] 0+6",
        "  lock 0+6",
        "   main 0+6",
        " [runnable] 6+2",
        "  lock 6+2",
        "   main 6+2",
        " lock 8+1",
        "  main 8+1",
    ];
    assert_eq!(of(FirstFrame::Innermost), expected);
    let chart = FlameChart::of(&sampled, &SampleSelection::default(), Share::default());
    let expected = [
        "prog 0+9",
        " main 0+5",
        "  lock 0+5",
        "   [futex] 0+5",
        " main 5+2",
        "  lock 5+2",
        "   [runnable] 5+2",
        " main 7+1",
        "  lock 7+1",
        " main 8+1",
        "  lock 8+1",
        "   [futex] 8+1",
    ];
    assert_eq!(texts(&chart.layout, &sampled.profile), expected);
}
