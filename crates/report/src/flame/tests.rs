//! Pictures of profiles whose functions are known.

use super::*;
use rprof_profile::{WallClock, testing};

/// One stack for each function, with two events.
fn profile(stacks: &[&str]) -> Profile {
    let stacks: Vec<_> = stacks.iter().map(|&stack| (stack, 1)).collect();
    let mut profile = testing::profile(&stacks);
    profile.events.push(profile.events[0].clone());
    profile
}

fn drawn(profile: &Profile) -> String {
    let mut svg = Vec::new();
    let options = FlameOptions::default();
    write_flame(profile, &profile.events[0], &options, &mut svg).unwrap();
    String::from_utf8(svg).unwrap()
}

/// The function and the colour of each box.
fn boxes(svg: &str) -> Vec<(&str, [u8; 3])> {
    let boxes = svg.split("<title>").skip(1);
    let boxes = boxes.filter_map(|text| {
        let (name, rest) = text.split_once(" (")?;
        let (_, fill) = rest.split_once("fill=\"rgb(")?;
        let mut parts = fill.split(')').next()?.split(',').map(str::parse);
        let mut part = || parts.next()?.ok();
        Some((name, [part()?, part()?, part()?]))
    });
    boxes.collect()
}

#[test]
fn green_is_code_made_at_run_time_and_nothing_else() {
    let names = [
        "PyEval_EvalFrameDefault",
        "Lexer",
        "memcpy.part.0",
        "java/lang/String",
        "std::Vec",
        "main",
        "*compiled",
        "*Compiled::twice",
    ];
    let svg = drawn(&profile(&names));
    let boxes = boxes(&svg);
    assert_eq!(boxes.len(), names.len() + 2, "{svg}");
    for (name, [red, green, blue]) in boxes {
        let is_green = green > red && green > blue;
        assert_eq!(is_green, names.contains(&&*format!("*{name}")), "{name}");
    }
}

#[test]
fn the_title_has_the_command_and_colours_have_a_legend() {
    let mut profile = testing::profile(&[("main;+inlined", 1)]);
    let words = ["rprof", "record", "--", "./words", "3"];
    profile.about.command = words.map(str::to_owned).into();
    profile.about.wall_clock = Some(WallClock {
        wall_ns: 1_795_391_536_000_000_000,
        clock_ns: 0,
    });
    let svg = drawn(&profile);
    assert!(svg.contains(">./words 3: cycles, 1 sample<"), "{svg}");
    assert!(
        svg.contains(">2026-11-22 23:52 UTC, 0 samples lost"),
        "{svg}"
    );
    let (_, legend) = svg.split_once("<g id=\"legend\">").unwrap();
    assert!(
        legend.contains(">user code<") && legend.contains(">inlined<"),
        "{legend}"
    );
    assert!(
        !legend.contains(">kernel<") && !legend.contains("&lt;N&gt;"),
        "{legend}"
    );
    profile.about.command = ["rprof", "record", "./many", "--", "ARG"]
        .map(str::to_owned)
        .into();
    let svg_of_many = drawn(&profile);
    assert!(svg_of_many.contains(">./many -- ARG: cycles, 1 sample<"));
    profile.about.command.push("x".repeat(500));
    let svg = drawn(&profile);
    assert!(svg.contains("..: cycles, 1 sample<"), "{svg}");
}

#[test]
fn a_long_title_is_cut_to_the_width() {
    let of = |width| {
        let options = FlameOptions {
            title: Some("\u{e4}".repeat(200)),
            width,
            ..FlameOptions::default()
        };
        shown_title(&options, String::new())
    };
    assert_eq!(of(Some(600)).chars().count(), 40);
    assert_eq!(of(None).chars().count(), 100);
    assert!(of(Some(100)).ends_with(".."));
}

#[test]
fn each_palette_draws_the_same_twice() {
    let profile = profile(&["main", "std::Vec", "kernel", "*code", "+inlined"]);
    for name in FlamePalette::NAMES {
        let options = FlameOptions {
            palette: FlamePalette::named(name).unwrap(),
            ..FlameOptions::default()
        };
        let drawn = || {
            let mut svg = Vec::new();
            write_flame(&profile, &profile.events[0], &options, &mut svg).unwrap();
            svg
        };
        assert_eq!(drawn(), drawn(), "{name}");
    }
}

#[test]
fn many_narrow_stacks_make_no_large_picture() {
    let stacks: Vec<String> = (0..50_000)
        .map(|n| format!("main;f{};g{n}", n % 10))
        .collect();
    let stacks: Vec<&str> = stacks.iter().map(String::as_str).collect();
    let profile = profile(&stacks);
    let mut svg = Vec::new();
    let options = FlameOptions::default();
    let drawn = write_flame(&profile, &profile.events[0], &options, &mut svg).unwrap();
    assert_eq!(
        (drawn.left_out, drawn.least_width),
        (50_000, options.min_width)
    );
    // All, prog, main and ten functions.
    let svg = String::from_utf8(svg).unwrap();
    assert_eq!(svg.matches("<title>").count(), 13);
}

#[test]
fn of_too_many_frames_the_narrowest_are_left_out() {
    let names: Vec<String> = (0..40).map(|n| format!("f{n}")).collect();
    let stacks: Vec<(&str, u64)> = names.iter().map(String::as_str).zip(1..).collect();
    let profile = testing::profile(&stacks);
    for max_frames in 1..50 {
        let options = FlameOptions {
            max_frames,
            ..FlameOptions::default()
        };
        let mut svg = Vec::new();
        let drawn = write_flame(&profile, &profile.events[0], &options, &mut svg).unwrap();
        let n_drawn = String::from_utf8(svg).unwrap().matches("<title>").count();
        // Beside all.
        let expected = max_frames.min(41) + 1;
        assert_eq!(n_drawn, expected);
        assert_eq!(usize::try_from(drawn.left_out).unwrap(), 42 - expected);
    }
}

#[test]
fn one_sample_of_any_name_is_a_picture() {
    let svg = drawn(&profile(&["a<b&c>\"d'"]));
    assert!(svg.contains("<title>a&lt;b&amp;c&gt;"), "{svg}");
    assert!(svg.contains("(1 cycles, 100.00%)"), "{svg}");
    assert!(!svg.contains("a<b"));
}

#[test]
fn a_picture_of_one_of_several_events_says_which() {
    let mut profile = profile(&["main"]);
    assert!(drawn(&profile).contains("cycles of 2 events"));
    profile.events.pop();
    assert!(!drawn(&profile).contains("of 2 events"));
    profile.events[0].loss.samples = 3;
    assert!(drawn(&profile).contains(">3 samples lost, 0.0 % without names<"));
}
