//! Names of threads.

use std::borrow::Cow;

/// A name of a thread with `<N>` for each run of digits: the threads of a pool have one name. perf's `comm_nodigit`.
pub fn without_digits(name: &str) -> Cow<'_, str> {
    let is_digit = |c: char| c.is_ascii_digit();
    if !name.contains(is_digit) {
        return Cow::Borrowed(name);
    }
    let mut folded = String::with_capacity(name.len() + 2);
    let mut rest = name;
    while let Some((before, digits)) = rest.find(is_digit).map(|at| rest.split_at(at)) {
        folded.push_str(before);
        folded.push_str("<N>");
        rest = digits.trim_start_matches(is_digit);
    }
    folded.push_str(rest);
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_of_digits_is_one_n() {
        for (name, folded) in [
            ("", ""),
            ("main", "main"),
            ("opt cgu.1", "opt cgu.<N>"),
            ("opt cgu.15", "opt cgu.<N>"),
            ("kworker/12:3-events", "kworker/<N>:<N>-events"),
            ("7", "<N>"),
            ("3d", "<N>d"),
            ("faden-\u{b2}\u{663}", "faden-\u{b2}\u{663}"),
        ] {
            assert_eq!(without_digits(name), folded);
        }
        assert!(matches!(without_digits("main"), Cow::Borrowed(_)));
    }
}
