//! pprof profiles: each sample type becomes an event, each stack with a value a sample of it.

mod labels;
mod sample_types;
mod tables;

use crate::recording::{AddError, Has, MOST_FUNCTIONS, Recording, Start, TaskSample};
use crate::{Error, Imported};
use labels::LabelKeys;
use rprof_base::Counted;
use rprof_pprof::{PprofPart, PprofParts, PprofSampleParts};
use rprof_untrusted::{Allowed, Budget};
use sample_types::SampleTypes;
use std::path::Path;
use tables::{Locations, Tables};

/// Whether the beginning of a file is that of a profile: it has fields of profiles alone, as far as it goes.
pub(crate) fn is_profile(head: &[u8]) -> bool {
    let mut n_fields = 0;
    for part in PprofParts::new(head) {
        match part {
            Ok(PprofPart::Unknown) => return false,
            Ok(_) => n_fields += 1,
            // It may be longer than what is looked at.
            Err(_) => break,
        }
    }
    n_fields >= LEAST_FIELDS
}

/// Fields of a profile at least: a sample type, and strings.
const LEAST_FIELDS: u32 = 3;

/// A recording of a profile, and what is to be said of it.
pub(crate) fn import(
    path: &Path,
    profile: &[u8],
    budget: &Budget,
    allowed: Allowed,
) -> Result<Imported, Error> {
    let tables = Tables::read(path, profile, budget)?;
    let types = SampleTypes::new(path, &tables)?;
    let keys = LabelKeys::new(&tables);
    let recording = Recording::start(&Start {
        path,
        events: &types.events,
        has: Has {
            cpus: keys.has_cpus(profile),
            ..Has::default()
        },
        budget,
    })?;
    let mut import = Import {
        path,
        locations: Locations::new(&tables),
        tables: &tables,
        types,
        keys,
        recording,
        n_cut: 0,
    };
    import.samples(profile)?;
    let n_cut = import.n_cut;
    let mut warnings = Vec::new();
    if n_cut > 0 {
        let stacks = Counted::new(n_cut, "stack has", "stacks have");
        warnings.push(format!(
            "{stacks} more than {MOST_FUNCTIONS} functions: the outermost ones are left out"
        ));
    }
    Ok(Imported {
        reader: import.recording.finish(allowed)?,
        warnings,
    })
}

/// A profile that becomes a recording.
struct Import<'p> {
    path: &'p Path,
    tables: &'p Tables<'p>,
    types: SampleTypes,
    keys: LabelKeys,
    locations: Locations<'p>,
    recording: Recording,
    /// Stacks that were too deep.
    n_cut: u64,
}

impl Import<'_> {
    fn samples(&mut self, profile: &[u8]) -> Result<(), Error> {
        let mut sample = PprofSampleParts::default();
        let mut number = 0;
        for part in PprofParts::new(profile) {
            let PprofPart::Sample(bytes) = part.map_err(|error| self.bad(error))? else {
                continue;
            };
            number += 1;
            let read = sample.read(bytes);
            read.map_err(|error| self.bad_sample(number, error))?;
            self.add(&sample).map_err(|error| match error {
                AddError::Sample(what) => self.bad_sample(number, what),
                AddError::Recording(error) => error,
            })?;
        }
        Ok(())
    }

    fn add(&mut self, sample: &PprofSampleParts) -> Result<(), AddError> {
        let n_types = self.types.events.len();
        if sample.values.len() != n_types {
            let n_values = sample.values.len();
            let what = format!("{n_values} values for {n_types} sample types");
            return Err(AddError::Sample(what));
        }
        if sample.values.iter().any(|&value| value < 0) {
            return Err(AddError::Sample(NEGATIVE.to_owned()));
        }
        let stack = self
            .locations
            .stack(&sample.locations, &mut self.recording)?;
        let task = self.keys.task(sample, self.tables);
        let pid = match task.pid {
            Some(pid) => pid,
            None => self.recording.process(&task.comm)?,
        };
        if stack.len() > MOST_FUNCTIONS {
            self.n_cut += 1;
        }
        let stack = stack.get(..MOST_FUNCTIONS).unwrap_or(stack);
        for (at, &event) in self.types.order.iter().enumerate() {
            let value = sample.values.get(at).copied().unwrap_or(0);
            let weight = self.types.weight(at, value.cast_unsigned());
            let weight = weight.ok_or_else(|| AddError::Sample(TOO_LONG.to_owned()))?;
            let sample = TaskSample {
                event,
                pid,
                tid: task.tid.unwrap_or(pid),
                comm: &task.comm,
                time_ns: 0,
                cpu: task.cpu,
                weight,
            };
            self.recording.add(&sample, stack)?;
        }
        Ok(())
    }

    fn bad(&self, what: impl ToString) -> Error {
        Error::profile(self.path, what)
    }

    fn bad_sample(&self, number: u64, what: impl ToString) -> Error {
        self.bad(format!("sample {number}: {}", what.to_string()))
    }
}

const NEGATIVE: &str =
    "a value below 0: differences of profiles are not read; compare both profiles with rprof diff";

const TOO_LONG: &str = "a time beyond 2^64 nanoseconds";

#[cfg(test)]
mod tests;
