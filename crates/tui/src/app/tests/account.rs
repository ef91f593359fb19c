//! Other parts of the time of threads, and sort keys that only waits have.

use super::{app, data, line_with, press, sampled, screen};
use crate::app::{App, Effect};
use crate::face::{CodeAnswer, ComparisonAnswer, SampleScope, ScopeAnswer, TuiData};
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
    waits_of(scope, 3_000_000_000)
}

/// The same; one is this long, in nanoseconds.
fn waits_of(scope: &SampleScope, length: u64) -> TuiData {
    let mut sampled = testing::sampled(&[
        (1_000_000_000, "server", "main;serve;read;[pipe]", length),
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
        assert!(screen(&app).contains("w: next (CPU, waiting, both)"));
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
    // Long ones have all of their digits.
    let wanted = asked(press(&mut app, "w"));
    let days = 1_234_567_000_000_000;
    answer(&mut app, wanted.clone(), Ok(waits_of(&wanted, days)));
    assert!(line_with(&app, "serve").contains(" 1234567.000  "));
    assert!(line_with(&app, "lock").contains("       1.000  "));
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
    assert!(screen(&app).contains("unknown key; use comm, dso, sym"));
}

#[test]
fn rows_of_source_lines_are_said_to_be_elsewhere() {
    let mut app = chosen();
    press(&mut app, "oo,srcfile<Enter>");
    let said = "no rows by source line: press a, or report -s srcfile";
    assert!(screen(&app).contains(said), "{}", screen(&app));
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

#[test]
fn only_the_last_request_is_awaited() {
    let mut app = chosen();
    let compare = |app: &mut App, keys: &str| {
        let Effect::Compare(wanted) = press(app, keys) else {
            panic!("no comparison");
        };
        *wanted
    };
    let first = compare(&mut app, "T0.2,0.4<Enter>D");
    assert!(screen(&app).contains("comparing .. (ESC cancels)"));
    // While it is made, two requests come: the reader drops the one before the last.
    let dropped = asked(press(&mut app, "w"));
    assert!(screen(&app).contains("reading time spent waiting, once an earlier read ends .."));
    let last = compare(&mut app, "D");
    assert!(screen(&app).contains("comparing, once an earlier read ends .."));
    assert_eq!(first, last);
    let lines = Ok(vec!["# Verdict".to_owned()]);
    let wanted = first;
    app.take_comparison(ComparisonAnswer { wanted, lines });
    assert!(screen(&app).contains("# Verdict"));
    let screen_then = screen(&app);
    let lines = Err("no such file".to_owned());
    let wanted = last;
    app.take_comparison(ComparisonAnswer { wanted, lines });
    assert_eq!(screen(&app), screen_then);
    press(&mut app, "q");
    assert!(!screen(&app).contains("(ESC cancels)"));
    // Samples push out a comparison, too.
    compare(&mut app, "D");
    assert_eq!(asked(press(&mut app, "w")), dropped);
    answer(&mut app, dropped.clone(), Ok(waits(&dropped)));
    assert!(!screen(&app).contains("(ESC cancels)"));
}

#[test]
fn keys_that_are_chosen_meanwhile_stay() {
    let mut app = chosen();
    let keys = |app: &App| app.keys_text();
    let wanted = asked(press(&mut app, "w"));
    assert_eq!(press(&mut app, "o5"), Effect::None);
    assert_eq!(keys(&app), "comm");
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    assert_eq!(keys(&app), "comm");
    assert!(screen(&app).contains("offcpu-time"));
    // Keys that were read for in vain.
    let wanted = asked(press(&mut app, "o7"));
    assert_eq!(press(&mut app, "o2"), Effect::None);
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    assert_eq!(keys(&app), "sym");
    // Those that are awaited go with the next part of the time.
    asked(press(&mut app, "o7"));
    let wanted = asked(press(&mut app, "w"));
    assert_eq!(
        (wanted.account, &*wanted.by),
        (Account::Wall, &[Dimension::Cause][..])
    );
    assert_eq!(press(&mut app, "w"), Effect::None);
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    assert_eq!(keys(&app), "comm,cause");
}

#[test]
fn code_of_the_samples_before_comes_too_late() {
    let mut app = chosen();
    let wanted = asked(press(&mut app, "w"));
    let Effect::Code(code_wanted) = press(&mut app, "a") else {
        panic!("no code");
    };
    answer(&mut app, wanted.clone(), Ok(waits(&wanted)));
    let (wanted, code) = (*code_wanted, Err("no code found".to_owned()));
    app.take_code(CodeAnswer { wanted, code });
    assert!(!screen(&app).contains("no code found"));
}

#[test]
fn live_samples_are_grouped_by_what_they_have() {
    let mut app = app();
    app.cx.is_live = true;
    let scope = SampleScope {
        account: Account::OffCpu,
        by: vec![Dimension::Cause],
    };
    app.replace(TuiData {
        accounts: Vec::new(),
        ..waits(&scope)
    });
    press(&mut app, "o");
    let menu = screen(&app);
    assert!(menu.contains("comm,cause") && !menu.contains("waker") && !menu.contains("state"));
    press(&mut app, "o,waker<Enter>");
    assert!(screen(&app).contains("unknown key; use comm, dso, sym, cause"));
    press(
        &mut app,
        "<Backspace><Backspace><Backspace><Backspace><Backspace>state<Enter>",
    );
    assert!(screen(&app).contains("start rprof top with -s state"));
    // Times of a recording are compared, once it is a file.
    press(&mut app, "<Esc>4 ");
    assert!(screen(&app).contains("drop the mark"));
    assert!(!screen(&app).contains("compare with the rest"));
}
