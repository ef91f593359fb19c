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
        if !is_regex(text) && !text.starts_with('!') && !is_glob(text) {
            return Ok(Self::Part(text.to_owned()));
        }
        let list = names(text)?;
        let text = text.to_owned();
        Ok(Self::List { list, text })
    }

    /// Reads a part of a line of text, which may have any letters, or a `/regular expression/`.
    ///
    /// # Errors
    /// Why a regular expression cannot be read.
    pub(crate) fn of_lines(text: &str) -> Result<Self, String> {
        if is_regex(text) {
            return Self::parse(text);
        }
        Ok(Self::Part(text.to_owned()))
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

fn is_regex(text: &str) -> bool {
    text.len() > 2 && text.starts_with('/') && text.ends_with('/')
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

    #[test]
    fn a_part_of_a_line_has_any_letters() {
        for (text, line, expected) in [
            ("rbx*4", "lea (%rax,%rbx*4),%rcx", true),
            ("a ? b", "return a ? b : c;", true),
            ("!done", "while (!done) {", true),
            ("!done", "nop", false),
            ("/^ret.*c;$/", "return a ? b : c;", true),
        ] {
            let matcher = Matcher::of_lines(text).unwrap();
            assert_eq!(matcher.matches(line), expected, "{text}");
        }
        assert!(Matcher::of_lines("/(/").is_err());
    }
}
