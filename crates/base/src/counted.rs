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

/// A number with commas between thousands: `110,696`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas_between() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (110_696, "110,696"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn only_one_is_singular() {
        let said = |n| Counted::new(n, "record is damaged", "records are damaged").to_string();
        assert_eq!(said(0), "0 records are damaged");
        assert_eq!(said(1), "1 record is damaged");
        assert_eq!(said(2), "2 records are damaged");
        assert_eq!(said(11), "11 records are damaged");
    }
}
