//! What keys do.

use super::{ShownViews, app, app_of, line_with, press, sampled, screen};
use crate::app::{App, Effect, Input, Over};
use crate::face::SaveForm;
use crate::views::table::cells;
use proptest::prelude::*;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rprof_profile::testing;

/// Names of the functions of all rows.
pub(super) fn rows(app: &App) -> Vec<String> {
    let shown = app.cx.shown.as_ref().unwrap();
    let rows = app
        .table()
        .lines
        .iter()
        .map(|line| shown.row(line.row()).unwrap());
    let name = |row| cells(row, &app.cx).pop().unwrap_or_default();
    rows.map(name).collect()
}

#[test]
fn enter_opens_a_row_and_closes_it() {
    let mut app = app();
    let n_rows = app.table().lines.len();
    press(&mut app, "<Enter>");
    assert!(app.table().lines.len() > n_rows);
    assert!(line_with(&app, "server").starts_with('-'));
    press(&mut app, "<Enter>");
    assert_eq!(app.table().lines.len(), n_rows);
    press(&mut app, "+");
    assert!(app.table().lines.len() > n_rows);
    press(&mut app, "C");
    assert_eq!(app.table().lines.len(), n_rows);
    press(&mut app, "E");
    assert!(app.table().lines.len() > n_rows);
    press(&mut app, "C<Home><Right><Down><Left><Left><Left>");
    assert_eq!(
        (app.table().cursor.at, app.table().lines.len()),
        (0, n_rows)
    );
}

#[test]
fn trees_turn_to_callers_and_back() {
    let mut app = app();
    press(&mut app, "/memcpy<Enter><Enter>");
    // It called nothing: all of it is its own, with whole stacks.
    assert!(screen(&app).contains("main"), "{}", screen(&app));
    press(&mut app, "c");
    let names: Vec<String> = screen(&app)
        .lines()
        .skip(4)
        .take(3)
        .map(str::to_owned)
        .collect();
    assert!(
        names[0].ends_with("parse") && names[2].ends_with("main"),
        "{names:?}"
    );
}

#[test]
fn zooms_are_entered_and_left_by_one_key() {
    let mut app = app();
    let all = rows(&app);
    for key in ["t", "d"] {
        press(&mut app, key);
        assert_eq!(app.cx.zooms.len(), 1, "{key}");
        press(&mut app, key);
        assert_eq!((app.cx.zooms.len(), rows(&app)), (0, all.clone()), "{key}");
    }
    press(&mut app, "t");
    assert!(rows(&app).len() < all.len());
    assert!(line_with(&app, "cycles").contains("150 of 184 samples (81.52%), threads server"));
    press(&mut app, "<Esc>");
    assert_eq!(rows(&app), all);
    press(&mut app, "k");
    assert!(screen(&app).contains("no samples match"));
    press(&mut app, "<Backspace>");
    assert_eq!(rows(&app), all);
}

#[test]
fn stacks_can_be_those_with_a_function() {
    let mut app = app();
    press(&mut app, "fanswer<Enter>");
    assert!(
        line_with(&app, "cycles")
            .contains("50 of 184 samples (27.17%), stacks with function answer")
    );
    press(&mut app, "F");
    assert!(line_with(&app, "] main").contains("100.00%"));
    press(&mut app, "f<Enter>");
    assert!(app.cx.zooms.is_empty());
    press(&mut app, "fnswe<Enter>");
    assert!(
        line_with(&app, "cycles").contains("50 of 184 samples (27.17%), stacks with function nswe")
    );
    press(&mut app, "f<Enter>");
    press(&mut app, "f");
    assert!(screen(&app).contains("!NAME: without"));
    press(&mut app, "!answer<Enter>");
    assert!(
        line_with(&app, "cycles")
            .contains("134 of 184 samples (72.83%), stacks without function answer")
    );
    press(&mut app, "fmain,!answer,!wait<Enter>");
    let what = line_with(&app, "cycles");
    assert!(
        what.ends_with("with function main, without answer,wait"),
        "{what}"
    );
    press(&mut app, "f<Enter>");
    press(&mut app, "f/(/<Enter>");
    let said = line_with(&app, "invalid regular expression");
    assert!(said.contains("group without closing ')'"), "{said}");
    press(&mut app, "<Esc>");
    assert_eq!(app.over, Over::Nothing);
}

