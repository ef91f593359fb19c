//! How good a profile is, as numbers.

use crate::{CheckedNames, Gap, Profile, Thinning};
use rprof_base::Share;

/// How good a profile is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Samples that were taken, of all events.
    pub samples: u64,
    /// Samples that were taken beside these, and dropped since others stand for them.
    pub dropped: u64,
    /// Samples that are missing.
    pub lost: u64,
    /// Whether more of them may be missing.
    pub lost_at_least: bool,
    /// Samples whose stacks were unwound.
    pub unwound: u64,
    /// Of these, complete ones.
    pub complete: u64,
    /// Of these, those that end early because their dump does.
    pub truncated: u64,
    /// What has no name, by weight, of the samples in `checked`.
    pub unnamed: Share,
    /// The samples that are shown: what filters leave out is not looked up.
    pub checked: CheckedNames,
    /// How often the kernel stopped an event because it sampled too often.
    pub throttles: u64,
    /// For how long, nanoseconds.
    pub throttled_ns: u64,
}

/// What is not good about a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Too many samples are missing.
    Lost,
    /// The kernel stopped events.
    Throttled,
    /// Too many stacks end early.
    Truncated,
    /// Too much has no name.
    Unnamed,
}

impl Quality {
    /// More lost samples are a flaw.
    pub const MAX_LOST: Share = Share::from_percent(1.0);
    /// More truncated stacks are one.
    pub const MAX_TRUNCATED: Share = Share::from_percent(5.0);
    /// More code without names is one.
    pub const MAX_UNNAMED: Share = Share::from_percent(10.0);

    /// The numbers of a profile.
    pub fn of(profile: &Profile) -> Self {
        use rprof_base::StackEnd::{Complete, Truncated};
        let events = profile.events.iter();
        let sum = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, u64::saturating_add);
        let unnamed = sum(&mut profile.unnamed.iter().map(|image| image.weight));
        let checked = profile.checked_names();
        let throttled = throttled(profile);
        Self {
            samples: sum(&mut events.clone().map(|event| event.samples)),
            dropped: profile.about.thinning.map_or(0, Thinning::dropped),
            lost: sum(&mut events.clone().map(|event| event.loss.samples)),
            lost_at_least: events.clone().any(|event| event.loss.at_least),
            unwound: profile.unwound.samples(),
            complete: profile.unwound.ended(Complete),
            truncated: profile.unwound.ended(Truncated),
            unnamed: Share::of(unnamed, checked.shown),
            checked,
            throttles: throttled.throttles,
            throttled_ns: throttled.throttled_ns,
        }
    }

    /// Lost samples, of all that there would be.
    pub fn lost_share(&self) -> Share {
        let taken = self.samples.saturating_add(self.dropped);
        Share::of(self.lost, taken.saturating_add(self.lost))
    }

    /// Truncated stacks, of those that were unwound.
    pub fn truncated_share(&self) -> Share {
        Share::of(self.truncated, self.unwound)
    }

    /// What is not good, the worst first.
    pub fn flaws(&self) -> Vec<Flaw> {
        let times = |share: Share, limit: Share| share.percent() / limit.percent();
        // Throttling has no share: samples are missing that nobody counts.
        let throttled = if self.throttles > 0 { 2.0 } else { 0.0 };
        let mut all = [
            (Flaw::Lost, times(self.lost_share(), Self::MAX_LOST)),
            (Flaw::Throttled, throttled),
            (
                Flaw::Truncated,
                times(self.truncated_share(), Self::MAX_TRUNCATED),
            ),
            (Flaw::Unnamed, times(self.unnamed, Self::MAX_UNNAMED)),
        ];
        all.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let flaws = all.into_iter().take_while(|&(_, times)| times > 1.0);
        flaws.map(|(flaw, _)| flaw).collect()
    }
}

