//! Moments in names of files.

use rprof_base::Utc;
use rprof_ringbuf::sys::Clock;

/// Now, as perf writes it, but in UTC: year, month, day, hours, minutes, seconds, hundredths. So names
/// sort by time, also when clocks are changed.
pub(crate) fn now() -> String {
    of_wall_ns(Clock::Realtime.now_ns())
}

fn of_wall_ns(ns: u64) -> String {
    let hundredths = ns / 10_000_000;
    let Utc {
        year,
        month,
        day,
        hour,
        minute,
        second,
        ..
    } = Utc::of(hundredths / 100);
    let hundredth = hundredths % 100;
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}{hundredth:02}")
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
