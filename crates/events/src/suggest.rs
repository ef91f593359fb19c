//! Names close to the one that was not found.

use std::fmt;

/// Longer names are not compared: they are no slips of the finger.
const MAX_LEN: usize = 80;
const MAX_SUGGESTIONS: usize = 3;

/// What the user may have meant, closest first; shown as the end of a message, empty or
/// `: did you mean 'a' or 'b'?`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Suggestions(pub Vec<String>);

impl fmt::Display for Suggestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((last, others)) = self.0.split_last() else {
            return Ok(());
        };
        f.write_str(": did you mean ")?;
        for (at, name) in others.iter().enumerate() {
            let end = if at + 1 == others.len() { " or " } else { ", " };
            write!(f, "'{name}'{end}")?;
        }
        write!(f, "'{last}'?")
    }
}

impl Suggestions {
    /// Themselves, or where all names are.
    pub(crate) fn or_list(&self) -> String {
        if self.0.is_empty() {
            ": rprof list shows this machine's events".to_owned()
        } else {
            self.to_string()
        }
    }
}

/// Up to three of `known` that are at most a third of their letters away from `name`.
pub fn suggest(name: &str, known: impl IntoIterator<Item = String>) -> Suggestions {
    if name.len() > MAX_LEN {
        return Suggestions::default();
    }
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let mut close: Vec<(usize, String)> = known
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_LEN)
        .map(|candidate| {
            let letters: Vec<char> = candidate.to_lowercase().chars().collect();
            (distance(&wanted, &letters), candidate)
        })
        .filter(|(distance, _)| *distance <= (wanted.len() / 3).max(1))
        .collect();
    close.sort_unstable();
    close.dedup();
    close.truncate(MAX_SUGGESTIONS);
    Suggestions(close.into_iter().map(|(_, candidate)| candidate).collect())
}

/// Letters to insert, delete, replace or swap with a neighbour to make `b` of `a`.
fn distance(a: &[char], b: &[char]) -> usize {
    // Rows of the table: two letters of `a` ago, one ago, this one.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, &from) in a.iter().enumerate() {
        let mut this = vec![row + 1];
        for (column, &to) in b.iter().enumerate() {
            let replaced = last[column] + usize::from(from != to);
            let mut best = replaced.min(last[column + 1] + 1).min(this[column] + 1);
            if row > 0 && column > 0 && a[row - 1] == to && b[column - 1] == from {
                best = best.min(before[column - 1] + 1);
            }
            this.push(best);
        }
        before = std::mem::replace(&mut last, this);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn distance_counts_edits_and_swaps() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("cycels", "cycles", 1),
            ("cycle", "cycles", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(&letters(a), &letters(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn suggestions_read_as_the_end_of_a_sentence() {
        let shown = |names: &[&str]| {
            Suggestions(names.iter().map(ToString::to_string).collect()).to_string()
        };
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&["a"]), ": did you mean 'a'?");
        assert_eq!(shown(&["a", "b"]), ": did you mean 'a' or 'b'?");
        assert_eq!(shown(&["a", "b", "c"]), ": did you mean 'a', 'b' or 'c'?");
    }
}
