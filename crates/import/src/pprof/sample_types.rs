//! What values are: events, and what one of each weighs.

use super::tables::Tables;
use crate::Error;
use crate::recording::{Counts, ImportedEvent, Sampled};
use std::path::Path;

/// Sample types at most: a profile has a handful.
const MOST: usize = 64;

/// The values of each sample.
pub(crate) struct SampleTypes {
    /// The one that is shown first comes first, the others in the profile's order.
    pub(super) events: Vec<ImportedEvent>,
    /// By number of the value, the position of its event.
    pub(super) order: Vec<usize>,
    /// By number of the value, what 1 weighs.
    factors: Vec<u64>,
}

impl SampleTypes {
    /// Those of a profile.
    ///
    /// # Errors
    /// There are none, or too many.
    pub(super) fn new(path: &Path, tables: &Tables<'_>) -> Result<Self, Error> {
        let types = &tables.sample_types;
        if types.is_empty() {
            return Err(Error::profile(path, "no sample types"));
        }
        if types.len() > MOST {
            let what = format!("{} sample types, and {MOST} are read", types.len());
            return Err(Error::profile(path, what));
        }
        let mut names = Vec::new();
        let mut factors = Vec::new();
        for one in types {
            let [kind, unit] = [one.kind, one.unit].map(|text| tables.text(text));
            let unit_ns = nanoseconds(&unit);
            factors.push(unit_ns.unwrap_or(1));
            names.push(ImportedEvent {
                name: name_of(&kind, &unit),
                counts: unit_ns.map_or(Counts::Other, |_| Counts::CpuTime),
                sampled: Sampled::Every(1),
            });
        }
        // As pprof does: the default, if there is one of this kind, else the last one.
        let is_default = |one| tables.text(one) == tables.text(tables.default_type);
        let first = types.iter().position(|one| is_default(one.kind));
        let first = first.filter(|_| tables.default_type != 0);
        let first = first.unwrap_or(types.len() - 1);
        let mut order: Vec<usize> = (0..types.len()).collect();
        for position in order.iter_mut().take(first) {
            *position += 1;
        }
        if let Some(position) = order.get_mut(first) {
            *position = 0;
        }
        if let Some(events) = names.get_mut(..=first) {
            events.rotate_right(1);
        }
        Ok(Self {
            events: names,
            order,
            factors,
        })
    }

    /// What a value weighs; `None` beyond 64 bits.
    pub(super) fn weight(&self, at: usize, value: u64) -> Option<u64> {
        value.checked_mul(self.factors.get(at).copied().unwrap_or(1))
    }
}

/// The name of an event, with the unit where that is not said by numbers: `cpu`, `samples`, `inuse_space/bytes`.
fn name_of(kind: &str, unit: &str) -> String {
    match unit {
        "" | "count" => kind.to_owned(),
        _ if nanoseconds(unit).is_some() => kind.to_owned(),
        _ => format!("{kind}/{unit}"),
    }
}

/// Nanoseconds of a unit of time, as pprof knows them.
///
/// Source: `timeUnits`, internal/measurement/measurement.go of github.com/google/pprof.
fn nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "nanoseconds" | "nanosecond" | "ns" => 1,
        "microseconds" | "microsecond" | "us" => 1_000,
        "milliseconds" | "millisecond" | "ms" => 1_000_000,
        "seconds" | "second" | "s" => 1_000_000_000,
        "minutes" | "minute" => 60_000_000_000,
        "hours" | "hour" => 3_600_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_time_are_weighed_and_others_named() {
        assert_eq!(name_of("cpu", "nanoseconds"), "cpu");
        assert_eq!(name_of("samples", "count"), "samples");
        assert_eq!(name_of("inuse_space", "bytes"), "inuse_space/bytes");
        assert_eq!(nanoseconds("ms"), Some(1_000_000));
    }
}
