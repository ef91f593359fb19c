//! Tracepoints, and tracefs that is not there.

use std::fs;

use rprof_abi::event_type;

use super::machine::Machine;

#[test]
fn tracepoints_have_their_id_and_sample_each_hit() {
    let machine = Machine::usual();
    for (list, expected) in [
        ("sched:sched_switch", vec![("sched:sched_switch", 314)]),
        ("sched:sched_switch:u", vec![("sched:sched_switch", 314)]),
        (
            "sched:*",
            vec![
                ("sched:sched_stat_runtime", 308),
                ("sched:sched_switch", 314),
                ("sched:sched_wakeup", 316),
            ],
        ),
        (
            "s*:s*_??????,cycles",
            vec![
                ("sched:sched_switch", 314),
                ("sched:sched_wakeup", 316),
                ("cycles", 0),
            ],
        ),
        ("*:*read", vec![("syscalls:sys_enter_read", 700)]),
    ] {
        let events = machine.parse(list).unwrap();
        let found: Vec<_> = events
            .iter()
            .map(|event| (event.name.as_str(), event.attr.config))
            .collect();
        assert_eq!(found, expected, "{list}");
        for event in events.iter().filter(|event| event.name.contains(':')) {
            assert_eq!(event.attr.kind, event_type::TRACEPOINT);
            assert_eq!(event.attr.sample_period, 1);
        }
    }
}

#[test]
fn unknown_tracepoints_come_with_suggestions() {
    let machine = Machine::usual();
    for (text, message) in [
        (
            "sched:sched_swich",
            "unknown event 'sched:sched_swich': no such tracepoint: did you mean 'sched:sched_switch'?",
        ),
        (
            "shced:sched_wakeup",
            "unknown event 'shced:sched_wakeup': no such tracepoint: did you mean 'sched:sched_wakeup'?",
        ),
        (
            "nothing:like_this",
            "unknown event 'nothing:like_this': no such tracepoint",
        ),
        (
            "sched:x*",
            "unknown event 'sched:x*': no tracepoint matches",
        ),
        ("..:events", "unknown event '..:events': no such tracepoint"),
    ] {
        let error = machine.error(text);
        assert!(error.starts_with(message), "{error}");
    }
    assert!(
        machine
            .error("syscalls:broken")
            .starts_with("malformed text 'x\n' in ")
    );
}

#[test]
fn without_tracefs_the_error_says_how_to_mount_it() {
    for text in ["sched:sched_switch", "sched:*", "*:*"] {
        let error = Machine::bare().error(text);
        let start = format!("looking up '{text}': no tracepoints in ");
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains("mount -t tracefs"), "{error}");
    }
}

#[test]
fn a_file_in_place_of_tracefs_is_an_error_too() {
    let machine = Machine::bare();
    fs::write(machine.dir.path().join("tracing"), "").unwrap();
    assert!(machine.error("sched:sched_switch").starts_with("reading "));
}
