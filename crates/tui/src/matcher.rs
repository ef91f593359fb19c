//! Search texts.

use rprof_base::is_glob;
use rprof_profile::{FilterError, NameList};

/// Matches the names searched for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Matcher {
    /// A part of a name, as in perf's browser.
    Part(String),
    /// A list, as in the filters.
    List { list: NameList, text: String },
}

impl Matcher {
    /// Reads a part of a name, or a list with patterns, `/regular expressions/` or `!`.
    ///
    /// # Errors
    /// Why a list cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let is_regex = text.len() > 2 && text.starts_with('/') && text.ends_with('/');
        if !is_regex && !text.starts_with('!') && !is_glob(text) {
            return Ok(Self::Part(text.to_owned()));
        }
        let list = names(text)?;
        let text = text.to_owned();
        Ok(Self::List { list, text })
    }

    /// Whether a name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Part(part) => name.contains(part.as_str()),
            Self::List { list, .. } => list.accepts(&[name]),
        }
    }

    /// The text as typed.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Part(text) | Self::List { text, .. } => text,
        }
    }

    /// The same with the `/` that opens a search; a regular expression already starts with one.
    pub(crate) fn typed(&self) -> String {
        match self.text() {
            text if text.starts_with('/') => text.to_owned(),
            text => format!("/{text}"),
        }
    }
}

/// Parses a list of names as the filters do, except that plain words match parts of names, as in a search.
pub(crate) fn names(text: &str) -> Result<NameList, String> {
    let no_file = |_: &str| {
        Err(FilterError(
            "file: names work on the command line only".to_owned(),
        ))
    };
    let list = NameList::parse(text, no_file).map_err(|error| error.to_string())?;
    Ok(list.of_parts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_part_and_patterns_are_whole() {
        for (text, name, expected) in [
            ("lock", "unlock_all", true),
            ("Lock", "unlock_all", false),
            ("/", "a/b", true),
            ("*lock", "unlock_all", false),
            ("un*", "unlock_all", true),
            ("/^un.*all$/", "unlock_all", true),
            ("!un*", "unlock_all", false),
            ("map<int, char>", "std::map<int, char>::at", true),
        ] {
            assert_eq!(
                Matcher::parse(text).unwrap().matches(name),
                expected,
                "{text}"
            );
        }
        assert!(
            Matcher::parse("/(/")
                .unwrap_err()
                .contains("regular expression")
        );
        assert!(Matcher::parse("file:*").is_err());
    }
}
