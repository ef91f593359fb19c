//! Numbers as flag values, with errors in the words of the flag.

use std::str::FromStr;
use std::time::Duration;

/// The id of a process or thread.
pub(super) fn id(text: &str) -> Result<i32, String> {
    from_one(text, "expected an id, a number from 1")
}

/// Number of events per sample.
pub(super) fn count(text: &str) -> Result<u64, String> {
    from_one(text, "expected a number of events, at least 1")
}

/// Percent of one CPU.
pub(super) fn percent(text: &str) -> Result<u32, String> {
    from_one(text, "expected percent of one CPU, at least 1")
}

/// Number of samples an hour.
pub(super) fn samples(text: &str) -> Result<u64, String> {
    from_one(text, "expected a number of samples an hour, at least 1")
}

/// Number of files to keep; 0: all.
pub(super) fn files(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "expected a number of files, or 0 for all".to_owned())
}

/// A duration: seconds, or a number with a unit.
pub(in crate::args) fn seconds(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, f64)] = &[
        ("us", 0.000_001),
        ("ms", 0.001),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("d", 86400.0),
    ];
    let with_unit = |&(unit, seconds): &(&str, f64)| Some((text.strip_suffix(unit)?, seconds));
    let (number, unit) = UNITS.iter().find_map(with_unit).unwrap_or((text, 1.0));
    let seconds = number.parse().ok().map(|number: f64| number * unit);
    match seconds.map(Duration::try_from_secs_f64) {
        Some(Ok(time)) if !time.is_zero() => Ok(time),
        _ => Err(
            "expected a time above 0: seconds, or a number with us, ms, s, m, h or d, such as 10, 0.5 or 2m".to_owned(),
        ),
    }
}

fn from_one<T: FromStr + PartialOrd + From<u8>>(text: &str, what: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::record::tests::record;

    #[test]
    fn absurd_numbers_are_told_in_words_of_the_flag() {
        for (words, said) in [
            (["-c", "-1"], "a number of events"),
            (["-c", "0"], "a number of events"),
            (["-p", "-1"], "expected an id, a number from 1"),
            (["-p", "0"], "expected an id, a number from 1"),
            (["-p", "1,2x"], "expected an id, a number from 1"),
            (["-t", "x"], "expected an id, a number from 1"),
            (["--cpu-percent", "-1"], "percent of one CPU"),
            (["--samples-per-hour", "0"], "a number of samples an hour"),
            (["--samples-per-hour", "-1"], "a number of samples an hour"),
            (["--duration", "-1"], "seconds"),
            (["--duration", "0"], "seconds"),
            (["--duration", "1x"], "seconds"),
            (["--duration", "s"], "seconds"),
            (["--duration", "1 s"], "seconds"),
            (["--duration", "0ms"], "seconds"),
            (["--duration", "nan"], "seconds"),
            (["--duration", "1e30"], "seconds"),
            (["--max-size", "-1"], "a size with its unit"),
            (["--switch-max-files", "-1"], "a number of files"),
        ] {
            let error = record(&words).unwrap_err().to_string();
            assert!(error.contains(said), "{words:?}: {error}");
        }
    }

    #[test]
    fn a_duration_has_a_unit_or_is_in_seconds() {
        for (text, ms) in [
            ("10", 10_000),
            ("0.5", 500),
            ("1s", 1_000),
            ("1.5s", 1_500),
            ("250ms", 250),
            ("2m", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(seconds(text), Ok(Duration::from_millis(ms)), "{text}");
        }
    }

    #[test]
    fn negative_numbers_are_values_and_no_flags() {
        for flag in ["-F", "-m"] {
            assert!(record(&[flag, "-1", "true"]).is_ok(), "{flag}");
        }
        assert!(record(&["-1", "true"]).is_err());
    }
}