#[test]
fn rows_with_a_name_are_left_and_percentages_stay() {
    let mut app = app();
    let before = line_with(&app, "] memcpy");
    press(&mut app, "/mem<Enter>");
    assert_eq!(rows(&app), ["[.] memcpy"]);
    assert_eq!(before[1..], line_with(&app, "] memcpy")[1..]);
    press(&mut app, "<Esc>");
    assert!(rows(&app).len() > 1);
    press(&mut app, "L50<Enter>");
    assert!(rows(&app).iter().all(|name| name != "[.] huffman"));
    press(&mut app, "Lx<Enter>");
    assert!(screen(&app).contains("a percentage from 0 to 100"));
}

#[test]
fn rows_are_grouped_by_other_keys() {
    let mut app = app();
    press(&mut app, "o");
    assert!(matches!(app.over, Over::Menu(_)));
    press(&mut app, "5");
    assert_eq!(rows(&app), ["server", "worker", "a\\u{202e}b\\x0ac"]);
    press(&mut app, "x");
    assert!(!screen(&app).contains("Children"));
    press(&mut app, "o<Down><Enter>");
    assert_eq!(rows(&app), ["prog", "prog", "prog"]);
}

#[test]
fn what_is_searched_in_trees_is_found_and_counted() {
    let mut app = app();
    press(&mut app, "2C/huff<Enter>");
    assert!(line_with(&app, "huffman").contains("16.30%"));
    assert!(line_with(&app, "1 found").contains("16.30%"));
    press(&mut app, "3n");
    let (boxes, number) = app.selected_box().unwrap();
    assert_eq!(boxes.name(number, app.cx.explorer.profile()), "huffman");
    press(&mut app, "<Esc>");
    assert!(app.cx.found.is_none());
}

#[test]
fn boxes_are_zoomed_into_and_out_of() {
    let mut app = app();
    press(&mut app, "3<Down><Down><Down>");
    let name = |app: &App| {
        let (boxes, number) = app.selected_box().unwrap();
        boxes.name(number, app.cx.explorer.profile())
    };
    assert_eq!(name(&app), "parse");
    press(&mut app, "<Right>");
    assert_eq!(name(&app), "answer");
    press(&mut app, "<Enter>");
    assert_eq!(app.flame().zoom, Some(app.flame().selected));
    press(&mut app, "u");
    assert!(
        app.flame()
            .zoom
            .is_some_and(|zoom| zoom != app.flame().selected)
    );
    press(&mut app, "u");
    press(&mut app, "u");
    assert_eq!(app.flame().zoom, None);
    press(&mut app, "<Home><Up><Up><Up><Up><Right>");
    assert_eq!(name(&app), "worker");
}

#[test]
fn a_time_is_marked_and_holds_in_all_views() {
    let mut app = app();
    press(&mut app, "4<Home>");
    assert!(app.lanes().mark.is_none());
    press(&mut app, " <Right><Right><Right><Enter>1");
    let shown = app.cx.shown.as_ref().unwrap();
    assert!(shown.counted.event.samples < 184);
    assert_eq!(shown.counted.event.samples, shown.counted.samples);
    assert!(line_with(&app, "cycles").contains(" s"));
    press(&mut app, "<Left>");
    assert_eq!(app.cx.shown.as_ref().unwrap().counted.samples, 184);
}

#[test]
fn a_thread_is_one_in_its_lane() {
    let mut app = app();
    press(&mut app, "4<Down><Down>t");
    assert!(line_with(&app, "cycles").contains("thread worker/3"));
    press(&mut app, "1");
    assert!(screen(&app).contains("huffman") && !screen(&app).contains("memcpy"));
}

#[test]
fn what_has_to_be_done_outside_is_asked_for() {
    let mut app = app();
    assert_eq!(press(&mut app, "q"), Effect::Quit);
    assert_eq!(press(&mut app, "P"), Effect::Save(SaveForm::Text));
    assert_eq!(press(&mut app, "sj"), Effect::Save(SaveForm::Json));
    assert_eq!(press(&mut app, "s<Enter>"), Effect::Save(SaveForm::Svg));
    let Effect::Code(wanted) = press(&mut app, "a") else {
        panic!();
    };
    let function = &wanted.function;
    assert_eq!(
        (function.name.as_str(), function.image.as_deref().unwrap()),
        ("main", "prog")
    );
    assert_eq!(
        press(&mut app, "3<Down><Down><Down>y"),
        Effect::Copy("server;main;serve;parse".to_owned())
    );
    press(&mut app, "1<Esc><Esc>");
    assert!(screen(&app).contains("Really quit?"));
    assert_eq!(press(&mut app, "y"), Effect::Quit);
}

