//! Lists of names in filters: plain names, shell patterns, regular expressions, and what is left out.

use super::FilterError;
use super::split::split;
use regex_lite::Regex;
use rprof_base::{glob_matches, is_glob};

/// Names that are wanted, and names that are not. Without wanted ones, all others are.
#[derive(Clone, Debug, Default)]
pub struct NameList {
    wanted: Vec<Pattern>,
    unwanted: Vec<Pattern>,
    /// As they were given.
    items: Vec<String>,
}

/// What a name is compared with.
#[derive(Clone, Debug)]
enum Pattern {
    Whole(String),
    Part(String),
    Glob(String),
    Regex(Regex),
}

impl PartialEq for NameList {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl NameList {
    /// Reads names separated by commas: `name`, `pattern*`, `/regex/`, each with `!` in front to leave it out, and
    /// `file:FILE`, whose lines are such names. `read` gives a file's text.
    ///
    /// A comma within brackets or a regular expression does not separate.
    ///
    /// # Errors
    /// [`FilterError`] if there is no name, or a regular expression cannot be read, and those of `read`.
    pub fn parse(
        text: &str,
        mut read: impl FnMut(&str) -> Result<String, FilterError>,
    ) -> Result<Self, FilterError> {
        let mut list = Self::default();
        for item in split(text) {
            let Some(file) = item.strip_prefix("file:") else {
                list.add(item)?;
                continue;
            };
            let file = file.strip_prefix("//").unwrap_or(file);
            for line in read(file)?.lines().filter(|line| !line.is_empty()) {
                let in_file = |error| FilterError(format!("{file}: {error}"));
                list.add(line).map_err(in_file)?;
            }
        }
        if list.is_empty() {
            Err(FilterError(format!("no name in '{text}'")))
        } else {
            Ok(list)
        }
    }

    /// The same, where plain names are parts of names.
    #[must_use]
    pub fn of_parts(mut self) -> Self {
        for pattern in self.wanted.iter_mut().chain(&mut self.unwanted) {
            if let Pattern::Whole(name) = pattern {
                *pattern = Pattern::Part(std::mem::take(name));
            }
        }
        self
    }

    /// The list of these names, as they are.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let items: Vec<String> = names.into_iter().map(str::to_owned).collect();
        Self {
            wanted: items.iter().cloned().map(Pattern::Whole).collect(),
            unwanted: Vec::new(),
            items,
        }
    }

