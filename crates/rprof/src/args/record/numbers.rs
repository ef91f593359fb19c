//! Numbers as values of flags: what is wrong is said in words of the flag.

use std::str::FromStr;
use std::time::Duration;

/// The id of a process or thread.
pub(super) fn id(text: &str) -> Result<i32, String> {
    from_one(text, "ids are numbers from 1 on")
}

/// After how many events a sample is taken.
pub(super) fn count(text: &str) -> Result<u64, String> {
    from_one(text, "a number of events, from 1 on")
}

/// Percent of one CPU.
pub(super) fn percent(text: &str) -> Result<u32, String> {
    from_one(text, "percent of one CPU, from 1 on")
}

/// How many files are kept; 0 is all.
pub(super) fn files(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "a number of files, or 0 for all".to_owned())
}

/// Seconds, and parts of them.
pub(in crate::args) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().map(Duration::try_from_secs_f64);
    match seconds {
        Some(Ok(time)) if !time.is_zero() => Ok(time),
        _ => Err("seconds, more than none, such as 10 or 0.5".to_owned()),
    }
}

fn from_one<T: FromStr + PartialOrd + From<u8>>(text: &str, what: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| what.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::args::record::tests::record;

    #[test]
    fn absurd_numbers_are_told_in_words_of_the_flag() {
        for (words, said) in [
            (["-c", "-1"], "a number of events"),
            (["-c", "0"], "a number of events"),
            (["-p", "-1"], "ids are numbers from 1 on"),
            (["-p", "0"], "ids are numbers from 1 on"),
            (["-p", "1,2x"], "ids are numbers from 1 on"),
            (["-t", "x"], "ids are numbers from 1 on"),
            (["--cpu-percent", "-1"], "percent of one CPU"),
            (["--duration", "-1"], "seconds"),
            (["--duration", "0"], "seconds"),
            (["--duration", "1s"], "seconds"),
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
    fn negative_numbers_are_values_and_no_flags() {
        for flag in ["-F", "-m"] {
            assert!(record(&[flag, "-1", "true"]).is_ok(), "{flag}");
        }
        assert!(record(&["-1", "true"]).is_err());
    }
}
