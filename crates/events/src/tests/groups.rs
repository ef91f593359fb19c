//! Groups: who leads, who follows, and what the modifiers of a group do.

use rprof_abi::AttrFlags;

use super::machine::Machine;
use crate::{Event, Grouping, group_all};

/// Names, with `L` for a leader, `m` for a member and `r` for one that is read with its leader.
fn shown(events: &[Event]) -> Vec<String> {
    let one = |event: &Event| match &event.grouping {
        Grouping::Alone => event.name.clone(),
        Grouping::Leader { name, is_weak } => format!(
            "L{}{} {}",
            if *is_weak { "?" } else { "" },
            name.as_deref()
                .map_or_else(String::new, |name| format!("={name}")),
            event.name
        ),
        Grouping::Member { is_read: false } => format!("m {}", event.name),
        Grouping::Member { is_read: true } => format!("r {}", event.name),
    };
    events.iter().map(one).collect()
}

#[test]
fn braces_make_a_leader_and_its_members() {
    let machine = Machine::usual();
    for (list, expected) in [
        ("{cycles,cs}", &["L cycles", "m cs"][..]),
        ("{cycles}", &["L cycles"]),
        (
            "cs,{cycles,cs}:S,faults",
            &["cs", "L cycles", "r cs", "faults"],
        ),
        ("{cycles:S,cs}", &["L cycles:S", "r cs"]),
        ("{cycles,cs:S}", &["L cycles", "m cs:S"]),
        ("{cycles,cs}:W", &["L? cycles", "m cs"]),
        (
            " my{ cycles , cpu/event=1,umask=2/u }",
            &["L=my cycles", "m cpu/event=1,umask=2/u"],
        ),
        (
            "{cs,sched:*,mem:0x10/8:w}",
            &[
                "L cs",
                "m sched:sched_stat_runtime",
                "m sched:sched_switch",
                "m sched:sched_wakeup",
                "m mem:0x10/8:w",
            ],
        ),
    ] {
        assert_eq!(shown(&machine.parse(list).unwrap()), expected, "{list}");
    }
}

#[test]
fn modifiers_of_a_group_are_those_of_each_event_too() {
    let events = Machine::usual().parse("{cycles:u,cs}:kD").unwrap();
    let excluded = |event: &Event, flag| event.attr.flags.has(flag);
    let found: Vec<_> = events
        .iter()
        .map(|event| {
            (
                excluded(event, AttrFlags::EXCLUDE_USER),
                excluded(event, AttrFlags::EXCLUDE_KERNEL),
                excluded(event, AttrFlags::PINNED),
            )
        })
        .collect();
    // As perf's: user and kernel for the first one, which alone can be pinned.
    assert_eq!(found, [(false, false, true), (true, false, false)]);
}

#[test]
fn each_kind_of_core_has_a_group_of_its_own() {
    let events = Machine::hybrid().parse("{cs,cycles,instructions}").unwrap();
    assert_eq!(
        shown(&events),
        [
            "L cs",
            "m cpu_core/cycles/",
            "m cpu_core/instructions/",
            "L cpu_atom/cycles/",
            "m cpu_atom/instructions/",
        ]
    );
}

#[test]
fn one_group_of_all_events() {
    let machine = Machine::usual();
    let mut events = machine.parse("cycles:S,cs,{faults,cs}").unwrap();
    group_all(&mut events).unwrap();
    assert_eq!(shown(&events), ["L cycles:S", "r cs", "r faults", "r cs"]);
    let mut events = machine.parse("cycles,cs:D").unwrap();
    assert!(group_all(&mut events).is_err());
}
