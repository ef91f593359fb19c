//! What passes count: stacks by event, samples without a name, what could not be used.

use super::dimensions::GroupKey;
use crate::samples::IgnoredSamples;
use crate::stacks::StackEndCounts;
use foldhash::HashMap;
use rprof_machine::ImageId;
use rprof_profile::Tally;

/// What was counted.
#[derive(Default)]
pub(super) struct Counts {
    /// By event.
    pub(super) tallies: Vec<Tally<GroupKey>>,
    pub(super) unnamed: UnnamedWeights,
    pub(super) ignored: IgnoredSamples,
    pub(super) ends: StackEndCounts,
}

impl Counts {
    pub(super) fn new(n_events: usize) -> Self {
        Self {
            tallies: new_tallies(n_events),
            ..Self::default()
        }
    }
}

/// Empty tallies for a number of events.
pub(super) fn new_tallies(n_events: usize) -> Vec<Tally<GroupKey>> {
    (0..n_events).map(|_| Tally::default()).collect()
}

/// Weight of samples without a name, by image, where there is a reason for that.
#[derive(Clone, Debug, Default)]
pub(super) struct UnnamedWeights(HashMap<u32, u64>);

impl UnnamedWeights {
    /// Adds the weight of samples in an image that has no name for them.
    #[inline]
    pub(super) fn add(&mut self, image: Option<ImageId>, weight: u64) {
        if let Some(image) = image {
            let sum = self.0.entry(image.0).or_default();
            *sum = sum.saturating_add(weight);
        }
    }

    /// Adds what another thread counted.
    pub(super) fn merge(&mut self, other: Self) {
        for (image, weight) in other.0 {
            self.add(Some(ImageId(image)), weight);
        }
    }

    /// The weight of an image.
    pub(super) fn of(&self, image: ImageId) -> u64 {
        self.0.get(&image.0).copied().unwrap_or(0)
    }
}
