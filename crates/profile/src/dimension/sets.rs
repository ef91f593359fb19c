//! The values of groups, each set of them once: rows are many, and go by its number.

use super::{Dimension, DimensionValues};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::{Id, Interner};

/// Number of a set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValuesId(u32);

rprof_base::impl_id!(ValuesId);

impl ValuesId {
    /// No values.
    pub const NONE: Self = Self(u32::MAX);
}

impl Default for ValuesId {
    fn default() -> Self {
        Self::NONE
    }
}

/// All sets of values of a profile.
#[derive(Clone, Debug, Default)]
pub struct ValueSets(Interner<ValuesId, DimensionValues, RandomState>);

impl ValueSets {
    /// The number of a set, new or seen before.
    pub fn intern(&mut self, values: DimensionValues) -> ValuesId {
        if values == DimensionValues::NONE {
            ValuesId::NONE
        } else {
            self.0.intern(values)
        }
    }

    /// The set with a number; empty for one of another profile.
    pub fn of(&self, id: ValuesId) -> &DimensionValues {
        self.0.get(id).unwrap_or(&DimensionValues::NONE)
    }

    /// For each set, the first one that has the same values in some dimensions.
    pub(crate) fn alike_in(&self, dimensions: &[Dimension]) -> AlikeSets {
        if dimensions.is_empty() {
            return AlikeSets(Vec::new());
        }
        let mut firsts: HashMap<DimensionValues, ValuesId> = HashMap::default();
        let sets = (0u32..).zip(self.0.values());
        let first = sets.map(|(number, set)| {
            let mut values = DimensionValues::NONE;
            for &one in dimensions {
                values.set(one, set.get(one));
            }
            if values == DimensionValues::NONE {
                ValuesId::NONE
            } else {
                *firsts.entry(values).or_insert(ValuesId(number))
            }
        });
        AlikeSets(first.collect())
    }
}

/// Sets of values that some dimensions do not tell apart.
#[derive(Clone, Debug)]
pub(crate) struct AlikeSets(Vec<ValuesId>);

impl AlikeSets {
    /// The one that stands for a set and all that are like it.
    pub(crate) fn first(&self, id: ValuesId) -> ValuesId {
        let first = self.0.get(id.number() as usize);
        first.copied().unwrap_or(ValuesId::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::super::DimensionValue;
    use super::*;

    fn values(cpu: Option<i64>, pid: i64) -> DimensionValues {
        let mut values = DimensionValues::NONE;
        values.set(Dimension::Cpu, cpu.map(DimensionValue::Number));
        values.set(Dimension::Pid, Some(DimensionValue::Number(pid)));
        values
    }

    #[test]
    fn sets_that_differ_elsewhere_are_alike() {
        let mut sets = ValueSets::default();
        let all = [(Some(1), 7), (Some(2), 7), (Some(1), 8), (None, 7)];
        let ids = all.map(|(cpu, pid)| sets.intern(values(cpu, pid)));
        assert_eq!(sets.intern(values(Some(2), 7)), ids[1]);
        let by_cpu = sets.alike_in(&[Dimension::Cpu]);
        let firsts = ids.map(|id| by_cpu.first(id));
        assert_eq!(firsts, [ids[0], ids[1], ids[0], ValuesId::NONE]);
        let by_pid = sets.alike_in(&[Dimension::Pid]);
        let firsts = ids.map(|id| by_pid.first(id));
        assert_eq!(firsts, [ids[0], ids[0], ids[2], ids[0]]);
        let by_both = sets.alike_in(&[Dimension::Pid, Dimension::Cpu]);
        assert_eq!(ids.map(|id| by_both.first(id)), ids);
        assert_eq!(sets.alike_in(&[]).first(ids[1]), ValuesId::NONE);
    }

    #[test]
    fn no_values_are_no_set() {
        let mut sets = ValueSets::default();
        assert_eq!(sets.intern(DimensionValues::NONE), ValuesId::NONE);
        assert_eq!(*sets.of(ValuesId::NONE), DimensionValues::NONE);
    }
}
