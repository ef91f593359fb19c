//! What is typed of a condition.

use super::{Comparator, Condition, Limit, Subject};
use rprof_profile::text::width;
use rprof_profile::view::SortKey;
use rprof_untrusted::printable;
use std::str::FromStr;

/// A condition that was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}\n  {text}\n  {blanks}^", blanks = " ".repeat(*.at))]
pub struct ConditionError {
    /// What was typed, as it is shown: one line.
    pub text: String,
    /// Columns before what was not understood.
    pub at: usize,
    /// What should be there.
    pub why: &'static str,
}

const SUBJECTS: &str = "total, sym:NAME, children:NAME, dso:NAME or comm:NAME";
const COMPARATORS: &str = "> >= < or <= and a limit, as in total>+3%";
const LIMITS: &str =
    "a limit: percent (+3%), points of the share (+0.5pp), or an amount (+1000000)";

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let error = |at: usize, why| ConditionError {
            text: printable(text).into_owned(),
            at: text.get(..at).map_or(0, |before| width(&printable(before))),
            why,
        };
        // Names have < and >, too: the last one is it.
        let Some(at) = text.rfind(['<', '>']) else {
            subject(text.trim()).ok_or_else(|| error(0, SUBJECTS))?;
            return Err(error(text.len(), COMPARATORS));
        };
        let (left, right) = text.split_at(at);
        let subject = subject(left.trim()).ok_or_else(|| error(0, SUBJECTS))?;
        let has_equal = right.get(1..).is_some_and(|rest| rest.starts_with('='));
        let comparator = match (right.starts_with('>'), has_equal) {
            (true, false) => Comparator::Above,
            (true, true) => Comparator::AtLeast,
            (false, false) => Comparator::Below,
            (false, true) => Comparator::AtMost,
        };
        let begin = at + 1 + usize::from(has_equal);
        let rest = text.get(begin..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start().len();
        let limit = limit(rest.trim()).ok_or_else(|| error(begin + blanks, LIMITS))?;
        Ok(Self {
            text: text.to_owned(),
            subject,
            comparator,
            limit,
        })
    }
}

fn subject(text: &str) -> Option<Subject> {
    if text == "total" {
        return Some(Subject::Total);
    }
    let (kind, name) = text.split_once(':')?;
    let name = name.trim();
    let row = |key| Some(Subject::Row(key, name.to_owned()));
    match kind {
        _ if name.is_empty() => None,
        "sym" | "symbol" => row(SortKey::Symbol),
        "dso" => row(SortKey::Dso),
        "comm" => row(SortKey::Comm),
        "children" => Some(Subject::Children(name.to_owned())),
        _ => None,
    }
}

fn limit(text: &str) -> Option<Limit> {
    let number = |text: &str| {
        let digits = text.trim();
        let is_plain = digits.bytes().all(|byte| b"+-.0123456789".contains(&byte));
        let number: f64 = digits.parse().ok().filter(|_| is_plain)?;
        number.is_finite().then_some(number)
    };
    if let Some(percent) = text.strip_suffix('%') {
        return number(percent).map(Limit::Percent);
    }
    if let Some(points) = text.strip_suffix("pp") {
        return number(points).map(Limit::Points);
    }
    number(text).map(Limit::Amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn conditions_are_what_is_typed() {
        let parsed = |text: &str| {
            let Condition {
                subject,
                comparator,
                limit,
                ..
            } = text.parse().unwrap();
            (subject, comparator, limit)
        };
        let symbol = |name: &str| Subject::Row(SortKey::Symbol, name.to_owned());
        for (text, expected) in [
            (
                "total>+3%",
                (Subject::Total, Comparator::Above, Limit::Percent(3.0)),
            ),
            (
                "sym:Vec<T>::push >= 5 %",
                (
                    symbol("Vec<T>::push"),
                    Comparator::AtLeast,
                    Limit::Percent(5.0),
                ),
            ),
            (
                "sym:operator<<=-2pp",
                (symbol("operator<"), Comparator::AtMost, Limit::Points(-2.0)),
            ),
            (
                "dso:libfoo.so<1000",
                (
                    Subject::Row(SortKey::Dso, "libfoo.so".to_owned()),
                    Comparator::Below,
                    Limit::Amount(1000.0),
                ),
            ),
            (
                "children:main>1.5%",
                (
                    Subject::Children("main".to_owned()),
                    Comparator::Above,
                    Limit::Percent(1.5),
                ),
            ),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_say_where() {
        for (text, at, why) in [
            ("", 0, SUBJECTS),
            ("totl>3%", 0, SUBJECTS),
            ("sym:>3%", 0, SUBJECTS),
            ("total", 5, COMPARATORS),
            ("total>", 6, LIMITS),
            ("total> 3percent", 7, LIMITS),
            ("total>inf%", 6, LIMITS),
            ("sym:é>x", 6, LIMITS),
            ("sym:漢>x", 7, LIMITS),
            // As it is shown: \x0a.
            ("sym:a\nb>x", 11, LIMITS),
            ("sym:a\tb>x", 11, LIMITS),
        ] {
            let error = Condition::from_str(text).unwrap_err();
            assert_eq!((error.at, error.why), (at, why), "{text}");
        }
        let said = Condition::from_str("total>x").unwrap_err().to_string();
        assert!(said.ends_with("\n  total>x\n        ^"), "{said}");
        let said = Condition::from_str("sym:a\nb>x").unwrap_err().to_string();
        assert!(
            said.ends_with("\n  sym:a\\x0ab>x\n             ^"),
            "{said}"
        );
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_understood_or_refused(text in "(\\PC|\n|\t){0,24}") {
            if let Err(error) = Condition::from_str(&text) {
                prop_assert!(error.at <= width(&error.text));
                prop_assert!(!error.text.contains('\n'));
            }
        }
    }
}
