//! Code is asked for, and comes.

use super::{app, press, screen};
use crate::app::{App, Effect, Over};
use crate::face::{CodeAnswer, CodeLines, WantedCode};
use rprof_profile::code::{CodeLine, CodeLineKind};

/// Code of one line that was asked for.
fn answer(wanted: &WantedCode, note: Option<&'static str>) -> CodeAnswer {
    let text = "  50.00  10: add".to_owned();
    let lines = vec![CodeLine::new(CodeLineKind::Instruction, text)];
    CodeAnswer {
        wanted: wanted.clone(),
        code: Ok(CodeLines {
            lines,
            note,
            into: Vec::new(),
        }),
    }
}

#[test]
fn code_comes_while_keys_go_on() {
    let mut app = app();
    let Effect::Code(wanted) = press(&mut app, "a") else {
        panic!();
    };
    assert!(screen(&app).contains("reading the code of main"));
    press(&mut app, "<Down>2");
    assert!(screen(&app).contains("reading the code of main"));
    app.take_code(answer(&wanted, None));
    assert!(screen(&app).contains("10: add"));
    press(&mut app, "q");
    assert_eq!(app.over, Over::Nothing);
    // What was given up, or is not the last that was asked for, comes too late.
    for given_up in ["1a<Esc>", "1a/<Esc>", "1a<Down><Down>a<Esc>"] {
        press(&mut app, given_up);
        app.take_code(answer(&wanted, None));
        assert_eq!(app.over, Over::Nothing, "{given_up}");
    }
    press(&mut app, "1<Home>a");
    let code = Err("there is no file".to_owned());
    app.take_code(CodeAnswer {
        wanted: *wanted,
        code,
    });
    assert!(screen(&app).contains("there is no file"));
}

#[test]
fn inlined_code_is_that_of_one_function_or_of_all() {
    let mut app = app();
    let title = |app: &App| screen(app).lines().next().unwrap_or_default().to_owned();
    let Effect::Code(wanted) = press(&mut app, "/format<Enter>a") else {
        panic!();
    };
    assert!(wanted.function.is_inlined && wanted.into.is_none());
    let answer = |wanted: &WantedCode| {
        let mut answer = answer(wanted, None);
        let code = answer.code.as_mut().unwrap();
        code.into = vec![("answer".to_owned(), 40), ("other".to_owned(), 12)];
        answer
    };
    app.take_code(answer(&wanted));
    assert_eq!(
        title(&app),
        " format  prog  inlined into answer (40 samples), other (12)"
    );
    press(&mut app, "o");
    assert!(
        screen(&app).contains("other (12 samples)"),
        "{}",
        screen(&app)
    );
    // Without a choice, the code is there again.
    for given_up in ["<Esc>", "<Left>", "q"] {
        press(&mut app, given_up);
        assert!(title(&app).starts_with(" format  prog "), "{given_up}");
        press(&mut app, "o");
    }
    let Effect::Code(one) = press(&mut app, "2") else {
        panic!();
    };
    assert_eq!(one.into.as_deref(), Some("other"));
    app.take_code(answer(&one));
    assert_eq!(title(&app), " format  prog  inlined into other");
    let Effect::Code(all) = press(&mut app, "oa") else {
        panic!();
    };
    assert_eq!(all, wanted);
}

#[test]
fn code_is_searched_and_a_line_that_is_given_up_leaves_it_shown() {
    let mut app = app();
    let Effect::Code(wanted) = press(&mut app, "a") else {
        panic!();
    };
    let mut found = answer(&wanted, None);
    let line = |text: &str| CodeLine::new(CodeLineKind::Instruction, text.to_owned());
    found.code.as_mut().unwrap().lines = ["10: add", "12: call", "18: add"].map(line).into();
    app.take_code(found);
    press(&mut app, "/call");
    assert!(screen(&app).contains("10: add"), "{}", screen(&app));
    let last = screen(&app).trim_end().to_owned();
    assert!(last.ends_with("search (part of a line, /regex/): call"));
    press(&mut app, "<Esc>");
    assert!(!screen(&app).contains("of a line"));
    press(&mut app, "/add<Enter>n");
    assert!(screen(&app).contains("/add: 2 of 2"), "{}", screen(&app));
    press(&mut app, "<Esc>");
    assert!(screen(&app).contains("18: add") && !screen(&app).contains("/add"));
    press(&mut app, "//(/<Enter>");
    assert!(screen(&app).contains("regular expression"));
    press(&mut app, "<Esc><Esc>");
    assert_eq!(app.over, Over::Nothing);
}

