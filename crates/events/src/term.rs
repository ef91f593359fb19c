//! Terms between slashes, and those that every event has.

use rprof_abi::{AttrFlags, PerfEventAttr};

use crate::suggest::suggest;
use crate::{Callers, Event, EventError};

/// `key` or `key=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: Option<&'a str>,
}

/// The terms of `text`, which belongs to `event`; commas between quotes do not separate.
///
/// # Errors
/// [`EventError::Empty`] for a term without a name.
pub(crate) fn split_terms<'a>(text: &'a str, event: &str) -> Result<Vec<Term<'a>>, EventError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut quoted = false;
    let parts = text.split(|letter| {
        quoted ^= letter == '\'';
        letter == ',' && !quoted
    });
    let terms = parts.map(|part| {
        let (key, value) = match part.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (part.trim(), None),
        };
        match key {
            "" => Err(EventError::empty("a term", event)),
            _ => Ok(Term { key, value }),
        }
    });
    terms.collect()
}

/// A number as perf takes it: decimal, or hexadecimal after `0x`.
///
/// # Errors
/// [`EventError::BadNumber`] for anything else, and beyond 64 bits; [`EventError::Empty`] for nothing.
pub(crate) fn parse_number(text: &str, event: &str) -> Result<u64, EventError> {
    if text.is_empty() {
        return Err(EventError::empty("a number", event));
    }
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    // from_str_radix() would take a sign.
    let number = if digits.starts_with('+') {
        None
    } else {
        u64::from_str_radix(digits, radix).ok()
    };
    number.ok_or_else(|| EventError::BadNumber {
        text: text.to_owned(),
        event: event.to_owned(),
    })
}

/// The terms that every event takes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct General {
    config: [Option<u64>; 5],
    sampling: Option<Sampling>,
    pub(crate) name: Option<String>,
    /// What `call-graph=` says.
    callers: Option<Callers>,
    stack_bytes: Option<u32>,
    max_stack: Option<u16>,
    inherit: Option<bool>,
}

/// The words of `call-graph=`.
const CALL_GRAPHS: &[(&str, Callers)] = &[
    ("auto", Callers::Auto),
    ("dwarf", Callers::Dwarf { bytes: None }),
    ("fp", Callers::FramePointers),
    ("lbr", Callers::BranchRecords),
    ("no", Callers::No),
    ("none", Callers::No),
];

/// The most that the kernel copies of a stack: a record's size has 16 bits.
const MOST_STACK_BYTES: u64 = 65_528;

/// When samples are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sampling {
    /// After this many events.
    Period(u64),
    /// This many a second.
    Frequency(u64),
}

/// Known terms, for suggestions.
pub(crate) const GENERAL: &[&str] = &[
    "config",
    "config1",
    "config2",
    "config3",
    "config4",
    "period",
    "freq",
    "name",
    "call-graph",
    "stack-size",
    "max-stack",
    "inherit",
    "no-inherit",
    "no-overwrite",
    "percore",
    "time",
];

/// Those that ask for what is so without a value.
const YES: &[&str] = &["inherit", "no-inherit", "no-overwrite", "percore", "time"];

/// perf's terms that ask for what the recorder does not do for single events.
const UNSUPPORTED: &[&str] = &[
    "aux-action",
    "aux-output",
    "aux-sample-size",
    "branch_type",
    "cpu",
    "metric-id",
    "nr",
    "overwrite",
    "ratio-to-prev",
];

impl General {
    /// The terms of an event that has no others.
    ///
    /// # Errors
    /// One that is unknown, or has a wrong value.
    pub(crate) fn of(terms: &str, event: &str) -> Result<Self, EventError> {
        let mut general = Self::default();
        for term in split_terms(terms, event)? {
            if !general.take(term, event)? {
                let known = GENERAL.iter().map(|name| (*name).to_owned());
                return Err(EventError::UnknownTerm {
                    term: term.key.to_owned(),
                    event: event.to_owned(),
                    suggestions: suggest(term.key, known),
                });
            }
        }
        Ok(general)
    }

    /// Takes the term if it is one of these; `false` if not.
    ///
    /// # Errors
    /// Its value is missing or no number, or rprof does not support it.
    pub(crate) fn take(&mut self, term: Term<'_>, event: &str) -> Result<bool, EventError> {
        if UNSUPPORTED.contains(&term.key) || term.key.starts_with('@') {
            return Err(EventError::UnsupportedTerm {
                term: term.key.to_owned(),
                event: event.to_owned(),
            });
        }
        let Some(at) = GENERAL.iter().position(|known| *known == term.key) else {
            return Ok(false);
        };
        let is_yes = YES.contains(&term.key) && term.value.is_none();
        let value = if is_yes {
            Some("1")
        } else {
            term.value.filter(|value| !value.is_empty())
        };
        let value = value.ok_or_else(|| EventError::MissingValue {
            term: term.key.to_owned(),
            event: event.to_owned(),
        })?;
        match (term.key, self.config.get_mut(at)) {
            (_, Some(config)) => *config = Some(parse_number(value, event)?),
            ("period" | "freq", _) => {
                let number = parse_number(value, event)?;
                self.sampling = Some(match (term.key, number) {
                    (_, 0) => {
                        return Err(EventError::BadValue {
                            value: value.to_owned(),
                            term: term.key.to_owned(),
                            event: event.to_owned(),
                            expected: "1 or more",
                        });
                    }
                    ("period", events) => Sampling::Period(events),
                    (_, per_second) => Sampling::Frequency(per_second),
                });
            }
            ("name", _) => self.name = Some(value.trim_matches('\'').to_owned()),
            _ => self.take_callers(term.key, value, event)?,
        }
        Ok(true)
    }

