//! Times that are typed, and those that keys find.

use super::*;
use rprof_query::ThreadLanes;

fn lanes_of(app: &App) -> &ThreadLanes {
    app.cx.lanes().unwrap()
}

#[test]
fn a_key_goes_to_the_busiest_time_and_to_the_next() {
    let mut app = app();
    // From the rows, the threads are shown first.
    press(&mut app, "b");
    assert_eq!(app.view().name(), "threads");
    let slots = |app: &App| {
        let lanes = lanes_of(app);
        let slot = app.lanes().slot;
        (slot, lanes.running[slot])
    };
    let most = *lanes_of(&app).running.iter().max().unwrap();
    let (first, busiest) = slots(&app);
    assert_eq!(busiest, most);
    let line = line_with(&app, "busiest ");
    assert!(
        line.starts_with("busiest ") && line.ends_with("; all threads 100.00%"),
        "{line}"
    );
    press(&mut app, "b");
    let (second, next) = slots(&app);
    assert!(second != first && next <= busiest, "{next}");
    line_with(&app, "busiest #2 ");
    press(&mut app, "<Right>");
    assert!(!screen(&app).contains("busiest #"));
    // From elsewhere it begins with the first again; another thread has a time of its own.
    press(&mut app, "b");
    assert_eq!(slots(&app).0, first);
    press(&mut app, "<Down><Down>b");
    let lanes = lanes_of(&app);
    let worker = &lanes.lanes[1].slots;
    assert_eq!(worker[app.lanes().slot], *worker.iter().max().unwrap());
    press(&mut app, "B");
    let lanes = lanes_of(&app);
    assert_eq!(lanes.lanes[1].slots[app.lanes().slot], 0);
    line_with(&app, "idlest ");
    // What was found can be zoomed into, and compared with the rest.
    press(&mut app, "b<Enter>");
    assert!(app.cx.has_times());
}

#[test]
fn without_times_there_is_no_busiest() {
    let mut sampled = sampled();
    sampled.has_times = false;
    let mut app = app_of(sampled, (80, 24));
    press(&mut app, "b");
    assert_eq!(app.view().name(), "rows");
    line_with(&app, "the recording has no times");
    press(&mut app, "4b");
    assert_eq!(app.lanes().slot, 0);
}

#[test]
fn a_wrong_time_is_answered_with_examples() {
    let mut app = app();
    press(&mut app, "T5<Enter>");
    line_with(&app, "such as 1.5,3 or 50%-100%");
    press(&mut app, "0%,100%<Enter>");
    assert!(app.cx.has_times(), "{}", screen(&app));
}

#[test]
fn what_is_typed_has_room_on_narrow_terminals() {
    for columns in [40, 60, 80] {
        let mut app = app_of(sampled(), (columns, 15));
        press(&mut app, "T50%-100%");
        line_with(&app, ": 50%-100%");
        press(&mut app, "<Esc>fmemcpy");
        line_with(&app, ": memcpy");
    }
}

#[test]
fn a_time_can_be_typed_and_home_and_end_go_to_its_ends() {
    let mut app = app();
    let shown = |app: &App| app.cx.shown.as_ref().unwrap().counted.samples;
    press(&mut app, "T0.3,0.6<Enter>");
    let what = line_with(&app, "cycles");
    assert!(what.contains(", 300 to 600 ms"), "{what}");
    let n_within = shown(&app);
    press(&mut app, "T,300ms<Enter>");
    let n_before = shown(&app);
    press(&mut app, "T600ms,<Enter>");
    // The samples at both ends are in two of them.
    assert!((184..=190).contains(&(n_before + n_within + shown(&app))));
    press(&mut app, "T5,6<Enter>");
    assert!(
        screen(&app).contains("the recording lasts 990 ms"),
        "{}",
        screen(&app)
    );
    press(&mut app, "<Esc>T7<Enter>");
    assert!(
        screen(&app).contains("such as 1.5,3 or 50%-100%"),
        "{}",
        screen(&app)
    );
    press(&mut app, "<Esc>T<Enter>4");
    assert_eq!((shown(&app), app.cx.zooms.len()), (184, 0));

    assert!(!screen(&app).contains("marked"));
    press(&mut app, "<End>");
    assert_eq!(app.lanes().cursor.at, 0);
    let last = app.lanes().slot;
    press(&mut app, "<Right>");
    assert!(last > 0 && app.lanes().slot == last);
    press(&mut app, " <Home>");
    assert_eq!(app.lanes().marked(), Some(0..=last));
    let status = line_with(&app, "marked");
    assert!(status.contains("; marked 0 to 99"), "{status}");
    press(&mut app, "T0.3,0.6<Enter>");
    assert_eq!((app.lanes().mark, app.lanes().slot), (None, 0));
}
