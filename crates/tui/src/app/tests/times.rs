//! Times that are typed.

use super::*;

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
