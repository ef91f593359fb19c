//! Other parts of the time of threads, and sort keys that only waits have.

use super::{app, data, line_with, press, sampled, screen};
use crate::app::{App, Effect};
use crate::face::{SampleScope, ScopeAnswer, TuiData};
use rprof_profile::{Account, Dimension, EventKind, testing};
use rprof_untrusted::Untrusted;

const ALL: [Account; 3] = [Account::OnCpu, Account::OffCpu, Account::Wall];

fn with_choice(data: TuiData) -> TuiData {
    TuiData {
        accounts: ALL.to_vec(),
        ..data
    }
}

/// Waits of the same threads.
fn waits(scope: &SampleScope) -> TuiData {
    let mut sampled = testing::sampled(&[
        (
            1_000_000_000,
            "server",
            "main;serve;read;[pipe]",
            3_000_000_000,
        ),
        (1_500_000_000, "worker", "start;lock;[futex]", 1_000_400_000),
    ]);
    let event = &mut sampled.profile.events[0];
    event.name = Untrusted::new("offcpu-time".to_owned());
    event.kind = EventKind::OffCpuTime;
    TuiData {
        scope: scope.clone(),
        ..with_choice(data(sampled))
    }
}

fn chosen() -> App {
    let mut app = app();
    app.replace(with_choice(data(sampled())));
    app
}

fn asked(effect: Effect) -> SampleScope {
    let Effect::Scope(wanted) = effect else {
        panic!("{effect:?}");
    };
    wanted
}

fn answer(app: &mut App, wanted: SampleScope, data: Result<TuiData, String>) {
    app.take_scope(ScopeAnswer { wanted, data });
    app.settle();
}

#[test]
fn a_key_goes_through_cpus_waiting_and_both() {
    let mut app = chosen();
    for account in [Account::OffCpu, Account::Wall, Account::OnCpu] {
        let wanted = asked(press(&mut app, "w"));
        assert_eq!(wanted.account, account);
        let data = TuiData {
            scope: wanted.clone(),
            ..waits(&wanted)
        };
        answer(&mut app, wanted, Ok(data));
        assert!(screen(&app).contains("w: the next of CPUs, waiting and both"));
    }
    // Where there is nothing to choose from, it says how to get it.
    let mut app = super::app();
    assert_eq!(press(&mut app, "w"), Effect::None);
    assert!(screen(&app).contains("use rprof record --off-cpu"));
}

#[test]
fn rows_of_times_have_a_column_of_them() {
    let mut app = chosen();
    assert!(!screen(&app).contains("Time ("));
    let wanted = asked(press(&mut app, "w"));
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    assert!(line_with(&app, "Self").contains("Time (s)"));
    assert!(line_with(&app, "serve").contains(" 3.000  "));
    assert!(line_with(&app, "lock").contains(" 1.000  "));
}

#[test]
fn what_waits_are_for_groups_rows_once_it_is_read() {
    let mut app = chosen();
    press(&mut app, "o");
    assert!(!screen(&app).contains("cause"));
    press(&mut app, "<Esc>");
    let wanted = asked(press(&mut app, "w"));
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    let wanted = asked(press(&mut app, "3o7"));
    assert_eq!(wanted.by, [Dimension::Cause]);
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    assert!(line_with(&app, "pipe").contains("server"));
    assert_eq!(app.view().name(), "rows");
    // Now it is known.
    assert_eq!(press(&mut app, "o1o7"), Effect::None);
    assert!(screen(&app).contains("Cause"));
    let wanted = asked(press(&mut app, "oo,waker<Enter>"));
    assert_eq!(wanted.by, [Dimension::Cause, Dimension::Waker]);
    // Time on CPUs has none of it.
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    for _ in 0..2 {
        let wanted = asked(press(&mut app, "w"));
        answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    }
    assert!(app.cx.by.keys.iter().all(|key| key.name() == "comm"));
    press(&mut app, "oo,cause<Enter>");
    assert!(screen(&app).contains("keys are comm,dso,sym"));
}

#[test]
fn samples_that_were_given_up_come_too_late() {
    let mut app = chosen();
    let wanted = asked(press(&mut app, "w"));
    assert!(screen(&app).contains("reading time spent waiting"));
    press(&mut app, "<Esc>");
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    assert!(line_with(&app, "samples").contains("cycles"));
    let wanted = asked(press(&mut app, "w"));
    answer(&mut app, wanted, Err("no such file".to_owned()));
    assert!(screen(&app).contains("no such file"));
}
