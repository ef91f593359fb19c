//! How far a sample's address may be from the instruction that the event happened at.

use crate::listed::CountedEvent;
use rprof_profile::EventKind;
use rprof_profile::code::CodeEvent;
use rprof_untrusted::printable;

/// What is said of clocks.
const TIMER: &str = "a timer: samples land one instruction late";

/// The same in a sentence of its own.
const TIMER_IN_WORDS: &str =
    "a timer; samples land on the instruction after the one that took the time";

/// What to say of an event; `None` where the address is that of the instruction.
///
/// Source: `precise_ip` of `perf_event_attr`, include/uapi/linux/perf_event.h (v6.1). Clocks are timers of the
/// kernel (`perf_swevent_init_hrtimer` of kernel/events/core.c): they take `precise_ip` and do not follow it.
pub(crate) fn explanation(event: &CodeEvent) -> Option<&'static str> {
    match (event.kind, event.precise_ip) {
        (EventKind::CpuTime, _) => Some(TIMER),
        (EventKind::OffCpuTime | EventKind::WallTime | EventKind::Occurrence, _) => None,
        (_, 0) => Some("samples land some instructions late (skid); EVENT:p or :pp has less skid"),
        (_, 1) => Some("samples land late by a constant skid (precise_ip 1)"),
        (_, 2) => Some("samples were requested without skid; some may have it (precise_ip 2)"),
        (_, _) => None,
    }
}

/// What is said of events once, above all functions: a sentence for all events that it is true of.
pub fn skid_notes(events: &[CountedEvent]) -> Vec<String> {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for event in events {
        let Some(skid) = event.skid else {
            continue;
        };
        match notes.iter_mut().find(|(known, _)| *known == skid) {
            Some((_, names)) => names.push(&event.name),
            None => notes.push((skid, vec![&event.name])),
        }
    }
    let notes = notes.into_iter();
    notes
        .map(|(skid, names)| match (skid, &*names) {
            (TIMER, [name]) => format!("{} is {TIMER_IN_WORDS}", printable(name)),
            _ => format!("{}: {skid}", printable(&names.join(", "))),
        })
        .collect()
}
