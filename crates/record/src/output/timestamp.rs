//! Moments in names of files.

use rprof_ringbuf::sys::Clock;

/// Now, as perf writes it, but in UTC: year, month, day, hours, minutes, seconds, hundredths. So names
/// sort by time, also when clocks are changed.
pub(crate) fn now() -> String {
    of_wall_ns(Clock::Realtime.now_ns())
}

fn of_wall_ns(ns: u64) -> String {
    let hundredths = ns / 10_000_000;
    let seconds = hundredths / 100;
    let (year, month, day) = date_of(seconds / 86400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let hundredth = hundredths % 100;
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}{hundredth:02}")
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
    fn moments_are_written_as_date_says() {
        for (seconds, date) in [
            (0, "19700101000000"),
            (951_782_399, "20000228235959"),
            (951_782_400, "20000229000000"),
            (951_868_800, "20000301000000"),
            (1_735_689_599, "20241231235959"),
            (4_107_542_400, "21000301000000"),
        ] {
            let text = of_wall_ns(seconds * 1_000_000_000 + 70_000_000);
            assert_eq!(text, format!("{date}07"));
        }
    }
}
