//! What samples are counted apart by.

use super::dimensions::Grouping;
use super::places::{Naming, PlaceNumbers};
use super::tallied::Tallied;
use crate::locations::{TaskName, comm_text};
use rprof_profile::{DimensionValues, Group, ValueSets};
use std::hash::{Hash, Hasher};

/// What samples are counted apart by: the thread's name, and their values in the dimensions that are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupKey {
    /// `None` if it does not matter.
    pub(super) name: Option<TaskName>,
    /// Whether the filter shows its task.
    pub(super) is_shown: bool,
    /// How many values there are.
    len: u8,
    /// Bits of those that are not recorded.
    missing: u16,
    values: [u64; DimensionValues::MOST],
}

impl PartialEq for GroupKey {
    fn eq(&self, other: &Self) -> bool {
        let same_name = self.name == other.name && self.is_shown == other.is_shown;
        let same_len = self.len == other.len && self.missing == other.missing;
        // Slices would be compared by a call, also where there is nothing to compare.
        same_name && same_len && self.used().iter().eq(other.used())
    }
}

impl Eq for GroupKey {}

impl Hash for GroupKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        state.write_u16(self.missing);
        for &value in self.used() {
            state.write_u64(value);
        }
    }
}

impl GroupKey {
    /// The group of what is tallied.
    #[inline]
    pub(super) fn of(
        tallied: &Tallied<'_, '_>,
        grouping: &Grouping<'_>,
        numbers: &mut PlaceNumbers,
    ) -> Self {
        let mut key = Self {
            name: grouping.has_names().then_some(tallied.task),
            is_shown: true,
            len: 0,
            missing: 0,
            values: [0; DimensionValues::MOST],
        };
        if !grouping.dimensions().is_empty() {
            key.fill(tallied, grouping, numbers);
        }
        key
    }

    fn fill(
        &mut self,
        tallied: &Tallied<'_, '_>,
        grouping: &Grouping<'_>,
        numbers: &mut PlaceNumbers,
    ) {
        let fields = if grouping.needs_all_fields() {
            tallied.decoded.all_fields(grouping.reader())
        } else {
            None
        };
        for (place, &dimension) in self.values.iter_mut().zip(grouping.dimensions()) {
            let value = grouping.value(dimension, (tallied, fields.as_ref()), numbers);
            self.missing |= u16::from(value.is_none()) << self.len;
            *place = value.unwrap_or(0);
            self.len += 1;
        }
    }

    /// The same, whatever its thread is called.
    pub(super) fn without_name(self) -> Self {
        Self { name: None, ..self }
    }

    /// Changes one of its values.
    pub(super) fn change(&mut self, at: usize, new: impl FnOnce(u64) -> u64) {
        if let Some(value) = self.values.get_mut(at) {
            *value = new(*value);
        }
    }

    #[inline]
    fn used(&self) -> &[u64] {
        self.values.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// As a profile has it.
    pub(super) fn in_profile(
        &self,
        grouping: &Grouping<'_>,
        naming: &mut Naming<'_>,
        values: &mut ValueSets,
    ) -> Group {
        let history = &naming.recording.index.history;
        let comm = self.name.map(|name| comm_text(history, name));
        let comm = comm.as_ref().map_or("", |comm| comm.raw());
        Group {
            comm: naming.strings.intern(comm),
            values: values.intern(self.values(grouping, naming)),
        }
    }

    fn values(&self, grouping: &Grouping<'_>, naming: &mut Naming<'_>) -> DimensionValues {
        let mut values = DimensionValues::default();
        let dimensions = grouping.dimensions().iter().zip(self.used());
        for (at, (&dimension, &value)) in dimensions.enumerate() {
            let value = (self.missing >> at & 1 == 0)
                .then(|| grouping.in_profile(dimension, value, self.name, naming));
            values.set(dimension, value);
        }
        values
    }
}
