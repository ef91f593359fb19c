//! A flight recorder's triggers, as they are written (`--flight`, `--trigger`).

use super::events::of_list;
use crate::args::{RecordArgs, time_with_unit};
use crate::usage::usage;
use anyhow::Result;
use rprof_events::Event;
use rprof_record::{FlightPlan, SlowSpan};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Files that are kept unless another number is asked for: a trigger may fire all the time.
pub(super) const MOST_FILES: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// Nobody keeps that much in memory.
const LONGEST: Duration = Duration::from_secs(86400);

/// What a flight recorder keeps, and the events that it waits for.
pub(super) fn plan(args: &RecordArgs) -> Result<(Option<FlightPlan>, Vec<Event>)> {
    let Some(around) = args.files.flight else {
        return Ok((None, Vec::new()));
    };
    if around > LONGEST {
        return Err(usage("--flight: at most 1d"));
    }
    let mut plan = FlightPlan {
        around,
        on_failure: false,
        slow_spans: Vec::new(),
    };
    let mut events = Vec::new();
    for when in &args.files.trigger {
        let words: String = when.split_whitespace().collect();
        match (words.as_str(), limit(when)) {
            ("signal", _) => {}
            ("exit!=0", _) if args.command.is_empty() => {
                return Err(usage("--trigger exit!=0 needs a command to record"));
            }
            ("exit!=0", _) => plan.on_failure = true,
            (_, Some((name, limit))) => plan.slow_spans.push(slow_span(args, name, limit)?),
            (_, None) => events.extend(of_list(when.trim(), args.quiet)?),
        }
    }
    Ok((Some(plan), events))
}

/// The two sides of `NAME > TIME`. Names of events may have a `>`, too, as in `uprobe:/path:list<int>::push`.
fn limit(when: &str) -> Option<(&str, &str)> {
    let (name, limit) = when.split_once('>')?;
    let is_event = name.contains([':', '/', '<']);
    (!is_event).then(|| (name.trim(), limit.trim()))
}

fn slow_span(args: &RecordArgs, name: &str, limit: &str) -> Result<SlowSpan> {
    let name = (name != "span").then(|| name.to_owned());
    let limit = time_with_unit(limit).map_err(|why| usage(format_args!("--trigger: {why}")))?;
    let recorded = args.parts.spans.iter();
    let mut recorded = recorded.filter_map(|span| span.split_once('='));
    if recorded.any(|(own, _)| name.as_ref().is_none_or(|name| name == own)) {
        return Ok(SlowSpan { name, limit });
    }
    let name = name.as_deref().unwrap_or("NAME");
    Err(usage(format_args!(
        "--trigger: no span '{name}' is recorded: add --span '{name}=BEGIN..END'"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_a_name_and_a_time() {
        assert_eq!(limit("span > 50ms"), Some(("span", "50ms")));
        assert_eq!(limit("get user>1s"), Some(("get user", "1s")));
        assert_eq!(limit("faults"), None);
        assert_eq!(limit("uprobe:/bin/x:list<int>::push"), None);
    }
}
