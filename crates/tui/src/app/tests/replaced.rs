//! What is open and selected, when other data comes.

use super::keys::rows;
use super::{ShownViews, app, app_of, data, idle, line_with, press, sampled, screen};
use crate::app::{App, Effect};
use crate::views::table::TableLine;
use rprof_profile::{SampledProfile, testing};

#[test]
fn data_is_replaced_under_what_is_selected() {
    let mut app = app();
    press(&mut app, "t<Down><Down><Down>");
    let selected = |app: &App| rows(app)[app.table().cursor.at].clone();
    let before = selected(&app);
    let fewer = testing::sampled(&[
        (1, "server", "main;serve;parse;memcpy", 1),
        (2, "x", "y", 1),
    ]);
    app.replace(data(fewer));
    assert_eq!(selected(&app), before);
    assert!(line_with(&app, "cycles").contains("1 of 2 samples"));
    app.replace(data(SampledProfile::default()));
    press(&mut app, "1234<Enter>");
}

#[test]
fn trees_stay_open_when_data_is_replaced() {
    let mut app = app();
    press(&mut app, "<Enter><Down><Enter><Down><Down><Enter><Down>");
    let before = (app.table().lines.len(), screen(&app));
    app.replace(data(sampled()));
    idle(&mut app);
    assert_eq!((app.table().lines.len(), screen(&app)), before);
    // They are there again after a zoom, too.
    press(&mut app, "tt");
    assert_eq!(screen(&app), before.1);
    press(&mut app, "C");
    app.replace(data(sampled()));
    idle(&mut app);
    assert!(
        app.table()
            .lines
            .iter()
            .all(|line| *line == TableLine::Row(line.row()))
    );
}

/// The same program, with other functions before and between its own: boxes have other numbers.
fn grown() -> SampledProfile {
    let mut samples: Vec<(u64, &str, &str, u64)> = Vec::new();
    for step in 0..100 {
        let time = 1_000_000_000 + step * 10_000_000;
        samples.push((time, "server", "main;serve;parse;memcpy", 1));
        samples.push((time + 1, "server", "main;serve;answer;+format", 1));
        samples.push((time + 2, "ahead", "start;busy", 4));
        samples.push((time + 3, "server", "main;before;parse", 3));
    }
    testing::sampled(&samples)
}

#[test]
fn calls_stay_open_and_boxes_zoomed_into() {
    let mut app = app();
    press(&mut app, "2<Down><Down><Down><Enter><Down>");
    let selected = |app: &App| {
        let (boxes, number) = app.selected_box().unwrap();
        boxes.stack(number, app.cx.explorer.profile())
    };
    let calls = selected(&app);
    assert!(calls.starts_with("server;main;serve;"), "{calls}");
    press(&mut app, "3");
    for _ in 0..3 {
        press(&mut app, "<Down>");
    }
    press(&mut app, "<Enter>");
    let flame = selected(&app);
    assert_eq!(flame, "server;main;serve;parse");
    app.replace(data(grown()));
    idle(&mut app);
    assert_eq!(selected(&app), flame);
    let zoom = app.flame().zoom.unwrap();
    let boxes = app.cx.shown.as_ref().unwrap().boxes().unwrap();
    assert_eq!(boxes.stack(zoom, app.cx.explorer.profile()), flame);
    press(&mut app, "2");
    assert_eq!(selected(&app), calls);
    // A zoom, and out of it again.
    let before = screen(&app);
    press(&mut app, "tt");
    assert_eq!(screen(&app), before);
    // Where nothing of it is left, the nearest that is; it is there again with the rest.
    app.replace(data(testing::sampled(&[(1, "server", "main;other", 1)])));
    idle(&mut app);
    press(&mut app, "3");
    assert_eq!(selected(&app), "server;main");
    app.replace(data(SampledProfile::default()));
    app.replace(data(sampled()));
    idle(&mut app);
    let boxes = app.cx.shown.as_ref().unwrap().boxes().unwrap();
    let zoom = app.flame().zoom.unwrap();
    assert_eq!(boxes.stack(zoom, app.cx.explorer.profile()), flame);
    assert!(
        app.calls()
            .lines
            .iter()
            .any(|line| { boxes.stack(line.number, app.cx.explorer.profile()) == calls })
    );
    app.replace(data(SampledProfile::default()));
    press(&mut app, "1234<Enter>");
}

#[test]
fn boxes_of_one_name_in_two_images_are_two() {
    let samples = |own: u64, libc: u64| {
        testing::sampled(&[
            (1, "x", "main;run;a", own),
            (2, "x", "main;run in lib;b", libc),
        ])
    };
    let mut app = app_of(samples(1, 3), (80, 24));
    press(&mut app, "3<Down><Down><Enter>");
    let image = |app: &App| {
        let boxes = app.cx.shown.as_ref().unwrap().boxes().unwrap();
        let frame = boxes.frame(app.flame().zoom.unwrap()).unwrap();
        let profile = app.cx.explorer.profile();
        let image = profile.frames.of(frame).image;
        profile.strings.of(image).into_raw().to_owned()
    };
    let before = image(&app);
    app.replace(data(samples(3, 1)));
    idle(&mut app);
    assert_eq!(image(&app), before);
    assert_eq!(before, "lib");
}

#[test]
fn a_time_that_is_zoomed_into_pauses_what_goes_on() {
    let mut app = app_of(sampled(), (80, 24));
    app.cx.is_live = true;
    assert_eq!(press(&mut app, "2<Enter>3<Enter>1<Enter>"), Effect::None);
    assert_eq!(press(&mut app, "4 <Right><Enter>"), Effect::Pause(true));
    assert_eq!(press(&mut app, "p"), Effect::Pause(false));
}