#[test]
fn a_number_without_a_view_is_no_key() {
    let mut app = app();
    press(&mut app, "9");
    assert_eq!(app.view().name(), "rows");
    assert!(screen(&app).contains("press ? for the keys"));
}

#[test]
fn tab_is_the_next_event_or_view() {
    let mut app = app();
    press(&mut app, "<Tab>");
    assert_eq!(app.view().name(), "calls");
    let mut sampled = sampled();
    let mut second = sampled.profile.events[0].clone();
    second.name = rprof_untrusted::Untrusted::new("page-faults".to_owned());
    (second.samples, second.weight) = (0, 0);
    sampled.profile.events.push(second);
    let mut app = app_of(sampled, (80, 24));
    press(&mut app, "<Tab>");
    assert_eq!(app.view().name(), "rows");
    assert!(line_with(&app, "page-faults").contains("2 of 2"));
    press(&mut app, "<Tab>");
    assert!(line_with(&app, "cycles").contains("1 of 2"));
}

#[test]
fn what_is_not_made_yet_is_said() {
    let mut app = app();
    let key = |letter| Input::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
    app.input(&key('2'));
    assert!(screen(&app).contains("counting .."));
    // Keys that come too early do no harm.
    for letter in "1234 ecEatdkuxyPn+".chars() {
        app.input(&key(letter));
        screen(&app);
    }
    app.settle();
    assert!(!screen(&app).contains("counting .."));
}

#[test]
fn a_search_goes_to_the_heaviest_match() {
    let samples = [
        (1, "a", "main;one;copy", 2),
        (2, "a", "main;two;copy", 30),
        (3, "b", "copy", 10),
        (4, "c", "start", 100),
    ];
    let mut app = app_of(testing::sampled(&samples), (80, 24));
    let weight = |app: &App| {
        let (boxes, number) = app.selected_box().unwrap();
        boxes.get(number).unwrap().width
    };
    press(&mut app, "3/copy<Enter>");
    let heaviest = weight(&app);
    press(&mut app, "n");
    let second = weight(&app);
    press(&mut app, "n");
    let third = weight(&app);
    assert!(
        heaviest > second && second > third,
        "{heaviest} {second} {third}"
    );
    press(&mut app, "n");
    assert_eq!(weight(&app), heaviest);
    press(&mut app, "N");
    assert_eq!(weight(&app), third);
}

#[test]
fn what_is_pasted_presses_no_keys() {
    let mut app = app();
    let paste = |app: &mut App, text: &str| app.handle(&Input::Paste(text.to_owned()));
    assert_eq!(paste(&mut app, "q"), Effect::None);
    assert!(screen(&app).contains("paste works in the prompts"));
    press(&mut app, "/");
    paste(&mut app, "memcpy\nq\x1b");
    assert!(matches!(&app.over, Over::Prompt(prompt) if prompt.text() == "memcpy"));
    press(&mut app, "<Enter>");
    assert_eq!(rows(&app), ["[.] memcpy"]);
}

#[test]
fn rows_without_call_chains_open_nothing() {
    let samples = [(1, "server", "main", 2), (2, "server", "work", 1)];
    let mut app = app_of(testing::sampled(&samples), (80, 24));
    let n_rows = app.table().lines.len();
    for key in ["<Enter>", "+", "<Right>", "e", "E", "c"] {
        press(&mut app, key);
        assert!(screen(&app).contains("no call chains"), "{key}");
        assert_eq!(app.table().lines.len(), n_rows, "{key}");
        assert!(line_with(&app, "] main").starts_with(' '), "{key}");
    }
    // Out of a column that says nothing, but not into it.
    press(&mut app, "x");
    assert!(!screen(&app).contains("Children"));
    press(&mut app, "x");
    assert!(screen(&app).contains("no call chains") && !screen(&app).contains("Children"));
}

#[test]
fn a_copied_stack_has_a_name_between_two_separators() {
    let sampled = testing::sampled(&[(1, "a;b", "main;work", 1)]);
    let mut app = app_of(sampled, (80, 24));
    assert_eq!(
        press(&mut app, "2<Down><Down>y"),
        Effect::Copy("a:b;main;work".to_owned())
    );
}

