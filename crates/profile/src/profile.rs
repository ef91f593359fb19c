//! A frozen profile.

use crate::{
    About, Dimension, DimensionValue, EventKind, FrameId, Frames, Gaps, Sampling, SelfTime,
    SpanTimes, StrId, Strings, TimeSlots, Tree, Unwound, ValueSets, ValuesId, view,
};
use rprof_base::{Counted, Share};
use rprof_untrusted::Untrusted;
use std::fmt::{Display, Formatter};

/// What samples are grouped by beside functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// Name of the thread.
    pub comm: StrId,
    /// Process, CPU and the like.
    pub values: ValuesId,
}

/// Samples that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Loss {
    /// How many.
    pub samples: u64,
    /// Only a lower bound: from LOST records, which a loss at the end leaves none of.
    pub at_least: bool,
}

impl Loss {
    /// What stands before the number of a lower bound.
    pub fn bound(self) -> &'static str {
        if self.at_least { "at least " } else { "" }
    }
}

impl std::ops::Add for Loss {
    type Output = Self;

    /// What is missing of both.
    fn add(self, other: Self) -> Self {
        Self {
            samples: self.samples.saturating_add(other.samples),
            at_least: self.at_least || other.at_least,
        }
    }
}

impl Display for Loss {
    /// `12 samples`, `at least 12 samples`.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let samples = Counted::new(self.samples, "sample", "samples");
        write!(f, "{}{samples}", self.bound())
    }
}

/// One event.
#[derive(Clone, Debug)]
pub struct EventProfile {
    /// Its name.
    pub name: Untrusted<String>,
    /// What it counts.
    pub kind: EventKind,
    /// When samples are taken.
    pub sampling: Sampling,
    /// Samples that were taken, also those that a filter leaves out of the tree.
    pub samples: u64,
    /// Their weight, in the event's unit; percentages are of this.
    pub weight: u64,
    /// Samples that are missing.
    pub loss: Loss,
    /// The stacks.
    pub tree: Tree,
    /// The groups that the tree's nodes name by number.
    pub groups: Vec<Group>,
}

/// Events that were counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedEvents {
    /// What it was called, if anything.
    pub name: Option<Untrusted<String>>,
    /// Numbers of its events in the profile; its leader comes first.
    pub members: Vec<usize>,
}

/// An image some of whose samples have no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnnamedImage {
    /// Its path.
    pub path: String,
    /// Weight of its samples without name, all events together.
    pub weight: u64,
    /// Why.
    pub reason: String,
    /// What would give it names, if that is known; only for those that are to be listed
    /// ([`Profile::listed_unnamed`]).
    pub hint: Option<String>,
}

/// The samples whose names are known to be there or missing: those that are shown. Of all events, in their units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckedNames {
    /// Their weight.
    pub shown: u64,
    /// The weight of all samples, also those that filters leave out.
    pub all: u64,
    /// Whether stacks were left out since, by their functions ([`Profile::keep_stacks`]).
    pub are_stacks_left_out: bool,
}

impl CheckedNames {
    /// Whether filters leave some samples out.
    pub fn are_part(self) -> bool {
        self.shown < self.all
    }

    /// Those of both.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            shown: self.shown.saturating_add(other.shown),
            all: self.all.saturating_add(other.all),
            are_stacks_left_out: self.are_stacks_left_out || other.are_stacks_left_out,
        }
    }
}