/// What is missing in all: records may lack a CPU or a time.
fn throttled(profile: &Profile) -> Gap {
    let sum = |gaps: &mut dyn Iterator<Item = Gap>| {
        gaps.fold(Gap::default(), |mut sum, gap| {
            sum.add(gap);
            sum
        })
    };
    let gaps = &profile.gaps;
    let by_cpu = sum(&mut gaps.cpus.iter().map(|&(_, gap)| gap));
    let by_second = sum(&mut gaps.seconds.iter().map(|&(_, gap)| gap));
    Gap {
        lost: by_cpu.lost.max(by_second.lost),
        throttles: by_cpu.throttles.max(by_second.throttles),
        throttled_ns: by_cpu.throttled_ns.max(by_second.throttled_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndedStacks, Gaps, Loss, UnnamedImage, Unwound, testing};
    use rprof_base::StackEnd;

    fn with(change: impl FnOnce(&mut Profile)) -> Quality {
        let stacks: Vec<(&str, u64)> = (0..99).map(|_| ("a", 1)).collect();
        let mut profile = testing::profile(&stacks);
        change(&mut profile);
        Quality::of(&profile)
    }

    fn lose(samples: u64) -> impl FnOnce(&mut Profile) {
        move |profile| {
            profile.events[0].loss = Loss {
                samples,
                at_least: false,
            };
        }
    }

    #[test]
    fn a_profile_without_anything_missing_has_no_flaws() {
        let quality = with(|_| {});
        assert_eq!((quality.samples, quality.lost), (99, 0));
        assert_eq!(quality.flaws(), []);
        assert_eq!(Quality::of(&Profile::default()).flaws(), []);
    }

    #[test]
    fn what_is_above_its_limit_is_a_flaw() {
        assert_eq!(with(lose(1)).lost_share(), Share::from_percent(1.0));
        assert_eq!(with(lose(1)).flaws(), []);
        assert_eq!(with(lose(2)).flaws(), [Flaw::Lost]);
        let unnamed = |weight| UnnamedImage {
            path: String::new(),
            weight,
            reason: String::new(),
            hint: None,
        };
        let quality = with(|profile| profile.unnamed = vec![unnamed(5), unnamed(5)]);
        assert_eq!(quality.flaws(), [Flaw::Unnamed]);
        let quality = with(|profile| profile.unnamed = vec![unnamed(9)]);
        assert_eq!(quality.flaws(), []);
        // Of the 50 that a filter leaves.
        let quality = with(|profile| {
            profile.unnamed = vec![unnamed(9)];
            profile.checked = Some(CheckedNames {
                shown: 50,
                all: 99,
                are_stacks_left_out: false,
            });
        });
        assert_eq!(quality.unnamed, Share::of(9, 50));
        assert_eq!(quality.flaws(), [Flaw::Unnamed]);
    }

    #[test]
    fn losses_are_those_of_all_samples_that_were_taken() {
        let quality = with(|profile| {
            profile.about.thinning = Some(Thinning {
                taken: 999,
                kept: 99,
            });
            lose(1)(profile);
        });
        assert_eq!(quality.lost_share(), Share::of(1, 1000));
    }

    #[test]
    fn the_worst_flaw_is_the_first() {
        let ended = |end, samples| EndedStacks {
            end,
            image: None,
            samples,
        };
        let ends = [
            ended(StackEnd::Complete, 50),
            ended(StackEnd::Truncated, 50),
            ended(StackEnd::NoRegisters, 900),
        ];
        let gap = Gap {
            throttles: 1,
            ..Gap::default()
        };
        let quality = with(|profile| {
            profile.unwound = Unwound::of(ends.into_iter());
            profile.gaps = Gaps {
                seconds: vec![(0, gap)],
                ..Gaps::default()
            };
            lose(1)(profile);
        });
        assert_eq!((quality.complete, quality.unwound), (50, 100));
        assert_eq!(quality.flaws(), [Flaw::Truncated, Flaw::Throttled]);
    }
}
