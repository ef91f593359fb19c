//! Terms between slashes, and those that every event has.

use rprof_abi::{AttrFlags, PerfEventAttr};

use crate::{Event, EventError};

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
            "" => Err(EventError::Empty {
                text: event.to_owned(),
            }),
            _ => Ok(Term { key, value }),
        }
    });
    terms.collect()
}

/// A number as perf takes it: decimal, or hexadecimal after `0x`.
///
/// # Errors
/// [`EventError::BadNumber`] for anything else, and beyond 64 bits.
pub(crate) fn parse_number(text: &str, event: &str) -> Result<u64, EventError> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    // from_str_radix() would take a sign.
    let number = match digits.starts_with('+') {
        true => None,
        false => u64::from_str_radix(digits, radix).ok(),
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
}

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
    "config", "config1", "config2", "config3", "config4", "period", "freq", "name",
];

/// perf's terms that ask for what the recorder does not do for single events.
const UNSUPPORTED: &[&str] = &[
    "aux-action",
    "aux-output",
    "aux-sample-size",
    "branch_type",
    "call-graph",
    "cpu",
    "inherit",
    "max-stack",
    "metric-id",
    "no-inherit",
    "no-overwrite",
    "nr",
    "overwrite",
    "percore",
    "ratio-to-prev",
    "stack-size",
    "time",
];

impl General {
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
        let value = term.value.filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| EventError::MissingValue {
            term: term.key.to_owned(),
            event: event.to_owned(),
        })?;
        match (term.key, self.config.get_mut(at)) {
            (_, Some(config)) => *config = Some(parse_number(value, event)?),
            ("period", _) => self.sampling = Some(Sampling::Period(parse_number(value, event)?)),
            ("freq", _) => self.sampling = Some(Sampling::Frequency(parse_number(value, event)?)),
            _ => self.name = Some(value.trim_matches('\'').to_owned()),
        }
        Ok(true)
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
