//! What the mouse does, and the bar that can be clicked.

use super::{ShownViews, app, line_with, press, screen};
use crate::app::{App, Input, Over};
use ratatui_crossterm::crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

fn mouse(app: &mut App, kind: MouseEventKind, (column, row): (u16, u16)) {
    let modifiers = KeyModifiers::NONE;
    app.handle(&Input::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers,
    }));
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut app = app();
    let left = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut app, left, (30, 5));
    assert_eq!(app.table().cursor.at, 2);
    let n = app.table().lines.len();
    mouse(&mut app, left, (30, 5));
    assert!(app.table().lines.len() > n);
    mouse(&mut app, MouseEventKind::ScrollUp, (30, 5));
    assert_eq!(app.table().cursor.at, 0);
    mouse(&mut app, left, (20, 0));
    assert_eq!(app.view().name(), "flame");
    mouse(&mut app, left, (10, 5));
    let selected = app.flame().selected;
    mouse(&mut app, left, (10, 5));
    assert_eq!(app.flame().zoom, Some(selected));
    press(&mut app, "4");
    mouse(&mut app, left, (40, 6));
    mouse(&mut app, MouseEventKind::Drag(MouseButton::Left), (50, 6));
    assert_eq!(app.lanes().marked().map(Iterator::count), Some(11));
    press(&mut app, "m");
    mouse(&mut app, left, (0, 0));
    assert_eq!(app.over, Over::Nothing);
}

#[test]
fn a_second_click_zooms_into_the_time_of_a_thread() {
    let mut app = app();
    let left = MouseEventKind::Down(MouseButton::Left);
    press(&mut app, "4");
    mouse(&mut app, left, (60, 4));
    assert!(app.cx.zooms.is_empty());
    mouse(&mut app, left, (60, 5));
    assert!(app.cx.zooms.is_empty());
    mouse(&mut app, left, (60, 5));
    assert_eq!(app.cx.zooms.len(), 1);
}

#[test]
fn the_right_button_opens_a_menu_for_what_is_there() {
    let mut app = app();
    let right = MouseEventKind::Down(MouseButton::Right);
    mouse(&mut app, right, (30, 7));
    let Over::Menu(menu) = &app.over else {
        panic!("{}", screen(&app));
    };
    assert_eq!(menu.title, "format (inlined)");
    assert!(line_with(&app, "zoom into prog").contains("d  "));
    press(&mut app, "f");
    assert!(
        line_with(&app, "cycles")
            .contains("50 of 184 samples (27.17%), stacks with function format")
    );
    mouse(&mut app, right, (30, 5));
    assert!(screen(&app).contains("undo the last zoom"));
    press(&mut app, "<Esc>");
    // A click on what is shown undoes the zoom; one on a heading says what rows show.
    let left = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut app, left, (10, 1));
    assert!(app.cx.zooms.is_empty());
    mouse(&mut app, left, (5, 2));
    assert!(!screen(&app).contains("Children"), "{}", screen(&app));
    mouse(&mut app, left, (40, 2));
    assert!(screen(&app).contains("Group rows by"));
}

#[test]
fn the_bar_has_the_keys_of_the_view_and_they_can_be_clicked() {
    let mut app = app();
    let bar = |app: &App| screen(app).lines().last().unwrap_or_default().to_owned();
    assert!(bar(&app).starts_with(" ENTER expand "), "{}", bar(&app));
    press(&mut app, "3");
    assert!(bar(&app).starts_with(" ENTER zoom in "), "{}", bar(&app));
    press(&mut app, "/huff<Enter>");
    assert!(bar(&app).contains(" n next match "), "{}", bar(&app));
    press(&mut app, "4 ");
    assert!(bar(&app).contains(" SPACE drop the mark "), "{}", bar(&app));
    press(&mut app, "/");
    assert_eq!(bar(&app), " ENTER done  ESC cancel");
    press(&mut app, "<Esc>1");
    let at = u16::try_from(bar(&app).find("? keys").unwrap()).unwrap();
    let left = MouseEventKind::Down(MouseButton::Left);
    mouse(&mut app, left, (at, 23));
    assert!(screen(&app).starts_with(" Keys"), "{}", screen(&app));
    // The text of a page can be clicked without harm; its edges close it.
    mouse(&mut app, left, (at, 10));
    assert!(matches!(app.over, Over::Page(_)));
    mouse(&mut app, left, (at, 23));
    assert_eq!(app.over, Over::Nothing);
    // However narrow it is, the help is there.
    for columns in [20, 40, 60] {
        app.handle(&Input::Size(columns, 24));
        assert!(bar(&app).ends_with(" ? keys"), "{}", bar(&app));
    }
}
