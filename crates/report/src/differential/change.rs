//! How much a frame changed: as a colour, and in words.

use crate::picture::Rgb;
use rprof_base::Share;
use rprof_profile::difference::{BothCounts, Directions, Scaling};

const NS_A_SECOND: f64 = 1e9;

/// What weights are divided by, before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisors {
    before: u64,
    after: u64,
}

impl Divisors {
    pub(super) fn of(sum: &BothCounts, scaling: Scaling) -> Self {
        match scaling {
            Scaling::Shares => Self {
                before: sum.before.weight,
                after: sum.after.weight,
            },
            Scaling::Recorded => Self {
                before: 1,
                after: 1,
            },
            Scaling::PerSecond(spans) => Self {
                before: spans.before_ns,
                after: spans.after_ns,
            },
        }
    }
}

/// What a frame counts on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) counts: BothCounts,
    pub(super) divisors: Divisors,
    pub(super) scaling: Scaling,
    /// In which directions it may be more than noise.
    pub(super) sure: Directions,
}

impl Change {
    /// The colour of what did not change beyond noise.
    pub(super) const ALIKE: Rgb = [225; 3];

    /// More of it: those who see no red or no green tell it from blue, too.
    const MORE: [f64; 3] = [240.0, 140.0, 20.0];

    /// Less of it.
    const LESS: [f64; 3] = [70.0, 160.0, 230.0];

    /// From -1 (vanished) to 1 (new); 0 of what may be noise.
    fn degree(&self) -> f64 {
        let (before, after) = self.weights();
        if self.sure.has(after - before) && self.is_beyond_counting() {
            (after - before) / before.max(after)
        } else {
            0.0
        }
    }

    /// Whether it differs by more than two standard deviations of its number of samples: a function that changed
    /// may be in many places with a sample or two.
    fn is_beyond_counting(&self) -> bool {
        let BothCounts { before, after } = self.counts;
        let (was, is) = self.weights();
        // Of a number of samples it is the number; each stands for as much as another.
        let variance = |weight: f64, samples: u64| weight * weight * ratio(1, samples);
        let variance = variance(was, before.samples) + variance(is, after.samples);
        (is - was).abs() > 2.0 * variance.sqrt()
    }

    /// Weights, divided.
    fn weights(&self) -> (f64, f64) {
        let BothCounts { before, after } = self.counts;
        let unit = match self.scaling {
            Scaling::PerSecond(_) => NS_A_SECOND,
            Scaling::Shares | Scaling::Recorded => 1.0,
        };
        (
            unit * ratio(before.weight, self.divisors.before),
            unit * ratio(after.weight, self.divisors.after),
        )
    }

    /// Its colour: the stronger the more it changed.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "parts of a colour are from 0 to 255"
    )]
    pub(super) fn color(&self) -> Rgb {
        let degree = self.degree();
        let most = if degree > 0.0 { Self::MORE } else { Self::LESS };
        // Small changes are to be seen, too.
        let strength = degree.abs().sqrt();
        std::array::from_fn(|part| {
            let from = f64::from(Self::ALIKE[part]);
            (from + strength * (most[part] - from))
                .round()
                .clamp(0.0, 255.0) as u8
        })
    }

    /// Both numbers, and what lies between them: `12.30 % -> 15.10 %, +2.80 points, +22.8 %`.
    pub(super) fn text(&self, unit: &str) -> String {
        let (before, after) = self.weights();
        let relative = match (self.counts.before.samples, self.counts.after.samples) {
            (0, 0) => String::new(),
            (0, _) => ", new".to_owned(),
            (_, 0) => ", removed".to_owned(),
            _ if before > 0.0 => format!(", {:+.1} %", 100.0 * (after - before) / before),
            _ => String::new(),
        };
        match self.scaling {
            Scaling::Shares => {
                let from = Share::of(self.counts.before.weight, self.divisors.before);
                let to = Share::of(self.counts.after.weight, self.divisors.after);
                let points = to.percent() - from.percent();
                format!("{from} % -> {to} %, {points:+.2} points{relative}")
            }
            Scaling::Recorded => format!("{before:.0} -> {after:.0} {unit}{relative}"),
            Scaling::PerSecond(_) => format!("{before:.0} -> {after:.0} {unit}/s{relative}"),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for a colour and few digits")]
fn ratio(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_profile::SampleCount;
    use rprof_profile::difference::SideSpans;

    const BOTH: Directions = Directions {
        more: true,
        less: true,
    };

    fn change(before: u64, after: u64, scaling: Scaling) -> Change {
        let count = |samples| SampleCount {
            samples,
            weight: samples * 10,
        };
        let both = |before, after| BothCounts {
            before: count(before),
            after: count(after),
        };
        Change {
            counts: both(before, after),
            divisors: Divisors::of(&both(1000, 2000), scaling),
            scaling,
            sure: BOTH,
        }
    }

    #[test]
    fn both_numbers_are_said_and_what_lies_between() {
        for (before, after, shares, recorded) in [
            (
                100,
                300,
                "10.00 % -> 15.00 %, +5.00 points, +50.0 %",
                "1000 -> 3000 ns, +200.0 %",
            ),
            (
                0,
                300,
                "0.00 % -> 15.00 %, +15.00 points, new",
                "0 -> 3000 ns, new",
            ),
            (
                100,
                0,
                "10.00 % -> 0.00 %, -10.00 points, removed",
                "1000 -> 0 ns, removed",
            ),
            (
                100,
                200,
                "10.00 % -> 10.00 %, +0.00 points, +0.0 %",
                "1000 -> 2000 ns, +100.0 %",
            ),
            (0, 0, "0.00 % -> 0.00 %, +0.00 points", "0 -> 0 ns"),
        ] {
            assert_eq!(change(before, after, Scaling::Shares).text("ns"), shares);
            assert_eq!(
                change(before, after, Scaling::Recorded).text("ns"),
                recorded
            );
        }
        let spans = SideSpans {
            before_ns: 500_000_000,
            after_ns: 2_000_000_000,
        };
        assert_eq!(
            change(100, 300, Scaling::PerSecond(spans)).text("ns"),
            "2000 -> 1500 ns/s, -25.0 %"
        );
    }

    #[test]
    fn more_is_orange_less_is_blue_and_noise_is_grey() {
        let is_blue = |[red, _, blue]: Rgb| blue > red + 20;
        let is_orange = |[red, _, blue]: Rgb| red > blue + 20;
        let of = |before, after| change(before, after, Scaling::Shares).color();
        for (before, after) in [(100, 200), (0, 0)] {
            assert_eq!(of(before, after), Change::ALIKE, "{before} {after}");
        }
        // What may be noise has no colour, however large it is: only what is sure, in its direction.
        for (before, after, sure) in [
            (0, 100, Directions::default()),
            (100, 0, Directions::of(1.0)),
            (100, 2000, Directions::of(-1.0)),
        ] {
            let unsure = Change {
                sure,
                ..change(before, after, Scaling::Shares)
            };
            assert_eq!(unsure.color(), Change::ALIKE, "{before} {after}");
        }
        assert!(is_orange(of(100, 400)) && is_orange(of(0, 100)));
        // A sample or two in a place of a function that changed.
        assert_eq!((of(0, 1), of(2, 0)), (Change::ALIKE, Change::ALIKE));
        assert!(is_blue(of(400, 400)) && is_blue(of(100, 0)));
        // The more it changed the stronger.
        assert!(of(100, 800)[2] < of(100, 400)[2]);
        assert!(is_orange(change(100, 200, Scaling::Recorded).color()));
    }
}
