//! Sub-commands of two words, such as `stat record`: the parser knows them as one.

use std::ffi::OsString;

pub(super) const STAT_RECORD: &str = "stat-record";
pub(super) const STAT_REPORT: &str = "stat-report";
pub(super) const SCHED_LATENCY: &str = "sched-latency";
pub(super) const SCHED_MAP: &str = "sched-map";
pub(super) const SCHED_TIMEHIST: &str = "sched-timehist";

/// Each with its words. Otherwise the second would be the command to run, or the file to read.
pub(super) const TWO_WORDS: [(&str, [&str; 2]); 5] = [
    (STAT_RECORD, ["stat", "record"]),
    (STAT_REPORT, ["stat", "report"]),
    (SCHED_LATENCY, ["sched", "latency"]),
    (SCHED_MAP, ["sched", "map"]),
    (SCHED_TIMEHIST, ["sched", "timehist"]),
];

/// Joins two words behind the program's name.
pub(super) fn as_one_word(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|is| is == word);
    let mut all = TWO_WORDS.iter();
    if let Some((joined, _)) = all.find(|(_, [first, second])| is(1, first) && is(2, second)) {
        words.splice(1..3, [joined.into()]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;

    #[test]
    fn usage_has_both_words() {
        for (_, [first, second]) in TWO_WORDS {
            let words = ["rprof", first, second, "--help"].map(OsString::from);
            let help = Args::read(words).unwrap_err().to_string();
            let usage = format!("Usage: rprof {first} {second} [OPTIONS] [");
            assert!(help.contains(&usage), "{help}");
        }
    }

    #[test]
    fn a_second_word_is_part_of_the_name_only_behind_the_first() {
        for (typed, expected) in [
            ("rprof stat record -o f true", "rprof stat-record -o f true"),
            ("rprof stat report -i f", "rprof stat-report -i f"),
            ("rprof sched timehist f", "rprof sched-timehist f"),
            ("rprof sched f timehist", "rprof sched f timehist"),
            ("rprof stat -- record", "rprof stat -- record"),
            ("rprof stat true record", "rprof stat true record"),
            ("rprof record stat record", "rprof record stat record"),
            ("rprof stat", "rprof stat"),
        ] {
            let words = typed.split(' ').map(OsString::from);
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(as_one_word(words), expected);
        }
    }
}