    /// How callers are recorded, and of whom.
    fn take_callers(&mut self, key: &str, value: &str, event: &str) -> Result<(), EventError> {
        let bad = |expected| EventError::BadValue {
            value: value.to_owned(),
            term: key.to_owned(),
            event: event.to_owned(),
            expected,
        };
        if key == "call-graph" {
            let known = CALL_GRAPHS.iter().find(|(word, _)| *word == value);
            self.callers = Some(known.ok_or_else(|| bad("auto, dwarf, fp, lbr or no"))?.1);
            return Ok(());
        }
        match (key, parse_number(value, event)?) {
            ("stack-size", bytes @ 1..=MOST_STACK_BYTES) => {
                let bytes = u32::try_from(bytes.next_multiple_of(8)).ok();
                self.stack_bytes = bytes;
            }
            ("stack-size", _) => return Err(bad("1 to 65528 bytes")),
            ("max-stack", entries) => {
                let entries = u16::try_from(entries).ok().filter(|&entries| entries > 0);
                self.max_stack = Some(entries.ok_or_else(|| bad("1 to 65535 callers"))?);
            }
            ("inherit", yes @ 0..=1) => self.inherit = Some(yes == 1),
            ("no-inherit", yes @ 0..=1) => self.inherit = Some(yes == 0),
            ("time" | "no-overwrite", 1) => {}
            // Sums of counts: samples are as without it.
            ("percore", 0..=1) => {}
            ("time", _) => return Err(bad("only 1, as every sample has its time")),
            ("no-overwrite", _) => return Err(bad("only 1, as --overwrite applies to all events")),
            _ => return Err(bad("0 or 1")),
        }
        Ok(())
    }

    /// The callers that the terms ask for. As with perf, a limit alone means frame pointers, which alone it
    /// is for.
    fn callers(&self) -> Option<Callers> {
        let bytes = self.stack_bytes;
        match (self.callers, bytes, self.max_stack) {
            (Some(Callers::Dwarf { .. }), ..) | (None, Some(_), _) => {
                Some(Callers::Dwarf { bytes })
            }
            (None, None, Some(_)) => Some(Callers::FramePointers),
            (callers, ..) => callers,
        }
    }

    /// Puts what was taken into the event, over what was there.
    pub(crate) fn apply(&self, event: &mut Event) {
        for (at, value) in self.config.iter().enumerate() {
            if let (Some(field), Some(value)) = (config_field(&mut event.attr, at), value) {
                *field = *value;
            }
        }
        let flags = event.attr.flags;
        match self.sampling {
            Some(Sampling::Period(events)) => {
                event.attr.sample_period = events;
                event.attr.flags = flags.without(AttrFlags::FREQ);
            }
            Some(Sampling::Frequency(per_second)) => {
                event.attr.sample_period = per_second;
                event.attr.flags = flags.with(AttrFlags::FREQ);
            }
            None => {}
        }
        if let Some(name) = &self.name {
            event.name.clone_from(name);
        }
        event.callers = self.callers();
        event.max_stack = self.max_stack;
        event.is_inherited = self.inherit.unwrap_or(true);
    }
}

/// The attr's `config`, `config1`, ... by number.
pub(crate) fn config_field(attr: &mut PerfEventAttr, number: usize) -> Option<&mut u64> {
    match number {
        0 => Some(&mut attr.config),
        1 => Some(&mut attr.config1),
        2 => Some(&mut attr.config2),
        3 => Some(&mut attr.config3),
        4 => Some(&mut attr.config4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        for (text, number) in [
            ("0", Some(0)),
            ("010", Some(10)),
            ("0x1F", Some(0x1f)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("0x", None),
            ("+1", None),
            ("0x+1", None),
            ("-1", None),
            ("x", None),
        ] {
            assert_eq!(parse_number(text, "e").ok(), number, "{text}");
        }
    }

    #[test]
    fn terms_keep_commas_between_quotes() {
        let terms = split_terms("a=1, b ,name='x,y'", "e").unwrap();
        let parts: Vec<_> = terms.iter().map(|term| (term.key, term.value)).collect();
        assert_eq!(
            parts,
            [("a", Some("1")), ("b", None), ("name", Some("'x,y'"))]
        );
        assert!(split_terms("a,", "e").is_err());
        assert!(split_terms("=1", "e").is_err());
        assert_eq!(split_terms("", "e").unwrap(), []);
    }
}
