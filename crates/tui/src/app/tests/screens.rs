//! Whole screens, as they are kept in `screens/`.

use super::{app, app_of, buffer, line_with, press, sampled, screen};
use crate::app::{App, Input};
use crate::look::{Background, Colors, Look};
use ratatui_core::style::Color;
use rprof_profile::{SampledProfile, testing};
use std::path::Path;

/// Compares with a golden file; with `RPROF_BLESS` writes it.
fn assert_screen(name: &str, app: &App) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("screens")
        .join(name);
    let shown = screen(app);
    if std::env::var_os("RPROF_BLESS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, expected, "{name}: {shown}");
}

#[test]
fn each_view_has_its_screen() {
    let mut app = app();
    assert_screen("rows.txt", &app);
    press(&mut app, "<Enter><Down><Down>");
    assert_screen("rows-open.txt", &app);
    press(&mut app, "2");
    assert_screen("calls.txt", &app);
    press(&mut app, "3");
    assert_screen("flame.txt", &app);
    press(&mut app, "4<Right><Right> <Right><Right>");
    assert_screen("threads.txt", &app);
}

#[test]
fn what_stands_in_front_has_its_screen() {
    let mut app = app();
    press(&mut app, "?");
    assert_screen("keys.txt", &app);
    press(&mut app, "<Esc>o");
    assert_screen("sort.txt", &app);
    press(&mut app, "<Esc>/mem");
    assert_screen("typing.txt", &app);
}

#[test]
fn a_wide_screen_has_room_for_all() {
    let mut app = app_of(sampled(), (160, 20));
    press(&mut app, "E");
    assert_screen("rows-wide.txt", &app);
    press(&mut app, "3/a<Enter>");
    assert_screen("flame-wide.txt", &app);
}

#[test]
fn boxes_that_are_too_narrow_are_counted() {
    let mut samples = vec![(0, "server", "main;serve".to_owned(), 100)];
    samples.extend((1..60).map(|n| (n, "server", format!("main;f{n}"), 1)));
    let samples: Vec<(u64, &str, &str, u64)> = samples
        .iter()
        .map(|(time, comm, stack, weight)| (*time, *comm, stack.as_str(), *weight))
        .collect();
    let mut app = app_of(testing::sampled(&samples), (40, 12));
    press(&mut app, "3");
    let line = line_with(&app, "59 more");
    assert!(
        line.starts_with("serve ") && line.ends_with('\u{2591}'),
        "{line}"
    );
    // The first of them can be zoomed into.
    press(&mut app, "<Down><Down><Right><Enter>");
    let line = line_with(&app, "f1");
    assert!(line.starts_with("f1"), "{}", screen(&app));
}

#[test]
fn twenty_columns_and_five_lines_are_enough() {
    let mut app = app_of(sampled(), (20, 5));
    assert_screen("rows-small.txt", &app);
    for view in ["2", "3", "4", "?", "<Esc>o", "<Esc>m"] {
        press(&mut app, view);
        assert!(screen(&app).lines().count() == 5);
    }
    app.handle(&Input::Size(19, 5));
    assert!(screen(&app).starts_with("too small"), "{}", screen(&app));
    app.handle(&Input::Size(10, 3));
    assert_eq!(screen(&app), "too small:\nneeds 20x4\n\n");
    app.handle(&Input::Size(1, 1));
    assert_eq!(screen(&app), "t\n");
    // Nothing is lost.
    app.handle(&Input::Size(80, 24));
    assert!(screen(&app).contains("server/1"), "{}", screen(&app));
}

#[test]
fn without_colours_and_lines_all_is_ascii() {
    let mut app = app();
    app.cx.look = Look {
        colors: Colors::None,
        background: Background::Dark,
        has_blocks: false,
    };
    for keys in ["<Enter>", "2E", "3", "3<Down><Enter>", "4", "?", "<Esc>o"] {
        press(&mut app, keys);
        let cells = buffer(&app);
        for cell in cells.content() {
            assert!(cell.symbol().is_ascii(), "{keys}: {}", cell.symbol());
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{keys}");
        }
    }
    press(&mut app, "<Esc><Esc>3");
    assert_screen("flame-ascii.txt", &app);
}

#[test]
fn any_size_can_be_drawn() {
    let mut app = app();
    for size in [
        (0, 0),
        (1, 1),
        (10, 3),
        (20, 4),
        (21, 6),
        (39, 7),
        (60, 9),
        (110, 10),
        (300, 90),
        (2000, 12),
    ] {
        app.handle(&Input::Size(size.0, size.1));
        for keys in ["1E", "2E", "3", "4", "?", "<Esc>s", "<Esc>/x<Esc>"] {
            press(&mut app, keys);
            buffer(&app);
        }
    }
}

#[test]
fn hostile_names_stay_in_their_places() {
    let long = "n".repeat(10_000);
    let stack = format!("main;{long};x\u{202e}y\u{1b}[2J;\u{6f22}\u{5b57}");
    let sampled = testing::sampled(&[(1, "\u{202e}\u{7}", &stack, 1), (2, "b", "main", 1)]);
    let mut app = app_of(sampled, (60, 16));
    for keys in ["e", "2E", "3", "3<End><Down><Down>", "4", "i"] {
        press(&mut app, keys);
        let shown = screen(&app);
        let is_safe = |text: &str| !text.contains(['\u{202e}', '\u{1b}', '\u{7}']);
        assert!(is_safe(&shown), "{shown}");
    }
}

#[test]
fn a_recording_without_times_or_samples_is_said() {
    let timeless = SampledProfile {
        has_times: false,
        ..sampled()
    };
    let mut app = app_of(timeless, (80, 24));
    press(&mut app, "4");
    assert!(screen(&app).contains("the recording has no times"));
    let mut app = app_of(testing::sampled(&[]), (80, 24));
    for keys in [
        "1<Enter>ea",
        "2<Enter>e",
        "3<Down><Enter>",
        "4 <Enter>",
        "dtk",
    ] {
        press(&mut app, keys);
        assert!(
            screen(&app).contains("no samples"),
            "{keys}: {}",
            screen(&app)
        );
    }
    let mut app = app_of(SampledProfile::default(), (80, 24));
    press(&mut app, "1<Enter>2<Enter>3<Enter>4<Enter>sj");
    assert!(screen(&app).contains("no events"), "{}", screen(&app));
}
