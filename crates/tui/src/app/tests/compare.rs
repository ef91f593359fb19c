//! A time is compared with the rest.

use super::{app, press, screen};
use crate::app::{App, Effect, Over};
use crate::face::{ComparisonAnswer, WantedComparison};

fn asked(effect: Effect) -> WantedComparison {
    let Effect::Compare(wanted) = effect else {
        panic!("{effect:?}");
    };
    *wanted
}

fn answer(app: &mut App, wanted: WantedComparison, lines: Result<Vec<String>, String>) {
    app.take_comparison(ComparisonAnswer { wanted, lines });
}

#[test]
fn a_marked_time_is_compared_with_the_rest() {
    let mut app = app();
    press(&mut app, "D");
    assert!(screen(&app).contains("no time to compare"));
    let wanted = asked(press(&mut app, "4<Right><Right> <Right><Right>D"));
    assert_eq!(wanted.event, "cycles");
    assert!(wanted.all_ns.start() < wanted.times_ns.start());
    assert!(wanted.times_ns.end() < wanted.all_ns.end());
    assert!(screen(&app).contains("comparing"));
    let lines = vec!["# Verdict: \u{1b}memcpy".to_owned()];
    answer(&mut app, wanted, Ok(lines));
    assert!(screen(&app).contains("compared with the rest"));
    assert!(
        screen(&app).contains("# Verdict: \\x1bmemcpy"),
        "{}",
        screen(&app)
    );
}

#[test]
fn a_time_that_is_zoomed_into_is_compared_with_the_rest_of_all() {
    let mut app = app();
    let wanted = asked(press(&mut app, "T0.2,0.4<Enter>tD"));
    let start = *wanted.all_ns.start();
    assert_eq!(*wanted.times_ns.start(), start + 200_000_000);
    assert!(wanted.selection.times_ns.is_none() && !wanted.selection.comms.is_empty());
    // What was given up comes too late.
    press(&mut app, "<Esc>");
    answer(&mut app, wanted, Err("no such file".to_owned()));
    assert!(!screen(&app).contains("no such file"));
    press(&mut app, "fmemcpy<Enter>D");
    assert!(screen(&app).contains("cannot compare filtered stacks"));
}

#[test]
fn a_mark_is_compared_from_all_views() {
    let mut app = app();
    let here = asked(press(&mut app, "4<Right><Right> <Right><Right>D"));
    assert_eq!(asked(press(&mut app, "1D")), here);
}

#[test]
fn a_comparison_takes_the_place_of_nothing_else() {
    // A line that is typed, a menu; other samples, another zoom; code that was asked for later.
    for then in ["/", "o", "t", "T<Enter>", "1a"] {
        let mut app = app();
        let wanted = asked(press(&mut app, "T0.2,0.4<Enter>D"));
        press(&mut app, then);
        let before = screen(&app);
        answer(&mut app, wanted, Ok(vec!["# Verdict".to_owned()]));
        assert_eq!(screen(&app), before, "{then}");
        assert!(!matches!(app.over, Over::Page(_)), "{then}");
    }
}
