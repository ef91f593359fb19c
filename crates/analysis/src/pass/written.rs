//! What samples that were written one by one come to: a profile without stacks, which says how good they are.

use super::counts::{Counts, UnnamedWeights, new_tallies};
use super::dimensions::Grouping;
use super::driver::{ResolvedSample, TaskSample};
use super::finish::profile_of;
use super::group_by::GroupBy;
use super::group_key::GroupKey;
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache};
use crate::samples::{DecodedSample, IgnoredSamples};
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use rprof_machine::ImageId;
use rprof_profile::{Profile, Tally};
use rprof_symbols::Request;

/// Samples of an ordered pass, counted.
#[derive(Default)]
pub struct WrittenSamples {
    tallies: Vec<Tally<GroupKey>>,
    unnamed: UnnamedWeights,
    pub(super) ignored: IgnoredSamples,
}

impl std::fmt::Debug for WrittenSamples {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WrittenSamples").finish_non_exhaustive()
    }
}

impl WrittenSamples {
    /// A profile of them, as good or bad as that of a report. Without symbols nobody knows what lacks names.
    ///
    /// # Errors
    /// [`Error::Thread`].
    pub fn profile(
        self,
        query: &Query<'_>,
        symbols: Option<Symbols>,
        ends: StackEndCounts,
    ) -> Result<Profile, Error> {
        let has_names = symbols.is_some();
        let mut symbols = match symbols {
            Some(symbols) => symbols,
            None => query.symbolize(Vec::new(), Request::default())?,
        };
        let counts = Counts {
            tallies: self.tallies,
            unnamed: self.unnamed,
            ignored: self.ignored,
            ends,
            ..Counts::default()
        };
        let grouping = Grouping::of(query.recording, &GroupBy::default())?;
        Ok(Profile {
            has_names,
            ..profile_of(query, &grouping, &mut symbols, counts)
        })
    }

    pub(super) fn merge(&mut self, other: Self) {
        if self.tallies.is_empty() {
            self.tallies = other.tallies;
        } else {
            for (all, one) in self.tallies.iter_mut().zip(&other.tallies) {
                all.merge(one);
            }
        }
        self.unnamed.merge(other.unnamed);
        self.ignored.add(other.ignored);
    }
}

/// Counts the samples of one thread.
pub(super) struct WrittenCounts<'p> {
    query: &'p Query<'p>,
    /// If something has no name.
    symbols: Option<&'p Symbols>,
    /// By address: the image if the address has no name, else [`NAMED`].
    cache: Option<LocationCache>,
    pub(super) samples: WrittenSamples,
}

impl<'p> WrittenCounts<'p> {
    pub(super) fn new(query: &'p Query<'p>, symbols: Option<&'p Symbols>) -> Self {
        Self {
            query,
            symbols: symbols.filter(|symbols| !symbols.unnamed.is_empty()),
            cache: None,
            samples: WrittenSamples {
                tallies: new_tallies(query.recording.reader.events().len()),
                ..WrittenSamples::default()
            },
        }
    }

    /// Counts a sample, whether it is shown or not.
    pub(super) fn take(&mut self, sample: &TaskSample<'_, '_>) {
        if let Some(tally) = self.samples.tallies.get_mut(sample.decoded.event) {
            tally.add_samples(1, self.query.weight(sample.decoded));
        }
    }

    /// Counts that one is shown, which was taken in this image if it has no name.
    pub(super) fn take_shown(&mut self, decoded: &DecodedSample<'_>, unnamed: Option<ImageId>) {
        let weight = self.query.weight(decoded);
        self.samples.unnamed.add(unnamed, weight);
    }

    /// The image that a sample was taken in, if there is no name for where that was.
    pub(super) fn unnamed_image(&mut self, sample: &ResolvedSample<'_, '_>) -> Option<ImageId> {
        let (symbols, address) = self.symbols.zip(sample.own_address())?;
        let history = &self.query.recording.index.history;
        let find = |location: Location| {
            // Most images have all of their names: which location it is does not matter then.
            let lacks_names = symbols.lacks_names(ImageId(location.image));
            let image = lacks_names.then(|| symbols.unnamed_image(symbols.number(location)));
            image.flatten().map_or(NAMED, |image| image.0)
        };
        let n_samples = self.query.recording.index.n_samples;
        let cache = self
            .cache
            .get_or_insert_with(|| LocationCache::for_addresses(n_samples));
        let image = cache.value(history, sample.mappings, address, find);
        (image != NAMED).then_some(ImageId(image))
    }
}

/// No image: there are fewer.
const NAMED: u32 = u32::MAX;
