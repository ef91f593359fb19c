//! The values of samples in dimensions, for grouping.

use crate::locations::TaskName;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use rprof_profile::{Dimension, DimensionValue, DimensionValues, Strings};

/// What a sample's value in a dimension is; `None` where it is not recorded.
#[inline]
fn value(
    dimension: Dimension,
    sample: &DecodedSample<'_>,
    recording: &Recording<'_>,
) -> Option<u64> {
    match dimension {
        Dimension::Pid => Some(of_id(sample.pid)),
        Dimension::Tid => Some(of_id(sample.tid)),
        Dimension::Cpu => sample.head.cpu.map(u64::from),
        Dimension::Cgroup => Some(match sample.all_fields(recording.reader)?.cgroup {
            Some(id) => id,
            None => NO_CGROUP,
        }),
    }
}

/// A value as a profile has it.
fn in_profile(
    dimension: Dimension,
    value: u64,
    recording: &Recording<'_>,
    strings: &mut Strings,
) -> DimensionValue {
    match dimension {
        Dimension::Pid | Dimension::Tid | Dimension::Cpu => {
            DimensionValue::Number(value.cast_signed())
        }
        Dimension::Cgroup => {
            let path = recording.index.cgroups.get(&value).map(Vec::as_slice);
            let path = match value {
                NO_CGROUP => b"N/A",
                _ => path.unwrap_or(b"unknown"),
            };
            DimensionValue::Text(strings.intern(&String::from_utf8_lossy(path)))
        }
    }
}

/// perf's answer for samples without one; the kernel's ids begin at 1.
const NO_CGROUP: u64 = 0;

fn of_id(id: i32) -> u64 {
    i64::from(id).cast_unsigned()
}

/// What samples are counted apart by: the thread's name, and their values in the dimensions that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GroupKey {
    pub(super) name: TaskName,
    values: [Option<u64>; Dimension::ALL.len()],
}

impl GroupKey {
    /// The group of a sample.
    #[inline]
    pub(super) fn of(
        name: TaskName,
        sample: &DecodedSample<'_>,
        recording: &Recording<'_>,
        group_by: &[Dimension],
    ) -> Self {
        let mut values = [None; Dimension::ALL.len()];
        for &dimension in group_by {
            values[dimension as usize] = value(dimension, sample, recording);
        }
        Self { name, values }
    }

    /// Its values as a profile has them.
    pub(super) fn values(
        &self,
        recording: &Recording<'_>,
        strings: &mut Strings,
    ) -> DimensionValues {
        let mut values = DimensionValues::default();
        for &dimension in Dimension::ALL {
            let value = self.values[dimension as usize];
            let value = value.map(|value| in_profile(dimension, value, recording, strings));
            values.set(dimension, value);
        }
        values
    }
}
