//! The grammar as a whole: no text makes it panic, and what an event is called is read as the same event.

use super::machine::Machine;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "cycles",
        "cs",
        "L1-dcache-load-misses",
        "r1a8",
        "mem-loads",
        "sched:sched_switch",
        "mem:0x1000/8:w",
        "cpu/event=0x3c,umask=1/",
        "cpu/mem-loads,ldlat=7/",
        "page-faults/period=5,call-graph=fp,max-stack=3/",
        "cs/no-inherit/",
        "sched:sched_wakeup/name=x/",
        "uprobe:/bin/x:f+0x10",
        "usdt:/bin/x:p:n",
    ])
    .prop_map(str::to_owned)
}

fn modified() -> impl Strategy<Value = String> {
    let letters = prop::sample::subsequence(vec!['u', 'k', 'h', 'H', 'G', 'I', 'P', 'S'], 0..4);
    (name(), letters).prop_map(|(name, letters)| {
        let letters: String = letters.into_iter().collect();
        match (letters.is_empty(), name.ends_with('/')) {
            (true, _) => name,
            (false, true) => format!("{name}{letters}"),
            (false, false) => format!("{name}:{letters}"),
        }
    })
}

/// Tries a fact with many values, on one machine.
fn for_any<S: Strategy>(values: S, fact: impl Fn(&Machine, S::Value) -> Result<(), TestCaseError>) {
    let machine = Machine::usual();
    let tried = TestRunner::default().run(&values, |value| fact(&machine, value));
    tried.unwrap();
}

#[test]
fn no_text_panics() {
    for_any("[a-z{}:/,=+@'0-9*_. SWDé-]{0,60}", |machine, text| {
        let _ = machine.parse(&text);
        Ok(())
    });
}

#[test]
fn mangled_events_are_refused_or_taken() {
    let letters = prop::sample::select(vec!['/', ':', ',', '{', '}', '=', '\'', 'x', '\0']);
    let values = (modified(), any::<prop::sample::Index>(), letters);
    for_any(values, |machine, (mut text, at, letter)| {
        text.insert(at.index(text.len()), letter);
        let _ = machine.parse(&text);
        Ok(())
    });
}

#[test]
fn a_list_is_its_events_one_by_one() {
    for_any(
        prop::collection::vec(modified(), 1..5),
        |machine, events| {
            let one_by_one: Vec<_> = events.iter().map(|event| machine.one(event)).collect();
            prop_assert_eq!(machine.parse(&events.join(",")).unwrap(), one_by_one);
            Ok(())
        },
    );
}

#[test]
fn an_events_name_is_read_as_the_same_event() {
    for_any(modified(), |machine, text| {
        let event = machine.one(&text);
        let is_named = text.contains("name=");
        // Modifiers of tracepoints and probes are in no name, as in perf.
        let has_all = event.tracepoint.is_none() && event.probe.is_none();
        prop_assume!(!is_named && has_all);
        prop_assert_eq!(machine.one(&event.name), event);
        Ok(())
    });
}

#[test]
fn events_of_a_group_are_those_of_the_list() {
    for_any(prop::collection::vec(name(), 1..5), |machine, events| {
        let has_own = |event: &String| event.contains("no-inherit");
        prop_assume!(!events.iter().any(has_own));
        let mut group = machine.parse(&format!("{{{}}}", events.join(","))).unwrap();
        for event in &mut group {
            event.grouping = crate::Grouping::Alone;
        }
        prop_assert_eq!(group, machine.parse(&events.join(",")).unwrap());
        Ok(())
    });
}
