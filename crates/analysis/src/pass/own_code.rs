//! The pass of annotation: samples counted by the code location that each was taken at, by event. Where callers are
//! asked for, only those whose stack has one of them further out.

use super::driver::{Pass, ResolvedSample, TaskSample, run};
use super::query::Query;
use crate::Error;
use crate::locations::{Location, LocationCache, ShownTasks, distinct};
use crate::samples::IgnoredSamples;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::SampleCount;

/// Samples by where they were taken.
#[derive(Debug, Default)]
pub(crate) struct CodeCounts {
    /// By event of the recording: all samples that fit the filter, with an address or without, below a caller
    /// that is asked for or not.
    pub(crate) all: Vec<SampleCount>,
    /// By event: samples at each location.
    pub(crate) at: Vec<HashMap<Location, SampleCount>>,
    /// What could not be used.
    pub(crate) ignored: IgnoredSamples,
}

impl CodeCounts {
    /// Nothing.
    pub(super) fn new(n_events: usize) -> Self {
        Self {
            all: vec![SampleCount::default(); n_events],
            at: vec![HashMap::default(); n_events],
            ignored: IgnoredSamples::default(),
        }
    }

    /// All locations, sorted.
    pub(crate) fn locations(&self) -> Vec<Location> {
        distinct(self.at.iter().flat_map(HashMap::keys))
    }

    fn merge(&mut self, local: Local) {
        for (all, one) in self.all.iter_mut().zip(local.all) {
            *all += one;
        }
        let locations = local.numbers.into_values();
        for (at, counts) in self.at.iter_mut().zip(local.at) {
            for (number, count) in counts {
                if let Some(&location) = locations.get(number as usize) {
                    *at.entry(location).or_default() += count;
                }
            }
        }
    }
}

/// Counts samples by location. `is_caller` says of a location whether it is code of a caller that stacks must have
/// further out; without it, all count.
pub(crate) fn count_code(
    query: &Query<'_>,
    is_caller: Option<&(dyn Fn(Location) -> bool + Sync)>,
    done: &mut dyn FnMut(usize),
) -> Result<CodeCounts, Error> {
    let n_events = query.recording.reader.events().len();
    let pass = CodePass {
        query,
        is_caller,
        n_events,
    };
    let result = run(query, &pass, done)?;
    let mut counts = CodeCounts::new(n_events);
    counts.ignored = result.ignored;
    result.locals.into_iter().for_each(|one| counts.merge(one));
    Ok(counts)
}

struct CodePass<'a> {
    query: &'a Query<'a>,
    is_caller: Option<&'a (dyn Fn(Location) -> bool + Sync)>,
    n_events: usize,
}

/// A thread's counts.
struct Local {
    numbers: Interner<u32, Location, RandomState>,
    cache: LocationCache,
    shown: ShownTasks,
    all: Vec<SampleCount>,
    /// By event, by number of the location.
    at: Vec<HashMap<u32, SampleCount>>,
}

/// What is remembered of a stack: the number of its innermost location, or that it does not count.
#[derive(Clone, Copy, Default)]
pub(crate) struct Innermost(Option<u32>);

impl Pass for CodePass<'_> {
    type Local = Local;
    type Stack = Innermost;

    fn local(&self) -> Local {
        Local {
            numbers: Interner::default(),
            cache: LocationCache::new(),
            shown: ShownTasks::default(),
            all: vec![SampleCount::default(); self.n_events],
            at: vec![HashMap::default(); self.n_events],
        }
    }

    #[inline]
    fn group(&self, local: &mut Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        let decoded = sample.decoded;
        let samples = &self.query.samples;
        let history = &self.query.recording.index.history;
        let id = (decoded.pid, decoded.tid);
        let is_shown = local.shown.has(samples.filter, history, id, sample.task);
        (is_shown && samples.shows(decoded)).then_some(decoded.event as u64)
    }

    #[inline]
    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<Innermost>,
    ) -> Option<Innermost> {
        let innermost = known.unwrap_or_else(|| self.innermost(local, sample));
        let event = sample.decoded.event;
        let count = SampleCount::one(self.query.weight(sample.decoded));
        if let Some(all) = local.all.get_mut(event) {
            *all += count;
        }
        if let (Some(number), Some(at)) = (innermost.0, local.at.get_mut(event)) {
            *at.entry(number).or_default() += count;
        }
        Some(innermost)
    }
}

impl CodePass<'_> {
    fn innermost(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> Innermost {
        let history = &self.query.recording.index.history;
        let chains = self.query.stacks.chains;
        let Local { numbers, cache, .. } = local;
        let mut innermost = None;
        let mut has_caller = self.is_caller.is_none();
        sample.for_each_address(|address| {
            if innermost.is_some() && has_caller {
                return;
            }
            let number = cache.value(history, sample.mappings, address, |location| {
                numbers.intern(chains.counted(location))
            });
            match (innermost, self.is_caller) {
                (None, _) => innermost = Some(number),
                (Some(_), Some(is_caller)) => {
                    let location = numbers.values().get(number as usize);
                    has_caller |= location.is_some_and(|&location| is_caller(location));
                }
                (Some(_), None) => {}
            }
        });
        Innermost(innermost.filter(|_| has_caller))
    }
}
