//! Parts of the samples are left out, or those of a process are shown.

use super::{app, app_of, data, line_with, press, sampled, screen};
use crate::app::{App, Effect};
use crate::face::{ScopeAnswer, TuiData};
use rprof_profile::{Dimension, DimensionValue, DimensionValues};

fn shown(app: &App) -> u64 {
    app.cx.shown.as_ref().unwrap().counted.samples
}

#[test]
fn dsos_functions_and_threads_are_left_out_together_and_brought_back_one_by_one() {
    let mut app = app_of(sampled(), (120, 24));
    // The sampled program has one DSO: nothing is left of it.
    press(&mut app, "X");
    assert_eq!(shown(&app), 0);
    assert!(
        screen(&app).contains("without what ran in prog itself"),
        "{}",
        screen(&app)
    );
    press(&mut app, "u");
    assert_eq!(shown(&app), 184);
    press(&mut app, "/parse<Enter>mF");
    assert_eq!(shown(&app), 84);
    assert!(screen(&app).contains("stacks without function parse"));
    // What a filter keeps, and what is left out of it.
    press(&mut app, "<Esc>u");
    press(&mut app, "fserve<Enter>/answer<Enter>mF");
    assert_eq!(shown(&app), 100);
    assert!(screen(&app).contains("stacks with function serve, stacks without function answer"));
    press(&mut app, "<Esc>u");
    assert_eq!(shown(&app), 150);
    press(&mut app, "u");
    assert_eq!(shown(&app), 184);
    // Threads of any number of names.
    press(&mut app, "/compress<Enter>mT");
    press(&mut app, "<Esc>/wait<Enter>mT");
    assert_eq!(shown(&app), 150);
    assert!(screen(&app).contains("without threads worker"));
    press(&mut app, "<Esc>u");
    assert_eq!(shown(&app), 154);
}

#[test]
fn all_threads_are_a_line_of_their_own() {
    let mut app = app();
    press(&mut app, "4");
    let all = line_with(&app, "all threads  ");
    assert!(all.contains("100.00%"), "{all}");
    // It is no thread.
    assert!(app.view().selected(&app.cx).threads.is_none());
    press(&mut app, "t");
    assert!(screen(&app).contains("choose one thread"));
    press(&mut app, "<Down>t");
    assert_eq!(shown(&app), 150);
    // A single thread is all of them.
    assert!(!screen(&app).contains("all threads"), "{}", screen(&app));
}

#[test]
fn the_lines_of_threads_scroll_with_that_of_all() {
    let mut app = app_of(sampled(), (80, 8));
    press(&mut app, "4");
    assert!(screen(&app).contains("all threads"));
    press(&mut app, "<Down><Down><Down>");
    let text = screen(&app);
    assert!(
        text.contains("worker/3") && !text.contains("all threads"),
        "{text}"
    );
}

#[test]
fn rows_of_processes_zoom_into_one() {
    let mut app = app();
    let Effect::Scope(wanted) = press(&mut app, "op") else {
        panic!();
    };
    assert_eq!(wanted.by, [Dimension::Pid]);
    let mut sampled = sampled();
    // The second thread is another one of the first process.
    sampled.threads[1].pid = sampled.threads[0].pid;
    let pids: Vec<_> = sampled
        .threads
        .iter()
        .map(|one| (one.comm, one.pid))
        .collect();
    for group in &mut sampled.groups {
        let (comm, pid) = pids.iter().find(|(comm, _)| *comm == group.comm).unwrap();
        let mut values = DimensionValues::NONE;
        values.set(Dimension::Pid, Some(DimensionValue::Task(*pid, *comm)));
        group.values = sampled.profile.values.intern(values);
    }
    let answer = TuiData {
        scope: wanted.clone(),
        ..data(sampled)
    };
    app.take_scope(ScopeAnswer {
        wanted,
        data: Ok(answer),
    });
    app.settle();
    assert!(line_with(&app, "server").contains("1:server"));
    press(&mut app, "t");
    assert!(
        screen(&app).contains("process server/1"),
        "{}",
        screen(&app)
    );
    assert_eq!(shown(&app), 154);
    press(&mut app, "t");
    assert_eq!(shown(&app), 184);
}
