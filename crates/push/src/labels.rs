//! Labels: names and values that users give to all that they send.

use crate::Error;
use std::collections::BTreeMap;
use std::fmt;

/// Bytes of a value: Pyroscope's limit.
const MAX_VALUE: usize = 2048;

/// Bytes of a name.
const MAX_NAME: usize = 200;

/// Labels by name. Values are shown nowhere: they may say what others must not know.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Labels(BTreeMap<String, String>);

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Labels {
    /// Reads `NAME=VALUE` texts. Names have letters, digits, `_`, `.` and `-`.
    ///
    /// # Errors
    /// [`Error::Label`] for one that is malformed, or comes twice.
    pub fn parse(texts: &[String]) -> Result<Self, Error> {
        let mut labels = Self::default();
        for (nth, text) in (1..).zip(texts) {
            let wrong = |name: &str, why| Error::Label {
                name: name.to_owned(),
                why,
            };
            let Some((name, value)) = text.split_once('=') else {
                return Err(wrong(&format!("(the {nth}th)"), "expected KEY=VALUE"));
            };
            if !is_name(name) {
                let why = "the key must begin with a letter and have letters, digits, '_', '.' and '-' only";
                return Err(wrong(&format!("(the {nth}th)"), why));
            }
            if value.len() > MAX_VALUE || value.chars().any(char::is_control) {
                let why = "the value has more than 2048 bytes, or control characters";
                return Err(wrong(name, why));
            }
            if is_service(name) && value.is_empty() {
                return Err(wrong(name, "the name of the service must not be empty"));
            }
            // Some servers know no dots and dashes.
            let plain = plain_name(name);
            if labels.0.keys().any(|known| plain_name(known) == plain) {
                return Err(wrong(name, "given twice ('.', '-' and '_' are the same)"));
            }
            labels.0.insert(name.to_owned(), value.to_owned());
        }
        Ok(labels)
    }

    /// Adds one, unless its name is taken. The value may be a recording's, and others may have made that: it becomes one
    /// that [`Self::parse`] would take.
    pub fn add_default(&mut self, name: &str, value: &str) {
        self.0.entry(name.to_owned()).or_insert_with(|| {
            let mut value = value.replace(char::is_control, "_");
            let end = (0..=MAX_VALUE.min(value.len()))
                .rev()
                .find(|&end| value.is_char_boundary(end));
            value.truncate(end.unwrap_or_default());
            value
        });
    }

    /// The value of a name.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The same with names of letters, digits and `_`, which is all that Prometheus has.
    #[must_use]
    pub fn in_prometheus_form(&self) -> Self {
        let labels = self
            .0
            .iter()
            .map(|(name, value)| (plain_name(name), value.clone()));
        Self(labels.collect())
    }
}

/// A name as Prometheus has them.
fn plain_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

/// Whether a label of this name is the service's name.
fn is_service(name: &str) -> bool {
    plain_name(name) == "service_name"
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<Labels, String> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Labels::parse(&texts).map_err(|error| error.to_string())
    }

    #[test]
    fn names_and_values_are_parted_by_the_first_sign() {
        let labels = parse(&["env=a=b", "service.name=shop", "empty="]).unwrap();
        assert_eq!(labels.value("env"), Some("a=b"));
        assert_eq!(labels.value("empty"), Some(""));
        let plain = labels.in_prometheus_form();
        assert_eq!(plain.value("service_name"), Some("shop"));
    }

    #[test]
    fn what_a_recording_says_becomes_a_value() {
        let mut labels = Labels::default();
        labels.add_default("a", "x\u{1b}[2J\n");
        labels.add_default("a", "y");
        labels.add_default("b", &"é".repeat(MAX_VALUE));
        assert_eq!(labels.value("a"), Some("x_[2J_"));
        assert_eq!(labels.value("b"), Some(&*"é".repeat(MAX_VALUE / 2)));
    }

    #[test]
    fn errors_do_not_show_values() {
        for texts in [
            &["hunter2"][..],
            &["1a=hunter2"],
            &["__name__=hunter2"],
            &["a=hunter2\u{1b}"],
            &["a=hunter2", "a=hunter2"],
            &["a.b=hunter2", "a-b=hunter2"],
            &["service.name=hunter2", "service_name=hunter2"],
            &["service.name="],
        ] {
            let error = parse(texts).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let shown = format!("{:?}", parse(&["a=hunter2"]).unwrap());
        assert_eq!(shown, r#"{"a"}"#);
    }
}