#[test]
fn what_is_looked_for_is_said_as_it_was_typed() {
    let mut app = app();
    press(&mut app, "//^main$/<Enter>");
    assert!(line_with(&app, "1 row |").starts_with("/^main$/: "));
    press(&mut app, "<Esc>2/ma<Enter>");
    assert!(line_with(&app, " found").starts_with("/ma: "));
}

#[test]
fn a_search_from_the_threads_says_where_it_goes() {
    let mut app = app();
    press(&mut app, "4/memcpy<Enter>");
    assert_eq!(app.view().name(), "rows");
    assert!(screen(&app).contains("4 to return to threads"));
}

#[test]
fn short_times_have_digits() {
    let samples = [(1_000, "x", "main", 1), (41_000, "x", "main", 1)];
    let mut app = app_of(testing::sampled(&samples), (80, 24));
    press(&mut app, "4<Right><Right>");
    assert!(line_with(&app, "per column").starts_with("1 thread, "));
    assert!(line_with(&app, "per column").contains(" us per column"));
    press(&mut app, "<Enter>");
    let what = line_with(&app, "cycles");
    assert!(
        what.ends_with(" us") && !what.contains("0.000 to 0.000"),
        "{what}"
    );
}

#[test]
fn the_help_is_as_wide_as_the_screen() {
    let mut app = app_of(sampled(), (40, 24));
    press(&mut app, "?");
    for columns in [40, 60, 200] {
        app.handle(&Input::Size(columns, 200));
        let text: Vec<String> = screen(&app).split_whitespace().map(str::to_owned).collect();
        let text = text.join(" ");
        assert!(text.contains("a row or node; zoom into a frame; zoom into the marked time range"));
        assert!(!text.contains(".."), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is pressed, it is drawn, and what views count is the same.
    #[test]
    fn any_keys_can_be_pressed(
        keys in prop::collection::vec("[1234etdkcCEFHVLxoufnNyi/?mas+ 0a-z]|<Enter>|<Esc>|<Down>|<Up>|<Left>|<Right>|<End>", 0..60),
    ) {
        let mut app = app();
        for key in keys {
            press(&mut app, &key);
            screen(&app);
        }
        press(&mut app, "<Esc><Esc><Esc>1");
        let Some(shown) = &app.cx.shown else { return Ok(()) };
        let own: u64 = shown.rows().map(|row| row.self_weight).sum();
        if shown.rows().next().is_some() {
            prop_assert_eq!(own, shown.counted.weight);
        }
        press(&mut app, "3");
        let shown = app.cx.shown.as_ref().unwrap();
        if let Some(boxes) = shown.boxes() {
            prop_assert_eq!(boxes.layout.whole, shown.counted.weight);
        }
    }
}

#[test]
fn another_key_than_y_does_what_it_does_without_the_question() {
    let mut app = app();
    press(&mut app, "<Esc>");
    assert!(screen(&app).contains("Really quit?"));
    press(&mut app, "4");
    assert!(!screen(&app).contains("Really quit?"));
    assert_eq!(app.view().name(), "threads");
    press(&mut app, "<Esc>n");
    assert_eq!(app.over, Over::Nothing);
    press(&mut app, "<Esc><Down>");
    assert!(screen(&app).contains("Really quit?"));
    assert_eq!(press(&mut app, "<Up><Enter>"), Effect::Quit);
}

#[test]
fn the_page_about_the_recording_begins_in_plain_words() {
    let mut sampled = sampled();
    let about = &mut sampled.profile.about;
    about.command = ["rprof", "record", "-F", "99", "--", "./app", "x"]
        .map(str::to_owned)
        .into();
    about.host = Some("box".to_owned());
    about.n_cpus = Some(2);
    about.cpu = Some("A CPU".to_owned());
    let mut app = app_of(sampled, (80, 24));
    press(&mut app, "i");
    let screen = screen(&app);
    let lines: Vec<&str> = screen.lines().skip(1).take(8).collect();
    assert_eq!(
        lines,
        [
            "command: ./app x",
            "recorded by: rprof record -F 99 -- ./app x",
            "machine: box, 2 CPUs (A CPU)",
            "length: 990 ms, 3 threads of 3 processes",
            "event: cycles, 184 samples",
            "quality: 184 samples, 0.0 % lost",
            "",
            "recorded by rprof",
        ]
    );
}
