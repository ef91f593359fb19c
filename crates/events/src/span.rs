//! Spans of threads' time: `request=uprobe:/path:begin..uprobe:/path:end`.

use crate::{Event, EventError, Sources, parse_events};

/// The events that begin and end spans of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanEvents {
    /// The name.
    pub name: String,
    /// Each of these begins one.
    pub begin: Vec<Event>,
    /// Each of these ends the last one that its thread has begun.
    pub end: Vec<Event>,
}

/// What stands between the events.
const BETWEEN: &str = "..";

impl SpanEvents {
    /// Reads `NAME=BEGIN..END`. Both are lists of events as [`parse_events`] takes them; every hit of each is wanted, so
    /// they are probes, tracepoints or breakpoints.
    ///
    /// # Errors
    /// What is missing, or the event that cannot be understood.
    pub fn parse(text: &str, sources: &Sources) -> Result<Self, EventError> {
        let bad = |what| EventError::BadSpan {
            span: text.to_owned(),
            what,
        };
        let (name, events) = text.split_once('=').ok_or_else(|| bad(WHOLE))?;
        if name.is_empty() || name.contains(char::is_control) {
            return Err(bad("a span needs a name: write NAME=BEGIN..END"));
        }
        // Paths may have two dots, too.
        let mut error = bad(WHOLE);
        for (at, _) in events.match_indices(BETWEEN) {
            let (begin, end) = (&events[..at], &events[at + BETWEEN.len()..]);
            let parsed = parse_events(begin, sources)
                .and_then(|begin| Ok((begin, parse_events(end, sources)?)));
            match parsed {
                Ok((begin, end)) if begin.iter().chain(&end).all(is_hit) => {
                    return Ok(Self {
                        name: name.to_owned(),
                        begin,
                        end,
                    });
                }
                Ok(_) => {
                    return Err(bad(
                        "spans begin and end at probes, tracepoints or breakpoints, which happen at one moment",
                    ));
                }
                Err(why) => error = why,
            }
        }
        Err(error)
    }
}

const WHOLE: &str = "write NAME=BEGIN..END, such as request=uprobe:/path:begin..uprobe:/path:end";

/// Whether each hit of an event is a sample.
fn is_hit(event: &Event) -> bool {
    event.attr.sample_period == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::machine::Machine;

    fn names(text: &str) -> Result<(String, Vec<String>, Vec<String>), String> {
        let names = |events: Vec<Event>| events.into_iter().map(|event| event.name).collect();
        SpanEvents::parse(text, &Machine::usual().sources)
            .map(|span| (span.name, names(span.begin), names(span.end)))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_span_has_a_name_and_two_events() {
        let (name, begin, end) = names("request=uprobe:/bin/x:begin..uprobe:/bin/x:end").unwrap();
        assert_eq!(name, "request");
        assert_eq!(
            (begin, end),
            (
                vec!["uprobe:/bin/x:begin".to_owned()],
                vec!["uprobe:/bin/x:end".to_owned()]
            )
        );
        // Several of each; a function and its return; dots in paths.
        let (_, begin, end) = names("r=uprobe:../x:a,uprobe:../x:b..uretprobe:../x:a").unwrap();
        assert_eq!((begin.len(), end.len()), (2, 1));
    }

    #[test]
    fn what_is_missing_is_said() {
        for (text, said) in [
            ("request", "NAME=BEGIN..END"),
            ("=uprobe:/x:a..uprobe:/x:b", "needs a name"),
            ("r=uprobe:/x:a", "NAME=BEGIN..END"),
            ("r=uprobe:/x..uprobe:/x:b", "uprobe:/path:function"),
            ("r=cpu-clock..cpu-clock", "probes, tracepoints"),
        ] {
            let error = names(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
