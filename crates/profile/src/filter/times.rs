//! Which time of a recording: perf's `--time`, and times from its beginning and its end.

use super::FilterError;
use std::ops::RangeInclusive;

/// Spans of time, perhaps relative to those of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSlices {
    text: String,
    slices: Vec<Slice>,
    /// The times of the second one of two recordings, where they differ.
    second: Option<Box<Self>>,
}

/// One span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slice {
    /// From and until.
    Between(Bound, Bound),
    /// Shares of the recording, as parts of [`WHOLE`].
    Share(u64, u64),
}

/// One end of a span, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// That of the recording.
    Open,
    /// By the recording's clock.
    At(u64),
    /// Since the first sample.
    AfterStart(u64),
    /// Until the last one.
    BeforeEnd(u64),
}

/// 100 %, with nine decimals.
const WHOLE: u64 = 100 * NANOS;

const NANOS: u64 = 1_000_000_000;

impl TimeSlices {
    /// Reads spans: `START,STOP` in seconds, several separated by blanks; of which either may be left out, have a unit
    /// (`s`, `ms`, `us`, `ns`), and count from the beginning of the recording (`+`) or from its end (`-`). Or shares of
    /// the recording, separated by commas: `10%-20%`, `10%/2` (the second such part). `10%` alone is the first part,
    /// `10%,20%` one span, as seconds are, and so is `50%,`.
    ///
    /// # Errors
    /// [`FilterError`] if it is not of that form.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let slices = if let Some((start, stop)) = ends_in_percent(text) {
            parse_ends(start, stop).map(|share| vec![share])
        } else if text.contains('%') {
            parse_shares(text)
        } else {
            // A blank after a comma separates nothing.
            let joined = text.split(',').map(str::trim_start);
            let joined = joined.collect::<Vec<_>>().join(",");
            joined.split_whitespace().map(parse_between).collect()
        };
        let slices: Result<Vec<_>, FilterError> = slices;
        let slices = slices.map_err(|why| FilterError(format!("time '{text}': {why}")))?;
        if slices.is_empty() {
            return Err(FilterError("no time in it".to_owned()));
        }
        Ok(Self {
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            slices,
            second: None,
        })
    }

    /// Reads the times of two recordings, with a colon between them where they differ: perf's `diff --time`.
    ///
    /// # Errors
    /// As [`Self::parse`]; [`FilterError`] if there are more than two.
    pub fn parse_of_two(text: &str) -> Result<Self, FilterError> {
        let Some((first, second)) = text.split_once(':') else {
            return Self::parse(text);
        };
        if second.contains(':') {
            return Err(FilterError(format!(
                "time '{text}': expected at most two times: BEFORE:AFTER"
            )));
        }
        Ok(Self {
            second: Some(Box::new(Self::parse(second)?)),
            ..Self::parse(first)?
        })
    }

    /// The times of the second one of two recordings, if they are its own.
    pub fn of_second(&self) -> Option<&Self> {
        self.second.as_deref()
    }

    /// Spans by the recording's clock.
    pub fn of(times_ns: impl IntoIterator<Item = RangeInclusive<u64>>) -> Self {
        let seconds = |time: &u64| format!("{}.{:09}", time / NANOS, time % NANOS);
        let (mut texts, mut slices) = (Vec::new(), Vec::new());
        for times in times_ns {
            let (start, stop) = (times.start(), times.end());
            texts.push(format!("{},{}", seconds(start), seconds(stop)));
            slices.push(Slice::Between(Bound::At(*start), Bound::At(*stop)));
        }
        Self {
            text: texts.join(" "),
            slices,
            second: None,
        }
    }

    /// The same with seconds that count from the first sample, where no sign says from where.
    #[must_use]
    pub fn since_start(mut self) -> Self {
        for slice in &mut self.slices {
            if let Slice::Between(start, stop) = slice {
                for bound in [start, stop] {
                    if let Bound::At(time) = *bound {
                        *bound = Bound::AfterStart(time);
                    }
                }
            }
        }
        self
    }

    /// Whether it is one span.
    pub fn is_one(&self) -> bool {
        self.slices.len() == 1
    }

    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is relative to the times of the first and the last sample.
    pub fn needs_span(&self) -> bool {
        let is_fixed = |bound: &Bound| matches!(bound, Bound::Open | Bound::At(_));
        !self.slices.iter().all(|slice| match slice {
            Slice::Between(start, stop) => is_fixed(start) && is_fixed(stop),
            Slice::Share(..) => false,
        })
    }

    /// The spans in a recording whose samples are of a span; it is asked for only if it is needed.
    ///
    /// # Errors
    /// [`FilterError`] if one ends before it starts.
    pub fn ranges(
        &self,
        span: RangeInclusive<u64>,
    ) -> Result<Vec<RangeInclusive<u64>>, FilterError> {
        let (first, last) = (*span.start(), *span.end());
        let at = |bound, open| match bound {
            Bound::Open => open,
            Bound::At(time) => time,
            Bound::AfterStart(nanos) => first.saturating_add(nanos),
            Bound::BeforeEnd(nanos) => last.saturating_sub(nanos),
        };
        let range = |slice: &Slice| match *slice {
            Slice::Between(start, stop) => {
                let (start, stop) = (at(start, 0), at(stop, u64::MAX));
                if start > stop {
                    Err(FilterError(format!(
                        "time '{}' ends before it starts",
                        self.text
                    )))
                } else {
                    Ok(start..=stop)
                }
            }
            Slice::Share(start, stop) => Ok(share_of(first, last, start, stop)),
        };
        self.slices.iter().map(range).collect()
    }
}

