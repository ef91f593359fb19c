//! A number and what is counted, in singular or plural.

use std::fmt;

/// A number with its noun: `1 record`, `2 records`.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    n: u64,
    words: &'a str,
}

impl<'a> Counted<'a> {
    /// What follows the number if that is 1, and what follows any other.
    pub const fn new(n: u64, one: &'a str, many: &'a str) -> Self {
        let words = if n == 1 { one } else { many };
        Self { n, words }
    }
}

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.n, self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let said = |n| Counted::new(n, "record is damaged", "records are damaged").to_string();
        assert_eq!(said(0), "0 records are damaged");
        assert_eq!(said(1), "1 record is damaged");
        assert_eq!(said(2), "2 records are damaged");
        assert_eq!(said(11), "11 records are damaged");
    }
}
