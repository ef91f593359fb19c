//! The changes that time brings to a recording: samples are taken after a delay, or in spans of time.

use crate::settings::Delay;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What the time brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    On,
    Off,
    /// The recording is over.
    End,
}

/// The changes that are still to come by time.
#[derive(Debug)]
pub(super) struct Timing {
    begun: Instant,
    /// The last comes first.
    changes: Vec<(Duration, Change)>,
}

impl Timing {
    /// Of a recording that begins now.
    pub(super) fn new(delay: &Delay, now: Instant) -> Self {
        let mut changes = match delay {
            Delay::None | Delay::UntilTold => Vec::new(),
            Delay::Time(time) => vec![(*time, Change::On)],
            Delay::Spans(spans) => {
                let both =
                    |span: &Range<Duration>| [(span.start, Change::On), (span.end, Change::Off)];
                spans.iter().flat_map(both).collect()
            }
        };
        if let Some((_, last @ Change::Off)) = changes.last_mut() {
            *last = Change::End;
        }
        changes.reverse();
        Self {
            begun: now,
            changes,
        }
    }

    /// How long it is until the next change; `None` if there is none.
    pub(super) fn until_next(&self, now: Instant) -> Option<Duration> {
        let (at, _) = self.changes.last()?;
        Some(at.saturating_sub(now.saturating_duration_since(self.begun)))
    }

    /// The next change whose time has come.
    pub(super) fn due(&mut self, now: Instant) -> Option<Change> {
        self.until_next(now).filter(Duration::is_zero)?;
        self.changes.pop().map(|(_, change)| change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(delay: &Delay, at_ms: u64) -> (Vec<Change>, Option<u128>) {
        let begun = Instant::now();
        let mut timing = Timing::new(delay, begun);
        let now = begun + Duration::from_millis(at_ms);
        let due = std::iter::from_fn(|| timing.due(now)).collect();
        (due, timing.until_next(now).map(|time| time.as_millis()))
    }

    #[test]
    fn a_delay_switches_on_once() {
        for delay in [Delay::None, Delay::UntilTold] {
            assert_eq!(changes(&delay, 1000), (vec![], None));
        }
        let delay = Delay::Time(Duration::from_millis(10));
        assert_eq!(changes(&delay, 9), (vec![], Some(1)));
        assert_eq!(changes(&delay, 10), (vec![Change::On], None));
    }

    #[test]
    fn spans_switch_on_and_off_and_the_last_one_ends_it() {
        let ms = Duration::from_millis;
        let delay = Delay::Spans(vec![ms(10)..ms(20), ms(30)..ms(40)]);
        let all = [Change::On, Change::Off, Change::On, Change::End];
        for (at_ms, n_due, next) in [
            (0, 0, Some(10)),
            (10, 1, Some(10)),
            (25, 2, Some(5)),
            (30, 3, Some(10)),
            (99, 4, None),
        ] {
            assert_eq!(
                changes(&delay, at_ms),
                (all[..n_due].to_vec(), next),
                "{at_ms}"
            );
        }
    }
}