/// perf's arithmetic: what ends where the next one begins has one nanosecond less.
///
/// Source: tools/perf/util/time-utils.c (v6.1), `set_percent_time`.
fn share_of(first: u64, last: u64, start: u64, stop: u64) -> RangeInclusive<u64> {
    let whole = u128::from(WHOLE);
    let at = |share: u64| {
        let total = u128::from(last.saturating_sub(first));
        let nanos = (u128::from(share) * total + whole / 2) / whole;
        first.saturating_add(u64::try_from(nanos).unwrap_or(u64::MAX))
    };
    let (start, stop) = (at(start), at(stop));
    if stop > start && stop != last {
        start..=stop - 1
    } else {
        start..=stop
    }
}

fn parse_between(text: &str) -> Result<Slice, FilterError> {
    let Some((start, stop)) = text.split_once(',') else {
        return Err(FilterError(no_comma(text)));
    };
    let (start, stop) = (parse_bound(start)?, parse_bound(stop)?);
    let is_late = match (start, stop) {
        (Bound::At(start), Bound::At(stop))
        | (Bound::AfterStart(start), Bound::AfterStart(stop)) => start > stop,
        (Bound::BeforeEnd(start), Bound::BeforeEnd(stop)) => start < stop,
        _ => false,
    };
    if is_late {
        Err(FilterError(format!("'{text}' ends before it starts")))
    } else {
        Ok(Slice::Between(start, stop))
    }
}

/// What is said of a time without a comma: what to type instead.
fn no_comma(text: &str) -> String {
    let ends = text.split_once('-');
    let is_span =
        ends.is_some_and(|(start, stop)| parse_time(start).is_some() && parse_time(stop).is_some());
    match ends.filter(|_| is_span) {
        Some((start, stop)) => {
            let (first, last) = if parse_time(start) > parse_time(stop) {
                (stop, start)
            } else {
                (start, stop)
            };
            format!("'{text}' is not a time range: write '{first},{last}' for {first} to {last}")
        }
        None => format!(
            "'{text}' has no comma: write '{text},' for from then on, ',{text}' for until then"
        ),
    }
}

fn parse_bound(text: &str) -> Result<Bound, FilterError> {
    let bad = || {
        FilterError(format!(
            "'{text}' is not a time: write seconds, or a number with s, ms, us or ns; + counts from the \
             first sample, - back from the last"
        ))
    };
    if text.is_empty() {
        return Ok(Bound::Open);
    }
    let (bound, number): (fn(u64) -> Bound, _) = match text.split_at_checked(1) {
        Some(("+", rest)) => (Bound::AfterStart, rest),
        Some(("-", rest)) => (Bound::BeforeEnd, rest),
        _ => (Bound::At, text),
    };
    parse_time(number).map(bound).ok_or_else(bad)
}

/// A number with a unit, or of seconds, to nanoseconds without rounding.
fn parse_time(text: &str) -> Option<u64> {
    let units = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", NANOS)];
    let units = units
        .iter()
        .find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)));
    let (number, unit) = units.unwrap_or((text, NANOS));
    parse_decimal(number, unit)
}

