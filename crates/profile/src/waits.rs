//! What threads wait for, where groups are told apart by that.

use crate::{
    Dimension, DimensionValue, DimensionValues, EventProfile, Group, Profile, SampledProfile,
    StrId, ValuesId,
};
use rprof_untrusted::printable;

/// What may tell apart the groups of samples that are one by one, beside the names of threads.
pub const WAIT_DIMENSIONS: [Dimension; 3] = [Dimension::Cause, Dimension::State, Dimension::Waker];

impl Profile {
    /// What the threads of a group wait for, if groups are told apart by that; `None` for those that run, and for waits
    /// that are folded ([`Fold::Idle`](crate::Fold::Idle)).
    pub fn cause_of(&self, group: &Group) -> Option<StrId> {
        match self.values.of(group.values).get(Dimension::Cause)? {
            DimensionValue::Text(cause) => {
                let name = self.strings.of(cause).into_raw();
                Some(cause).filter(|_| name != RUNNING && name != IDLE)
            }
            _ => None,
        }
    }

    /// What a cause is called as the innermost box of a picture: `[futex]`.
    pub fn wait_label(&self, cause: StrId) -> String {
        let name = self.strings.of(cause).into_raw();
        printable(&format!("[{name}]")).into_owned()
    }

    /// The values of a group that waits for this, and is told apart by nothing else.
    pub fn values_of_cause(&mut self, cause: StrId) -> ValuesId {
        self.values_of_wait([Some(cause), None, None])
    }

    /// The values of a group in [`WAIT_DIMENSIONS`], as far as these tell groups apart.
    pub fn values_of_wait(&mut self, words: [Option<StrId>; 3]) -> ValuesId {
        if words == [None; 3] {
            return ValuesId::NONE;
        }
        let mut values = DimensionValues::NONE;
        for (dimension, word) in WAIT_DIMENSIONS.into_iter().zip(words) {
            values.set(dimension, word.map(DimensionValue::Text));
        }
        self.values.intern(values)
    }

    /// What [`Self::values_of_wait`] was made of.
    pub(crate) fn wait_values(&self, group: &Group) -> [Option<StrId>; 3] {
        let values = self.values.of(group.values);
        WAIT_DIMENSIONS.map(|dimension| match values.get(dimension)? {
            DimensionValue::Text(word) => Some(word),
            _ => None,
        })
    }

    /// The causes of an event's waits, by group.
    pub fn causes_of(&self, event: &EventProfile) -> Vec<Option<StrId>> {
        let groups = event.groups.iter();
        groups.map(|group| self.cause_of(group)).collect()
    }
}

impl SampledProfile {
    /// The causes of waits, by group of the stacks.
    pub fn causes(&self) -> Vec<Option<StrId>> {
        let groups = self.groups.iter();
        groups.map(|group| self.profile.cause_of(group)).collect()
    }
}

/// The cause of threads that do not wait.
const RUNNING: &str = "running";

/// Instead of the cause of waits that are folded.
pub(crate) const IDLE: &str = "idle";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_waits_for_nothing() {
        let mut profile = Profile::default();
        let group = |profile: &mut Profile, cause| {
            let cause = profile.strings.intern(cause);
            let values = profile.values_of_cause(cause);
            (
                Group {
                    comm: cause,
                    values,
                },
                cause,
            )
        };
        let (running, _) = group(&mut profile, "running");
        let (waiting, pipe) = group(&mut profile, "pipe");
        assert_eq!(profile.cause_of(&running), None);
        assert_eq!(profile.cause_of(&waiting), Some(pipe));
        assert_eq!(profile.wait_label(pipe), "[pipe]");
    }
}
