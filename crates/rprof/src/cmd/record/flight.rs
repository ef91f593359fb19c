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
        match (words.as_str(), limit(args, when)) {
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

/// The two sides of `NAME > TIME`. Recorded spans may have any names.
fn limit<'a>(args: &RecordArgs, when: &'a str) -> Option<(&'a str, &'a str)> {
    limit_of_recorded(names(args), when.trim()).or_else(|| limit_of_any(when))
}

/// The names of recorded spans.
fn names(args: &RecordArgs) -> impl Iterator<Item = &str> {
    let spans = args.parts.spans.iter();
    spans.filter_map(|span| Some(span.split_once('=')?.0))
}

fn limit_of_recorded(
    names: impl Iterator<Item = impl AsRef<str>>,
    when: &str,
) -> Option<(&str, &str)> {
    let sides = names.filter_map(|name| {
        let limit = when.strip_prefix(name.as_ref())?;
        let own = &when[..when.len() - limit.len()];
        let limit = limit.trim_start().strip_prefix('>')?;
        Some((own, limit.trim()))
    });
    // `a > b` may be one, too.
    sides.max_by_key(|(name, _)| name.len())
}

/// Names of events may have a `>`, too, as in `uprobe:/path:list<int>::push`.
fn limit_of_any(when: &str) -> Option<(&str, &str)> {
    let (name, limit) = when.split_once('>')?;
    let is_event = name.contains([':', '/', '<']);
    (!is_event).then(|| (name.trim(), limit.trim()))
}

fn slow_span(args: &RecordArgs, name: &str, limit: &str) -> Result<SlowSpan> {
    let name = (name != "span").then(|| name.to_owned());
    let limit = time_with_unit(limit).map_err(|why| usage(format_args!("--trigger: {why}")))?;
    if names(args).any(|own| name.as_ref().is_none_or(|name| name == own)) {
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
        assert_eq!(limit_of_any("span > 50ms"), Some(("span", "50ms")));
        assert_eq!(limit_of_any("get user>1s"), Some(("get user", "1s")));
        assert_eq!(limit_of_any("faults"), None);
        assert_eq!(limit_of_any("uprobe:/bin/x:list<int>::push"), None);
    }

    #[test]
    fn recorded_spans_have_limits_whatever_their_names() {
        let names = ["GET /users", "a", "a > b", "list<int>::push"];
        let limit = |when| limit_of_recorded(names.iter(), when);
        assert_eq!(limit("GET /users > 50ms"), Some(("GET /users", "50ms")));
        assert_eq!(limit("a>1s"), Some(("a", "1s")));
        assert_eq!(limit("a > b > 1s"), Some(("a > b", "1s")));
        assert_eq!(limit("list<int>::push>1s"), Some(("list<int>::push", "1s")));
        assert_eq!(limit("ab > 1s"), None);
    }
}
