//! The locations pass: which code locations occur at all.

use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::query::Query;
use crate::Error;
use crate::locations::{Address, Location, LocationCache, Mappings, OtherAddress, distinct};
use crate::samples::{DecodedSample, IgnoredSamples};
use crate::stacks::ChainOptions;
use foldhash::HashSet;
use rprof_machine::History;

/// The locations that samples have.
#[derive(Debug, Default)]
pub struct FoundLocations {
    /// Sorted, each once.
    pub locations: Vec<Location>,
    /// Samples that could not be used.
    pub ignored: IgnoredSamples,
}

/// Finds all locations of the stacks of samples, and of what `more` says of a sample.
///
/// # Errors
/// [`Error`] if the recording cannot be read.
pub fn find_locations(
    query: &Query<'_>,
    more: impl Fn(&DecodedSample<'_>, &mut dyn FnMut(OtherAddress)) + Sync,
    done: &mut dyn FnMut(usize),
) -> Result<FoundLocations, Error> {
    let pass = LocationsPass {
        history: &query.recording.index.history,
        n_samples: query.recording.index.n_samples,
        chains: query.stacks.chains,
        more,
    };
    let result = run(query, &pass, done)?;
    Ok(FoundLocations {
        locations: distinct(result.locals.iter().flat_map(|local| &local.locations)),
        ignored: result.ignored,
    })
}

struct LocationsPass<'a, M> {
    history: &'a History,
    n_samples: u64,
    chains: ChainOptions,
    more: M,
}

/// A thread's locations.
struct Local {
    seen: LocationCache,
    locations: HashSet<Location>,
}

impl<M: Fn(&DecodedSample<'_>, &mut dyn FnMut(OtherAddress)) + Sync> Pass for LocationsPass<'_, M> {
    type Local = Local;
    type Stack = ();

    fn local(&self) -> Local {
        Local {
            seen: LocationCache::for_samples(self.n_samples),
            locations: HashSet::default(),
        }
    }

    fn group(&self, _local: &mut Local, _sample: &TaskSample<'_, '_>) -> Option<u64> {
        Some(0)
    }

    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<()>,
    ) -> Option<()> {
        let mappings = sample.mappings;
        (self.more)(sample.decoded, &mut |address| match address {
            OtherAddress::At(address) => self.add(local, mappings, address),
            OtherAddress::ByMapping(avma) => {
                let location = mappings.branch_location(self.history, avma);
                local.locations.insert(self.chains.counted(location));
            }
        });
        if known.is_none() {
            sample.for_each_address(|address| self.add(local, mappings, address));
        }
        Some(())
    }
}

impl<M> LocationsPass<'_, M> {
    fn add(&self, local: &mut Local, mappings: Mappings, address: Address) {
        let Local { seen, locations } = local;
        seen.value(self.history, mappings, address, |location| {
            locations.insert(self.chains.counted(location));
            0
        });
    }
}
