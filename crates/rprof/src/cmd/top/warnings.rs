//! Warnings of one refresh after the other: those that differ only in their numbers are said once, and how many there were
//! at the end.

use std::collections::BTreeMap;

/// Warnings so far.
#[derive(Debug, Default)]
pub(super) struct SaidWarnings {
    /// By their words, without numbers.
    kinds: BTreeMap<String, SaidKind>,
}

/// Warnings of the same words.
#[derive(Debug)]
struct SaidKind {
    last: String,
    n: u64,
}

/// Kinds that are remembered; beyond them, all are forgotten.
const MOST_KINDS: usize = 1024;

impl SaidWarnings {
    /// Takes a warning of a refresh. Returns it if it is to be said now.
    pub(super) fn take<'w>(&mut self, warning: &'w str) -> Option<&'w str> {
        if self.kinds.len() > MOST_KINDS {
            self.kinds.clear();
        }
        let words = warning.replace(|c: char| c.is_ascii_digit(), "");
        let kind = self.kinds.entry(words).or_insert_with(|| SaidKind {
            last: String::new(),
            n: 0,
        });
        kind.n += 1;
        warning.clone_into(&mut kind.last);
        (kind.n == 1).then_some(warning)
    }

    /// What is said at the end: the last one of each kind that came again.
    pub(super) fn rest(&self) -> impl Iterator<Item = String> {
        let again = self.kinds.values().filter(|kind| kind.n > 1);
        again.map(|kind| format!("{} (so in the last of {} refreshes)", kind.last, kind.n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_with_other_numbers_are_said_once_and_counted() {
        let mut said = SaidWarnings::default();
        assert_eq!(
            said.take("7 switches do not fit"),
            Some("7 switches do not fit")
        );
        assert_eq!(said.take("12 switches do not fit"), None);
        assert_eq!(said.take("3 waits"), Some("3 waits"));
        assert_eq!(said.take("1 switches do not fit"), None);
        let rest: Vec<String> = said.rest().collect();
        assert_eq!(
            rest,
            ["1 switches do not fit (so in the last of 3 refreshes)"]
        );
    }
}
