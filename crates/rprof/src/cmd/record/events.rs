//! The events that are recorded, from what `-e`, `--filter` and `--group` say.

use crate::args::{FilterArgs, RecordArgs};
use crate::say;
use crate::usage::of_event;
use anyhow::Result;
use rprof_events::{Event, EventError, Sources, SpanEvents, group_all, parse_events, set_filter};
use rprof_ringbuf::sys::mount_tracefs;

pub(super) fn events(args: &RecordArgs) -> Result<Vec<Event>> {
    let sources = Sources::default();
    let parse = |list: &str| parse(list, &sources, args.quiet);
    let events = with_filters(&args.events.events, &args.filters, &sources, parse);
    let mut events = events.map_err(of_event)?;
    if args.parts.lock {
        events.extend(parse(LOCKS).map_err(of_event)?);
    }
    if args.events.group {
        group_all(&mut events).map_err(of_event)?;
    }
    Ok(events)
}

/// What `--lock` records: waits of user space and of the kernel, with the stacks in which they begin.
const LOCKS: &str = "syscalls:sys_enter_futex/period=1/,syscalls:sys_exit_futex/period=1,call-graph=no/,\
    lock:contention_begin/period=1/,lock:contention_end/period=1,call-graph=no/";

/// The events of lists, each with the filters that stand behind its list.
pub(in crate::cmd) fn with_filters(
    lists: &[String],
    filters: &FilterArgs,
    sources: &Sources,
    parse: impl Fn(&str) -> Result<Vec<Event>, EventError>,
) -> Result<Vec<Event>, EventError> {
    let mut events = Vec::new();
    for (idx, list) in lists.iter().enumerate() {
        let mut parsed = parse(list)?;
        for filter in filters.of(idx) {
            for event in &mut parsed {
                set_filter(event, filter, sources)?;
            }
        }
        if filters.excludes_perf(idx) {
            let others = format!("common_pid != {}", std::process::id());
            // Own samples of other events are left out when rings are drained.
            for event in parsed.iter_mut().filter(|event| event.tracepoint.is_some()) {
                set_filter(event, &others, sources)?;
            }
        }
        events.extend(parsed);
    }
    Ok(events)
}

/// The spans of `--span`.
pub(super) fn spans(args: &RecordArgs) -> Result<Vec<SpanEvents>> {
    let sources = Sources::default();
    let spans = args.parts.spans.iter();
    let parse = |text: &String| with_tracefs(args.quiet, || SpanEvents::parse(text, &sources));
    spans.map(|text| parse(text).map_err(of_event)).collect()
}

/// Those of `--switch-output-event`.
pub(super) fn of_list(list: &str, is_quiet: bool) -> Result<Vec<Event>> {
    parse(list, &Sources::default(), is_quiet).map_err(of_event)
}

fn parse(list: &str, sources: &Sources, is_quiet: bool) -> Result<Vec<Event>, EventError> {
    with_tracefs(is_quiet, || parse_events(list, sources))
}

/// Parses something; mounts tracefs if that is missing.
fn with_tracefs<T>(
    is_quiet: bool,
    parse: impl Fn() -> Result<T, EventError>,
) -> Result<T, EventError> {
    match parse() {
        Err(EventError::TracefsMissing { path, .. }) if mount_tracefs(&path).is_ok() => {
            if !is_quiet {
                let path = path.display();
                say::line(format_args!(
                    "tracefs was not mounted: mounted it at {path}"
                ));
            }
            parse()
        }
        parsed => parsed,
    }
}