    /// All names but these.
    pub fn without<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut list = Self::default();
        for name in names {
            list.unwanted.push(Pattern::Whole(name.to_owned()));
            list.items.push(format!("!{name}"));
        }
        list
    }

    /// Leaves the names that another list accepts. What that list wants is taken to be wanted here, too.
    pub fn narrow(&mut self, by: &Self) {
        if !by.wanted.is_empty() {
            self.wanted.clear();
            self.items.retain(|item| item.starts_with('!'));
        }
        self.extend(by.clone());
    }

    fn add(&mut self, item: &str) -> Result<(), FilterError> {
        let (list, name) = match item.strip_prefix('!') {
            Some(name) => (&mut self.unwanted, name),
            None => (&mut self.wanted, item),
        };
        if name.is_empty() {
            return Err(FilterError(format!("'{item}' is not a name")));
        }
        list.push(Pattern::parse(name)?);
        self.items.push(item.to_owned());
        Ok(())
    }

    /// The names of all these lists.
    pub fn of_all(lists: &[Self]) -> Self {
        let mut all = Self::default();
        lists.iter().cloned().for_each(|list| all.extend(list));
        all
    }

    /// Adds the names of another list.
    pub fn extend(&mut self, other: Self) {
        self.wanted.extend(other.wanted);
        self.unwanted.extend(other.unwanted);
        self.items.extend(other.items);
    }

    /// Whether all names are wanted.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The names, patterns and expressions, as they were given.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    /// Whether there are names that are wanted, beside those that are not.
    pub fn has_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Whether there are names that are not wanted.
    pub fn has_unwanted(&self) -> bool {
        !self.unwanted.is_empty()
    }

    /// Whether a name is among the wanted ones, and whether it is among those that are not wanted.
    pub fn of_any(&self, name: &str) -> (bool, bool) {
        let has = |list: &[Pattern]| list.iter().any(|one| one.matches(name));
        (has(&self.wanted), has(&self.unwanted))
    }

    /// Whether something that goes by all of these names is wanted.
    pub fn accepts(&self, names: &[&str]) -> bool {
        let has = |list: &[Pattern]| {
            let mut patterns = list.iter();
            patterns.any(|one| names.iter().any(|name| one.matches(name)))
        };
        (self.wanted.is_empty() || has(&self.wanted)) && !has(&self.unwanted)
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, FilterError> {
        let regex = text
            .strip_prefix('/')
            .and_then(|text| text.strip_suffix('/'));
        if let Some(regex) = regex.filter(|regex| !regex.is_empty()) {
            return match Regex::new(regex) {
                Ok(regex) => Ok(Self::Regex(regex)),
                Err(why) => Err(FilterError(format!(
                    "invalid regular expression '{text}': {why}"
                ))),
            };
        }
        Ok(if is_glob(text) {
            Self::Glob(text.to_owned())
        } else {
            Self::Whole(text.to_owned())
        })
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Whole(whole) => whole == name,
            Self::Part(part) => name.contains(part.as_str()),
            Self::Glob(pattern) => glob_matches(pattern, name),
            Self::Regex(regex) => regex.is_match(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> NameList {
        NameList::parse(text, |file| Ok(format!("of {file}\n!not*\n\n"))).unwrap()
    }

    #[test]
    fn names_patterns_and_expressions_are_wanted_or_left_out() {
        for (text, name, expected) in [
            ("main", "main", true),
            ("main", "main2", false),
            ("a,b", "b", true),
            ("std::*", "std::vec::push", true),
            ("*.so.6", "libc.so.6", true),
            ("*.so.6", "libc.so.60", false),
            ("[kernel.kallsyms]", "[kernel.kallsyms]", true),
            ("/^mem(cpy|move)$/", "memmove", true),
            ("/^mem(cpy|move)$/", "memmove2", false),
            ("/a{1,2}b/", "xaab", true),
            ("!main", "main", false),
            ("!main", "other", true),
            ("std::*,!std::vec*", "std::vec::push", false),
            ("std::*,!std::vec*", "std::map", true),
            ("std::*,!std::vec*", "main", false),
            ("!/x/", "axb", false),
            ("map<int, char>,main", "map<int, char>", true),
            ("/usr/lib/libc.so.6", "/usr/lib/libc.so.6", true),
            ("/usr/lib/a.so,/usr/lib/b.so", "/usr/lib/b.so", true),
            ("file:names", "of names", true),
            ("file://names", "of names", true),
            ("file:names,a", "nothing", false),
        ] {
            assert_eq!(list(text).accepts(&[name]), expected, "{text} {name}");
        }
    }

    #[test]
    fn plain_names_may_be_parts() {
        for (text, name, expected) in [
            ("sort", "std::sort<int>", true),
            ("sort", "stable", false),
            ("sor*", "std::sort<int>", false),
            ("!sort", "std::sort<int>", false),
        ] {
            assert_eq!(
                list(text).of_parts().accepts(&[name]),
                expected,
                "{text} {name}"
            );
        }
    }

    #[test]
    fn a_narrower_list_still_leaves_out_what_was_left_out() {
        let mut narrow = list("a*,!ab");
        narrow.narrow(&NameList::without(["ac"]));
        let accepts = |list: &NameList, name| list.accepts(&[name]);
        assert!(accepts(&narrow, "ad") && !accepts(&narrow, "b"));
        assert!(!accepts(&narrow, "ab") && !accepts(&narrow, "ac"));
        narrow.narrow(&NameList::of(["ae", "ac"]));
        assert!(accepts(&narrow, "ae") && !accepts(&narrow, "ad"));
        assert!(!accepts(&narrow, "ac"));
        assert_eq!(narrow.items(), ["!ab", "!ac", "ae", "ac"]);
    }

    #[test]
    fn one_of_several_names_is_enough_and_too_much() {
        let names = ["libc.so.6", "/usr/lib/libc.so.6"];
        assert!(list("libc.so.6").accepts(&names) && list("/usr/*").accepts(&names));
        assert!(!list("!/usr/*").accepts(&names) && !list("!libc.so.6").accepts(&names));
        assert!(!list("a").accepts(&[]) && list("!a").accepts(&[]));
    }

    #[test]
    fn what_is_no_name_is_said() {
        let error = |text: &str| {
            let read = |file: &str| Err(FilterError(format!("reading {file}")));
            NameList::parse(text, read).unwrap_err().to_string()
        };
        assert_eq!(error(""), "no name in ''");
        assert_eq!(error(","), "no name in ','");
        assert_eq!(error("a,!"), "'!' is not a name");
        assert!(error("/(/").starts_with("invalid regular expression '/(/': "));
        assert_eq!(error("file:x"), "reading x");
    }

    proptest! {
        #[test]
        fn any_text_is_a_list_or_an_error(text in ".*", name in ".*") {
            if let Ok(list) = NameList::parse(&text, |_| Ok(text.clone())) {
                list.accepts(&[&name]);
            }
        }
    }
}
