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
            if labels.0.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(wrong(name, "given twice"));
            }
        }
        Ok(labels)
    }

    /// Adds one, unless its name is taken.
    pub fn add_default(&mut self, name: &str, value: &str) {
        self.0
            .entry(name.to_owned())
            .or_insert_with(|| value.to_owned());
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
        let labels = self.0.iter().map(|(name, value)| {
            let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
            (name, value.clone())
        });
        Self(labels.collect())
    }
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
    fn errors_do_not_show_values() {
        for texts in [
            &["hunter2"][..],
            &["1a=hunter2"],
            &["__name__=hunter2"],
            &["a=hunter2\u{1b}"],
            &["a=hunter2", "a=hunter2"],
        ] {
            let error = parse(texts).unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let shown = format!("{:?}", parse(&["a=hunter2"]).unwrap());
        assert_eq!(shown, r#"{"a"}"#);
    }
}
