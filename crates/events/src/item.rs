//! Cutting: a list into events, an event into name, terms and modifiers.

use crate::EventError;
use crate::probe::is_probe;

/// The events of a list, without the white space around them; commas inside of slashes and
/// braces do not separate.
///
/// # Errors
/// An empty list or event, or a slash, brace or quote without its counterpart.
pub(crate) fn split_list(list: &str) -> Result<Vec<&str>, EventError> {
    let mut events = Vec::new();
    let mut start = 0;
    let mut inside = Inside::default();
    for (at, letter) in list.char_indices() {
        // The slash of a breakpoint stands before its length, and those of a path enclose nothing.
        let is_path = || {
            let text = list[start..at].trim_start();
            text.starts_with("mem:") || is_probe(text)
        };
        match letter {
            // The arguments of a probe, and those of a C++ function.
            '(' | ')' if is_probe(list[start..at].trim_start()) => {
                inside.parenthesis(letter, list)?
            }
            ',' if !inside.any() => {
                events.push(list[start..at].trim());
                start = at + 1;
            }
            '/' if is_path() => {}
            _ => inside.step(letter, list)?,
        }
    }
    if let Some(delimiter) = inside.open() {
        return Err(EventError::unbalanced(list, delimiter));
    }
    events.push(list[start..].trim());
    if events.iter().any(|event| event.is_empty()) {
        return Err(EventError::empty("an event", list));
    }
    Ok(events)
}

/// What encloses the current letter.
#[derive(Default)]
struct Inside {
    braces: usize,
    slashes: bool,
    quotes: bool,
    parentheses: usize,
}

impl Inside {
    fn any(&self) -> bool {
        self.open().is_some()
    }

    fn open(&self) -> Option<char> {
        match (self.quotes, self.slashes, self.braces) {
            _ if self.parentheses > 0 => Some('('),
            (true, _, _) => Some('\''),
            (_, true, _) => Some('/'),
            (_, _, 0) => None,
            _ => Some('{'),
        }
    }

    fn parenthesis(&mut self, letter: char, list: &str) -> Result<(), EventError> {
        let outer = self.parentheses.checked_sub(1);
        self.parentheses = match letter {
            '(' => self.parentheses + 1,
            _ => outer.ok_or_else(|| EventError::unbalanced(list, ')'))?,
        };
        Ok(())
    }

    fn step(&mut self, letter: char, list: &str) -> Result<(), EventError> {
        match letter {
            '\'' if self.slashes => self.quotes = !self.quotes,
            _ if self.quotes => {}
            '/' if self.braces == 0 => self.slashes = !self.slashes,
            _ if self.slashes => {}
            '{' => self.braces += 1,
            '}' => {
                let outer = self.braces.checked_sub(1);
                self.braces = outer.ok_or_else(|| EventError::unbalanced(list, '}'))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// One event, cut into its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    /// All of it, for messages.
    pub(crate) text: &'a str,
    /// Before the first slash or colon.
    pub(crate) head: &'a str,
    /// Between the slashes, if there are any.
    pub(crate) terms: Option<&'a str>,
    /// After the colon or the second slash.
    pub(crate) modifiers: &'a str,
}

impl<'a> Item<'a> {
    /// Cuts `head/terms/modifiers`, `head:modifiers` or `head`.
    ///
    /// # Errors
    /// [`EventError::Unbalanced`] if there is one slash only, [`EventError::Empty`] if nothing
    /// stands before it.
    pub(crate) fn cut(text: &'a str) -> Result<Self, EventError> {
        let (head, terms, modifiers) = match text.split_once('/') {
            Some((head, rest)) => {
                let (terms, after) =
                    cut_at_slash(rest).ok_or_else(|| EventError::unbalanced(text, '/'))?;
                (head, Some(terms), after.strip_prefix(':').unwrap_or(after))
            }
            None => {
                let (head, modifiers) = text.split_once(':').unwrap_or((text, ""));
                (head, None, modifiers)
            }
        };
        if head.is_empty() {
            return Err(EventError::empty("a name", text));
        }
        Ok(Self {
            text,
            head,
            terms,
            modifiers,
        })
    }

    /// The event's name: as written, with the modifiers attached.
    pub(crate) fn name(&self) -> String {
        let Self {
            head, modifiers, ..
        } = self;
        match self.terms {
            Some(terms) => format!("{head}/{terms}/{modifiers}"),
            None if modifiers.is_empty() => (*head).to_owned(),
            None => format!("{head}:{modifiers}"),
        }
    }

    /// The name of the same event on one PMU of several: `pmu/head,terms/modifiers`.
    pub(crate) fn name_on(&self, pmu: &str) -> String {
        let Self {
            head, modifiers, ..
        } = self;
        match self.terms {
            None | Some("") => format!("{pmu}/{head}/{modifiers}"),
            Some(terms) => format!("{pmu}/{head},{terms}/{modifiers}"),
        }
    }
}

/// Cuts at the first slash that is not between quotes.
fn cut_at_slash(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let at = text.find(|letter| {
        quoted ^= letter == '\'';
        letter == '/' && !quoted
    })?;
    Some((&text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_of_slashes_braces_and_quotes_do_not_separate() {
        for (list, events) in [
            ("a", vec!["a"]),
            (" a , b:u ", vec!["a", "b:u"]),
            ("cpu/a=1,b/u,c", vec!["cpu/a=1,b/u", "c"]),
            ("{a,b}:S,c", vec!["{a,b}:S", "c"]),
            ("mem:0x10/8:w,c", vec!["mem:0x10/8:w", "c"]),
            ("c,mem:1/2,d/e,f/", vec!["c", "mem:1/2", "d/e,f/"]),
            ("cpu/name='a,/b'/,c", vec!["cpu/name='a,/b'/", "c"]),
            (
                "uprobe:/b/x:f(%di,+8(%si):string),c",
                vec!["uprobe:/b/x:f(%di,+8(%si):string)", "c"],
            ),
        ] {
            assert_eq!(split_list(list).unwrap(), events, "{list}");
        }
    }

    #[test]
    fn missing_counterparts_and_events_are_errors() {
        for (list, message) in [
            ("", "an event is missing in ''"),
            ("a,,b", "an event is missing in 'a,,b'"),
            ("cpu/a,b", "unbalanced '/' in 'cpu/a,b'"),
            ("cpu/name='x/", "unbalanced ''' in 'cpu/name='x/'"),
            ("{a,b", "unbalanced '{' in '{a,b'"),
            ("a,b}", "unbalanced '}' in 'a,b}'"),
            ("uprobe:/x:f(%di", "unbalanced '(' in 'uprobe:/x:f(%di'"),
        ] {
            assert_eq!(split_list(list).unwrap_err().to_string(), message);
        }
    }
}
