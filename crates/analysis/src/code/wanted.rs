//! A function as it is asked for.

use super::found::FoundFunction;
use rprof_profile::{FilterError, NameList};

/// A function that is asked for by its name as it is shown or mangled, or by a pattern as filters have them; with
/// `@0xSTART` behind it, the one that begins there.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedFunction {
    /// As it was typed, without a start.
    pub(super) name: String,
    /// Where it begins.
    pub(super) start: Option<u64>,
    /// As a list of names; empty if it is none.
    pub(super) pattern: NameList,
}

impl WantedFunction {
    /// Reads what was typed; `read` gives the text of a file of names.
    ///
    /// # Errors
    /// [`FilterError`] if there is no name, or a regular expression or a file of names cannot be read.
    pub fn parse(
        text: &str,
        read: impl FnMut(&str) -> Result<String, FilterError>,
    ) -> Result<Self, FilterError> {
        let (name, start) = match text.rsplit_once('@') {
            Some((name, start)) if hex(start).is_some() => (name, hex(start)),
            _ => (text, None),
        };
        if name.trim().is_empty() {
            return Err(FilterError("the name of a function".to_owned()));
        }
        let pattern = match NameList::parse(name, read) {
            Ok(pattern) => pattern,
            Err(error) if name.starts_with(['/', '!']) || name.starts_with("file:") => {
                return Err(error);
            }
            // C++ has names that do not read like lists (`operator,`).
            Err(_) => NameList::default(),
        };
        Ok(Self {
            name: name.to_owned(),
            start,
            pattern,
        })
    }

    /// The function of a name, whatever signs of patterns are in it.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            start: None,
            pattern: NameList::default(),
        }
    }

    /// As it was typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a function begins where it should.
    pub(super) fn is_start(&self, function: &FoundFunction) -> bool {
        self.start.is_none_or(|start| function.start == start)
    }

    /// Whether a name is that of the pattern.
    pub(super) fn accepts(&self, name: &str) -> bool {
        !self.pattern.is_empty() && self.pattern.accepts(&[name])
    }
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<WantedFunction, FilterError> {
        WantedFunction::parse(text, |file| Err(FilterError(format!("reading {file}: no"))))
    }

    #[test]
    fn a_start_stands_behind_the_name() {
        let wanted = parsed("memcpy@plt@0x1f").unwrap();
        assert_eq!((wanted.name(), wanted.start), ("memcpy@plt", Some(0x1f)));
        assert_eq!(parsed("memcpy@plt").unwrap().start, None);
        assert!(parsed("@0x1f").is_err());
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_said() {
        for (text, why) in [
            ("/[/", "invalid regular expression '/[/'"),
            ("", "the name of a function"),
            ("file:names", "reading names: no"),
            ("!", "is not a name"),
        ] {
            let said = parsed(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn names_of_operators_are_names() {
        for name in ["operator,", "f(int, char)", "operator/", "operator[]"] {
            assert_eq!(parsed(name).unwrap().name(), name);
        }
    }
}
