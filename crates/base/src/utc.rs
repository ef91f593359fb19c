//! Dates and times of day, in UTC: a recording does not say a time zone, and output does not depend on
//! the reader's.

use std::fmt;

/// A moment, by the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// Year.
    pub year: u64,
    /// Month, from 1.
    pub month: u64,
    /// Day of the month, from 1.
    pub day: u64,
    /// Hour, up to 23.
    pub hour: u64,
    /// Minute, up to 59.
    pub minute: u64,
    /// Second, up to 59.
    pub second: u64,
    /// Days since Sunday.
    pub weekday: u64,
}

impl Utc {
    /// The moment of a number of seconds since 1970.
    pub fn of(seconds: u64) -> Self {
        let days = seconds / 86_400;
        let (year, month, day) = date_of(days);
        Self {
            year,
            month,
            day,
            hour: seconds / 3600 % 24,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            // The first one was a Thursday.
            weekday: (days + 4) % 7,
        }
    }
}

impl fmt::Display for Utc {
    /// Date and time: `2026-01-31 23:59:59`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            year,
            month,
            day,
            hour,
            minute,
            second,
            ..
        } = self;
        write!(
            f,
            "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        )
    }
}

/// The date of a day since 1970, by years that begin in March: leap days come last.
fn date_of(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    // From March 1st of the year 0 on.
    let days = days + 719_468;
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let leap_days = day_of_era / 1460 + day_of_era / (DAYS_OF_400_YEARS - 1);
    let year_of_era = (day_of_era + day_of_era / 36524 - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (day, expected) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (19_722, (2023, 12, 31)),
            (19_782, (2024, 2, 29)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date_of(day), expected, "{day}");
        }
    }

    #[test]
    fn a_moment_is_what_date_says() {
        let moment = Utc::of(1_795_391_536);
        let expected = Utc {
            year: 2026,
            month: 11,
            day: 22,
            hour: 23,
            minute: 52,
            second: 16,
            weekday: 0,
        };
        assert_eq!(moment, expected);
    }
}