/// A recording, counted and named.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Where and how the recording was made.
    pub about: About,
    /// Names.
    pub strings: Strings,
    /// Functions.
    pub frames: Frames,
    /// Values of groups.
    pub values: ValueSets,
    /// Which functions samples in inlined code are the self time of.
    pub self_time: SelfTime,
    /// Events, in the recording's order; those that only carry sideband are left out.
    pub events: Vec<EventProfile>,
    /// Groups of them, as far as the recording says; each event is in one at most.
    pub event_groups: Vec<GroupedEvents>,
    /// Images that functions are in: the short name that frames have, and the build id as hex where it is known.
    pub images: Vec<(StrId, Option<String>)>,
    /// Images that lack names, the heaviest first.
    pub unnamed: Vec<UnnamedImage>,
    /// Of which samples these are; all of the events if `None`.
    pub checked: Option<CheckedNames>,
    /// Whether names were looked up. If not, nobody knows what lacks one.
    pub has_names: bool,
    /// How stacks ended, where they were unwound from stack dumps.
    pub unwound: Unwound,
    /// Where and when samples are missing.
    pub gaps: Gaps,
    /// What stands for waits for work, if these are folded ([`Fold::Idle`](crate::Fold::Idle)).
    pub idle: Option<FrameId>,
    /// How long spans of threads took, by name, if they were asked for.
    pub spans: Vec<SpanTimes>,
    /// The slots of time of one recording's samples, where these are told apart by them ([`Dimension::Time`]).
    pub time_slots: Option<TimeSlots>,
    /// How many records of each kind the file has, by the kernel's and perf's names.
    pub records: Vec<(String, u64)>,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}

/// Images without names that are worth a line.
#[derive(Clone, Debug)]
pub struct ListedUnnamed<'p> {
    /// With their share of the samples that are shown, the largest first.
    pub images: Vec<(Share, &'p UnnamedImage)>,
    /// How many others there are.
    pub n_others: usize,
    /// Their share.
    pub others: Share,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            about: About::default(),
            strings: Strings::default(),
            frames: Frames::default(),
            values: ValueSets::default(),
            self_time: SelfTime::default(),
            events: Vec::new(),
            event_groups: Vec::new(),
            images: Vec::new(),
            unnamed: Vec::new(),
            checked: None,
            has_names: true,
            unwound: Unwound::default(),
            gaps: Gaps::default(),
            idle: None,
            spans: Vec::new(),
            time_slots: None,
            records: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Profile {
    /// A row's value in a dimension.
    pub fn value(&self, row: &view::Row, dimension: Dimension) -> Option<DimensionValue> {
        self.values.of(row.key.values).get(dimension)
    }

    /// Images below have too few samples to be worth a line, percent.
    pub const MIN_UNNAMED: Share = Share::from_percent(1.0);
    /// Images that are worth one, at most.
    const MAX_UNNAMED: usize = 2;

    /// Of which samples [`Self::unnamed`] are.
    pub fn checked_names(&self) -> CheckedNames {
        self.checked.unwrap_or_else(|| {
            let weights = self.events.iter().map(|event| event.weight);
            let all = weights.fold(0u64, u64::saturating_add);
            CheckedNames {
                shown: all,
                all,
                are_stacks_left_out: false,
            }
        })
    }

    /// Images without names that a reader should know of.
    pub fn listed_unnamed(&self) -> ListedUnnamed<'_> {
        let total = self.checked_names().shown;
        let shares = self.unnamed.iter();
        let images: Vec<_> = shares
            .map(|image| (Share::of(image.weight, total), image))
            .take_while(|(share, _)| *share >= Self::MIN_UNNAMED)
            .take(Self::MAX_UNNAMED)
            .collect();
        let rest = self.unnamed.get(images.len()..).unwrap_or_default();
        let weights = rest.iter().map(|image| image.weight);
        ListedUnnamed {
            n_others: rest.len(),
            others: Share::of(weights.fold(0u64, u64::saturating_add), total),
            images,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_heaviest_images_are_listed_and_the_others_counted() {
        let unnamed = |weights: &[u64]| Profile {
            events: vec![EventProfile {
                weight: 1000,
                ..testing::event("x")
            }],
            unnamed: weights
                .iter()
                .map(|&weight| UnnamedImage {
                    path: weight.to_string(),
                    weight,
                    reason: String::new(),
                    hint: None,
                })
                .collect(),
            ..Profile::default()
        };
        let listed = |weights: &[u64]| {
            let profile = unnamed(weights);
            let ListedUnnamed {
                images, n_others, ..
            } = profile.listed_unnamed();
            (images.iter().map(|(_, one)| one.weight).collect(), n_others)
        };
        assert_eq!(listed(&[500, 10, 9]), (vec![500, 10], 1));
        assert_eq!(listed(&[10; 7]), (vec![10; 2], 5));
        assert_eq!(listed(&[9, 1]), (vec![], 2));
    }
}