/// A decimal number of units to units of a billionth part at most; `None` if it is finer than 1.
fn parse_decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if fraction.len() > 9 || whole.is_empty() || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let parts: u64 = format!("{fraction:0<9}").parse().ok()?;
    let parts = parts.checked_mul(unit)?;
    if !parts.is_multiple_of(NANOS) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(unit)?.checked_add(parts / NANOS)
}

/// Both ends of `10%,20%`, of which either may be left out; perf refuses these.
fn ends_in_percent(text: &str) -> Option<(&str, &str)> {
    let (start, stop) = text.split_once(',')?;
    let is_end = |text: &str| text.is_empty() || text.strip_suffix('%').is_some_and(is_bare);
    let ends = (start.trim(), stop.trim());
    (text.contains('%') && is_end(ends.0) && is_end(ends.1)).then_some(ends)
}

/// Whether a text has no part of one that is more than a number.
fn is_bare(text: &str) -> bool {
    !text.contains(['%', ',', '-', '/'])
}

fn parse_ends(start: &str, stop: &str) -> Result<Slice, FilterError> {
    let end = |text: &str, open| match text {
        "" => Ok(open),
        text => parse_percent(text),
    };
    let (from, to) = (end(start, 0)?, end(stop, WHOLE)?);
    if from > to {
        let why = format!("'{start},{stop}' ends before it starts");
        return Err(FilterError(why));
    }
    Ok(Slice::Share(from, to))
}

fn parse_percent(text: &str) -> Result<u64, FilterError> {
    let number = text.strip_suffix('%');
    let share = number.and_then(|number| parse_decimal(number, NANOS));
    let share = share.filter(|&share| share <= WHOLE);
    share.ok_or_else(|| {
        FilterError(format!(
            "'{text}' is not a percentage like 10%, at most 100%"
        ))
    })
}

/// Several shares: of a bare percentage among them nobody knows whether it is an end or a part.
fn parse_shares(text: &str) -> Result<Vec<Slice>, FilterError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let shares = parts.iter().map(|one| parse_share(one));
    let shares = shares.collect::<Result<Vec<_>, _>>()?;
    match parts.iter().find(|one| !one.contains(['-', '/'])) {
        Some(one) if parts.len() > 1 => Err(FilterError(format!(
            "'{one}' is not a range: among several, write '0%-{one}' for the first {one}"
        ))),
        _ => Ok(shares),
    }
}

