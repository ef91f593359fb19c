//! How long a server asks us to wait: `Retry-After`, as seconds or as a date.

use std::time::Duration;
use ureq::http::HeaderMap;

/// The longest time that a server may ask us to wait.
pub(super) const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// Source: RFC 9110, section 10.2.3. A date counts from the server's own (`Date`): its clock may not be ours.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let after = text("retry-after")?;
    let seconds = match after.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let now = seconds_of(text("date")?)?;
            seconds_of(after)?.saturating_sub(now)
        }
    };
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// Seconds since 1970 of a date as all servers write it today: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn seconds_of(date: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let mut words = date.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<u64>);
    let mut two = || clock.next()?.ok();
    let (hour, minute, second) = (two()?, two()?, two()?);
    if words.next() != Some("GMT") || !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin with March, so that the day of leap years is their last one.
    let (year, month) = match month {
        0 | 1 => (year - 1, month + 10),
        month => (year, month - 2),
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (306 * month + 5) / 10 + day - 1;
    let days = days.checked_sub(719_468)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (date, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 0 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("tomorrow", None),
        ] {
            assert_eq!(seconds_of(date), seconds, "{date}");
        }
    }

    #[test]
    fn a_date_counts_from_the_servers_own() {
        let headers = |after: &str, date: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", after.parse().unwrap());
            headers.insert("date", date.parse().unwrap());
            retry_after(&headers)
        };
        let now = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (after, seconds) in [
            ("7", Some(7)),
            ("100000", Some(300)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 2094 08:00:00 GMT", Some(300)),
            ("soon", None),
        ] {
            assert_eq!(headers(after, now), seconds.map(Duration::from_secs));
        }
        assert_eq!(headers(now, "?"), None);
    }
}
