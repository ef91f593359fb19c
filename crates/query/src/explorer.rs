//! The profile that is asked.

use crate::counted::{count, count_whole};
use crate::{SampleSelection, StackFolding};
use rprof_profile::view::ThreadNames;
use rprof_profile::{EventProfile, Group, Profile, SampledProfile, without_digits};

/// A recording in memory.
#[derive(Clone, Debug)]
pub struct Explorer {
    sampled: SampledProfile,
}

impl Explorer {
    /// Takes a recording.
    pub fn new(sampled: SampledProfile) -> Self {
        Self { sampled }
    }

    /// Gives the recording back.
    pub fn into_sampled(self) -> SampledProfile {
        self.sampled
    }

    /// Its samples.
    pub fn sampled(&self) -> &SampledProfile {
        &self.sampled
    }

    /// Its names, events and quality; the trees of events are empty.
    pub fn profile(&self) -> &Profile {
        &self.sampled.profile
    }

    /// An event with the stacks of the samples that are selected, folded. Its totals are those that percentages are
    /// of: of all samples of the event within the times and on the CPUs that are selected.
    ///
    /// `None` if there is no such event.
    pub fn select(
        &mut self,
        selection: &SampleSelection,
        folding: &StackFolding,
    ) -> Option<EventProfile> {
        let mut event = count(&mut self.sampled, selection)?;
        let hidden = &folding.hidden;
        self.sampled.profile.hide_frames(&mut event, hidden);
        self.sampled.profile.fold_event(&mut event, &folding.folds);
        if folding.threads == ThreadNames::Pooled {
            self.pool_threads(&mut event.groups);
        }
        Some(event)
    }

    /// As [`Self::select`] without folding, and without what samples are told apart by beside (`by`): several threads
    /// may ask at once.
    pub fn count(&self, selection: &SampleSelection) -> Option<EventProfile> {
        count_whole(&self.sampled, selection)
    }

    /// Gives threads that differ in digits only one name.
    fn pool_threads(&mut self, groups: &mut [Group]) {
        let strings = &mut self.sampled.profile.strings;
        for group in groups {
            let name = strings.of(group.comm).into_raw();
            let pooled = without_digits(name).into_owned();
            group.comm = strings.intern(&pooled);
        }
    }
}