fn parse_share(text: &str) -> Result<Slice, FilterError> {
    if let Some((start, stop)) = text.split_once('-') {
        let (start, stop) = (parse_percent(start)?, parse_percent(stop)?);
        return if start > stop {
            Err(FilterError(format!("'{text}' ends before it starts")))
        } else {
            Ok(Slice::Share(start, stop))
        };
    }
    let (size, nth) = text.split_once('/').unwrap_or((text, "1"));
    let size = parse_percent(size)?;
    let nth = nth.parse().ok().filter(|&nth: &u64| nth > 0);
    let stop = nth
        .and_then(|nth| size.checked_mul(nth))
        .filter(|&stop| stop <= WHOLE);
    match stop {
        Some(stop) if size > 0 => Ok(Slice::Share(stop - size, stop)),
        _ => {
            let why = format!("no part '{text}': parts are numbered from 1 until 100% is reached");
            Err(FilterError(why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// In a recording from 10 s to 20 s.
    fn ranges(text: &str) -> Result<Vec<RangeInclusive<u64>>, FilterError> {
        TimeSlices::parse(text)?.ranges(10 * NANOS..=20 * NANOS)
    }

    #[test]
    fn times_are_read_without_rounding() {
        let ms = 1_000_000;
        for (text, expected) in [
            ("1.5,2", vec![1500 * ms..=2000 * ms]),
            (",0.000000001", vec![0..=1]),
            ("7,", vec![7000 * ms..=u64::MAX]),
            (
                "1,2 3,4",
                vec![1000 * ms..=2000 * ms, 3000 * ms..=4000 * ms],
            ),
            ("1, 2 3,", vec![1000 * ms..=2000 * ms, 3000 * ms..=u64::MAX]),
            ("+1.5,+3", vec![11_500 * ms..=13_000 * ms]),
            ("+500ms,", vec![10_500 * ms..=u64::MAX]),
            ("-2s,", vec![18_000 * ms..=u64::MAX]),
            (",-1us", vec![0..=19_999_999_000]),
            ("+0,12", vec![10_000 * ms..=12_000 * ms]),
            ("100ns,1.5us", vec![100..=1500]),
        ] {
            assert_eq!(ranges(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn shares_are_perfs() {
        let ms = 1_000_000;
        for (text, expected) in [
            ("10%", vec![10_000 * ms..=11_000 * ms - 1]),
            ("10%/2", vec![11_000 * ms..=12_000 * ms - 1]),
            ("10%/10", vec![19_000 * ms..=20_000 * ms]),
            ("10%-20%", vec![11_000 * ms..=12_000 * ms - 1]),
            ("0%-100%", vec![10_000 * ms..=20_000 * ms]),
            ("50%,100%", vec![15_000 * ms..=20_000 * ms]),
            ("10%, 20%", vec![11_000 * ms..=12_000 * ms - 1]),
            ("50%,", vec![15_000 * ms..=20_000 * ms]),
            (",10%", vec![10_000 * ms..=11_000 * ms - 1]),
            (
                "10%-20%,40%-50%",
                vec![11_000 * ms..=12_000 * ms - 1, 14_000 * ms..=15_000 * ms - 1],
            ),
            ("12.5%/8", vec![18_750 * ms..=20_000 * ms]),
            (
                "10%/1,10%/3",
                vec![10_000 * ms..=11_000 * ms - 1, 12_000 * ms..=13_000 * ms - 1],
            ),
        ] {
            assert_eq!(ranges(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_in_a_time_is_said() {
        for (text, why) in [
            ("1", "'1' has no comma"),
            ("1,2 3", "'3' has no comma"),
            ("5-2", "'5-2' is not a time range: write '2,5' for 2 to 5"),
            (
                "1.5s-2s",
                "'1.5s-2s' is not a time range: write '1.5s,2s' for 1.5s to 2s",
            ),
            ("2,1", "ends before it starts"),
            ("+2,+1", "ends before it starts"),
            ("-1s,-2s", "ends before it starts"),
            ("+9,11", "ends before it starts"),
            ("a,b", "'a' is not a time"),
            ("1.0000000001,", "'1.0000000001' is not a time"),
            ("0.5ns,", "'0.5ns' is not a time"),
            ("1h,", "'1h' is not a time"),
            ("10%/11", "no part '10%/11'"),
            ("10%/0", "no part '10%/0'"),
            ("0%/1", "no part '0%/1'"),
            ("10%,x", "'x' is not a percentage"),
            ("101%", "'101%' is not a percentage"),
            ("20%-10%", "'20%-10%' ends before it starts"),
            ("20%,10%", "'20%,10%' ends before it starts"),
            (
                "10%,20%,30%",
                "'10%' is not a range: among several, write '0%-10%'",
            ),
            ("10%-20%,30%", "'30%' is not a range"),
            ("x%,10%", "'x%' is not a percentage"),
            ("10%,20", "'20' is not a percentage"),
            ("", "no time"),
        ] {
            let said = ranges(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn seconds_may_count_from_the_first_sample() {
        let ranges = |text| {
            let times = TimeSlices::parse(text).unwrap().since_start();
            times.ranges(10 * NANOS..=20 * NANOS).unwrap()
        };
        let ms = 1_000_000;
        assert_eq!(ranges("1.5,3"), [11_500 * ms..=13_000 * ms]);
        assert_eq!(ranges("+1.5,-2s"), [11_500 * ms..=18_000 * ms]);
        assert_eq!(ranges(",3"), [0..=13_000 * ms]);
        assert_eq!(ranges("10%"), [10_000 * ms..=11_000 * ms - 1]);
    }

    #[test]
    fn only_relative_times_need_those_of_the_recording() {
        for (text, needs) in [("1,2", false), ("1,", false), ("+1,", true), ("5%", true)] {
            assert_eq!(
                TimeSlices::parse(text).unwrap().needs_span(),
                needs,
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_times_or_an_error(text in "[-+0-9.,%/ nmus]{0,20}", (a, b) in any::<(u64, u64)>()) {
            if let Ok(slices) = TimeSlices::parse(&text) {
                let _ = slices.ranges(a..=b);
            }
        }
    }
}
