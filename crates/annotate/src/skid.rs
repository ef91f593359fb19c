//! How far a sample's address may be from the instruction that the event happened at.

use rprof_profile::EventKind;
use rprof_profile::code::CodeEvent;

/// What to say of an event; `None` where the address is that of the instruction.
///
/// Source: `precise_ip` of `perf_event_attr`, include/uapi/linux/perf_event.h (v6.1). Clocks are timers of the
/// kernel (`perf_swevent_init_hrtimer` of kernel/events/core.c): they take `precise_ip` and do not follow it.
pub(crate) fn of(event: &CodeEvent) -> Option<&'static str> {
    match (event.kind, event.precise_ip) {
        (EventKind::CpuTime, _) => {
            Some("a timer is late: what a slow instruction takes counts for the next one")
        }
        (EventKind::Occurrence, _) => None,
        (_, 0) => Some(
            "addresses may be some instructions late (skid; precise_ip 0): ask for EVENT:p, :pp or :ppp",
        ),
        (_, 1) => Some("addresses are late by a constant skid (precise_ip 1)"),
        (_, 2) => Some("addresses were asked to have no skid; some may (precise_ip 2)"),
        (_, _) => None,
    }
}