#[test]
fn code_of_other_samples_comes_too_late() {
    for zoom in ["k", "t"] {
        let mut app = app();
        let Effect::Code(wanted) = press(&mut app, "a") else {
            panic!();
        };
        press(&mut app, zoom);
        app.take_code(answer(&wanted, None));
        assert_eq!(app.over, Over::Nothing, "{zoom}");
    }
}

#[test]
fn code_counts_the_samples_that_are_selected() {
    let mut app = app();
    let title = |app: &App| screen(app).lines().next().unwrap_or_default().to_owned();
    let Effect::Code(wanted) = press(&mut app, "ta") else {
        panic!();
    };
    assert!(wanted.selection.comms.accepts(&["server"]));
    assert!(!wanted.selection.comms.accepts(&["worker"]));
    app.take_code(answer(&wanted, None));
    assert_eq!(title(&app), " main  prog");
    press(&mut app, "<Esc>a");
    app.take_code(answer(&wanted, Some("all samples, ignoring zooms")));
    assert_eq!(title(&app), " main  prog  (all samples, ignoring zooms)");
}

#[test]
fn calls_and_jumps_are_followed_and_left() {
    let mut app = app();
    let title = |app: &App| screen(app).lines().next().unwrap_or_default().to_owned();
    let Effect::Code(wanted) = press(&mut app, "a") else {
        panic!();
    };
    let line = |address, text: &str| CodeLine {
        address: Some(address),
        ..CodeLine::new(CodeLineKind::Instruction, text.to_owned())
    };
    let call = |address, name: &str| CodeLine {
        callee: Some(name.to_owned()),
        ..line(address, &format!("{address:x}: call <{name}>"))
    };
    let jump = CodeLine {
        target: Some(0x10),
        ..line(0x20, "20: jmp 10")
    };
    let code = |wanted: &WantedCode, lines: Vec<CodeLine>| {
        let mut answer = answer(wanted, None);
        answer.code.as_mut().unwrap().lines = lines;
        answer
    };
    let lines = vec![
        line(0x10, "10: add"),
        call(0x14, "parse"),
        call(0x18, "memcpy@plt"),
        jump,
    ];
    app.take_code(code(&wanted, lines.clone()));
    // The marked line is a jump: it leads to a line of the page.
    press(&mut app, "/jmp<Enter><Enter><Esc>");
    let Over::Page(page) = &app.over else {
        panic!();
    };
    assert_eq!(page.marked(), Some(0));
    // No call is marked: there is a choice, of which nothing is taken first.
    press(&mut app, "<Enter>");
    assert!(screen(&app).contains("2  memcpy@plt"), "{}", screen(&app));
    assert_eq!(title(&app), " main  prog");
    press(&mut app, "<Esc>");
    assert!(screen(&app).contains("10: add"));
    let Effect::Code(stub) = press(&mut app, "<Enter>2") else {
        panic!();
    };
    // What it leads to is in any file; the page stays until it is there.
    assert_eq!(stub.function.name, "memcpy");
    assert_eq!(stub.function.image, None);
    assert!(screen(&app).contains("reading the code of memcpy"));
    assert!(screen(&app).contains("10: add"));
    app.take_code(CodeAnswer {
        wanted: *stub,
        code: Err("no such code".to_owned()),
    });
    assert!(screen(&app).contains("no such code") && screen(&app).contains("10: add"));
    let Effect::Code(callee) = press(&mut app, "/call<Enter><Enter>") else {
        panic!();
    };
    assert_eq!(callee.function.name, "parse");
    assert_eq!(callee.function.image, wanted.function.image);
    app.take_code(code(&callee, vec![line(0x50, "50: ret")]));
    assert_eq!(title(&app), " parse  prog");
    press(&mut app, "<Enter>");
    assert!(screen(&app).contains("it calls no function with a name"));
    let Effect::Code(before) = press(&mut app, "<Backspace>") else {
        panic!();
    };
    assert_eq!(before, wanted);
    app.take_code(code(&before, lines));
    assert_eq!(title(&app), " main  prog");
    assert_eq!(press(&mut app, "<Backspace>"), Effect::None);
    assert_eq!(app.over, Over::Nothing);
}

#[test]
fn the_help_is_shown_over_code_and_leads_back_to_it() {
    let mut app = app();
    let Effect::Code(wanted) = press(&mut app, "a") else {
        panic!();
    };
    app.take_code(answer(&wanted, None));
    press(&mut app, "?");
    assert!(!screen(&app).contains("10: add"));
    press(&mut app, "?");
    assert!(screen(&app).contains("10: add"), "{}", screen(&app));
}
