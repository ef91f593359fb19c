//! Tables of many light rows, such as those by time. No row has a tree below it, since all are lighter than the lightest
//! branch that is shown. So samples are counted by group, whatever their functions: the functions of each row would be
//! nearly as many as there are samples.

use super::blocks::place;
use super::counts::{Counts, GroupedTallies, group_number};
use super::dimensions::Grouping;
use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::group_key::GroupKey;
use super::load::{Progress, progress_of};
use super::mode::SortMode;
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache, distinct};
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::view::Pruning;
use rprof_profile::{FrameInfo, SampleCount, Tally, TallyParts};
use rprof_symbols::Request;

/// Recordings with fewer samples have few rows, or read fast.
pub(super) const MANY: u64 = 1 << 20;

/// What stands for the functions of a row, which are not told apart.
const ANY: &str = "[any]";

/// Counts samples by group, and names what stacks consist of; `None` if any row weighs that share of its event (percent),
/// or more. Rows have to be those of groups, whatever their functions.
pub(super) fn count_light_rows(
    query: &Query<'_>,
    grouping: &Grouping<'_>,
    request: Request,
    percent: f64,
    progress: &mut Progress<'_>,
) -> Result<Option<(Symbols, Counts)>, Error> {
    let filter = query.samples.filter;
    let is_plain = query.mode == SortMode::Normal && !grouping.has_sizes_later();
    if !is_plain || query.samples.need_order() || filter.has_functions() || filter.hide_unresolved {
        return Ok(None);
    }
    let n_chunks = query.recording.index.chunks.len();
    let mut done = |done| progress(progress_of(0.1, 0.8, done, n_chunks));
    let result = run(query, &LightPass { query, grouping }, &mut done)?;
    let threads: Vec<ThreadGroups> = result.locals.into_iter().map(Local::finish).collect();
    if !are_light(query, &threads, percent) {
        return Ok(None);
    }
    let places = grouping.places().into_iter();
    let mut locations = distinct(threads.iter().flat_map(|thread| &thread.locations));
    locations.extend(places.map(|place| query.stacks.chains.counted(place)));
    let mut symbols = query.symbolize(distinct(locations.iter()), request)?;
    let mut counts = Counts::new(query.recording.reader.events().len());
    counts.ignored = result.ignored;
    let image = symbols.strings.intern("");
    let any = FrameInfo::named(symbols.strings.intern(ANY), image);
    let any = symbols.functions.intern(any);
    for thread in threads {
        counts.ends.merge(&thread.ends);
        for (location, weight) in thread.locations.iter().zip(thread.weights) {
            let image = symbols.unnamed_image(symbols.number(*location));
            counts.unnamed.add(image, weight);
        }
        for (tally, (event, counted)) in counts.tallies.iter_mut().zip(thread.events) {
            tally.add_samples(event.samples, event.weight);
            for (key, count) in event.groups.into_iter().zip(counted) {
                if count.samples > 0 {
                    let group = tally.group(key);
                    tally.add_stack(group, std::iter::once(any), count);
                }
            }
        }
    }
    Ok(Some((symbols, counts)))
}

/// Whether no row of any event is as heavy, whether its rows are told apart by the names of threads or not.
fn are_light(query: &Query<'_>, threads: &[ThreadGroups], percent: f64) -> bool {
    (0..query.recording.reader.events().len()).all(|event| {
        let mut weights: HashMap<GroupKey, u64> = HashMap::default();
        let (mut all, mut shown) = (0_u64, 0_u64);
        for (event, counted) in threads.iter().filter_map(|thread| thread.events.get(event)) {
            all = all.saturating_add(event.weight);
            for (group, count) in event.groups.iter().zip(counted) {
                let weight = weights.entry(group.without_name()).or_default();
                *weight = weight.saturating_add(count.weight);
                shown = shown.saturating_add(count.weight);
            }
        }
        // Shares are of one of the two.
        let whole = shown.min(all);
        let least = Pruning::below_percent(percent, whole).min_weight(whole);
        weights.values().all(|&weight| weight < least)
    })
}

/// Counts samples by group, and finds the locations of all stacks.
struct LightPass<'a> {
    query: &'a Query<'a>,
    grouping: &'a Grouping<'a>,
}

/// A thread's counts.
struct Local {
    tallies: GroupedTallies,
    /// By event and number of the group: samples that were taken anywhere.
    groups: Vec<Vec<SampleCount>>,
    numbers: Interner<u32, Location, RandomState>,
    /// By number of the location: the weight of samples that were taken there.
    weights: Vec<u64>,
    cache: LocationCache,
    ends: StackEndCounts,
}

/// What a thread counted.
struct ThreadGroups {
    /// Totals and groups by event, with what each group counted.
    events: Vec<(TallyParts<GroupKey>, Vec<SampleCount>)>,
    locations: Vec<Location>,
    weights: Vec<u64>,
    ends: StackEndCounts,
}

/// Of a stack without locations.
const NOWHERE: u32 = u32::MAX;

impl Local {
    fn finish(self) -> ThreadGroups {
        let tallies = self.tallies.into_tallies().into_iter();
        ThreadGroups {
            events: tallies.map(Tally::into_parts).zip(self.groups).collect(),
            locations: self.numbers.into_values(),
            weights: self.weights,
            ends: self.ends,
        }
    }

    fn count(&mut self, event: usize, group: u32, innermost: u32, count: SampleCount) {
        if innermost == NOWHERE {
            return;
        }
        if let Some(groups) = self.groups.get_mut(event) {
            place(groups, group).add(count);
            let weight = place(&mut self.weights, innermost);
            *weight = weight.saturating_add(count.weight);
        }
    }
}

impl Pass for LightPass<'_> {
    type Local = Local;
    /// The number of the innermost location.
    type Stack = u32;

    fn local(&self) -> Local {
        Local {
            tallies: GroupedTallies::of(self.query),
            groups: vec![Vec::new(); self.query.recording.reader.events().len()],
            numbers: Interner::default(),
            weights: Vec::new(),
            cache: LocationCache::new(),
            ends: StackEndCounts::default(),
        }
    }

    #[inline]
    fn tells_groups_apart(&self) -> bool {
        false
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let tallied = sample.into();
        local.tallies.take(self.query, self.grouping, &tallied)
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<u32>,
    ) -> Option<u32> {
        local.ends.add(sample.end);
        let innermost = known.unwrap_or_else(|| self.innermost(local, sample));
        let decoded = sample.decoded;
        let count = SampleCount::one(self.query.weight(decoded));
        local.count(decoded.event, group_number(sample.group), innermost, count);
        known.is_none().then_some(innermost)
    }
}

impl LightPass<'_> {
    /// Finds all locations of a stack; returns the number of the innermost.
    fn innermost(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> u32 {
        let history = &self.query.recording.index.history;
        let chains = self.query.stacks.chains;
        let (numbers, cache) = (&mut local.numbers, &mut local.cache);
        let mut innermost = None;
        sample.for_each_address(|address| {
            let number = cache.value(history, sample.mappings, address, |location| {
                numbers.intern(chains.counted(location))
            });
            innermost.get_or_insert(number);
        });
        innermost.unwrap_or(NOWHERE)
    }
}
