//! The second pass: which places occur at all.

use super::chain::for_each_address;
use super::resolve::{Cache, PlaceKey, Space};
use super::{Context, parallel};
use crate::Error;
use rprof_abi::{RawRecord, RecordKind, Sample};
use rprof_perfdata::Step;
use rustc_hash::FxHashSet;

/// One thread's share.
struct Share {
    seen: Cache<()>,
    places: FxHashSet<PlaceKey>,
}

/// All places of the samples that the filter lets through, sorted.
pub(crate) fn collect(
    context: &Context<'_>,
    done: &mut dyn FnMut(usize),
) -> Result<Vec<PlaceKey>, Error> {
    let new_share = || Share {
        seen: Cache::new(),
        places: FxHashSet::default(),
    };
    let collect = |share: &mut Share, chunk: usize| {
        context.for_each_sample(chunk, |seen| {
            let history = &context.skimmed.history;
            let space = Space::at(history, seen.pid, seen.key);
            let Share {
                seen: cache,
                places,
            } = &mut *share;
            for_each_address(
                &seen.sample,
                seen.raw.misc,
                context.chains,
                |level, avma| {
                    cache.value(history, space, level, avma, |place| {
                        places.insert(place);
                    });
                },
            );
        })?;
        Ok(())
    };
    let n_chunks = context.skimmed.chunks.len();
    let shares = parallel::for_each(n_chunks, new_share, collect, done)?;
    let mut all: Vec<PlaceKey> = shares.into_iter().flat_map(|share| share.places).collect();
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// A sample that the filter lets through, with what every pass asks of it.
pub(crate) struct Seen<'r> {
    pub(crate) raw: RawRecord<'r>,
    pub(crate) sample: Sample<'r>,
    pub(crate) event: usize,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) key: rprof_machine::Key,
}

impl Context<'_> {
    /// Decodes the samples of a chunk; returns how many could not be.
    pub(crate) fn for_each_sample(
        &self,
        chunk: usize,
        mut visit: impl FnMut(Seen<'_>),
    ) -> Result<u64, Error> {
        let mut n_bad = 0;
        let Some(range) = self.skimmed.chunks.get(chunk) else {
            return Ok(n_bad);
        };
        self.reader.walk(range.clone(), |offset, raw| {
            if raw.kind == RecordKind::SAMPLE {
                match self.see(offset, raw) {
                    None => n_bad += 1,
                    Some(seen) if self.filter.sees(seen.sample.cpu, seen.sample.time_ns) => {
                        visit(seen);
                    }
                    Some(_) => {}
                }
            }
            Step::On
        })?;
        Ok(n_bad)
    }

    /// Decodes one sample; `None` if its event is not known, or it is shorter than its fields.
    #[inline]
    fn see<'r>(&self, offset: u64, raw: RawRecord<'r>) -> Option<Seen<'r>> {
        let event = self.reader.event_of(raw)?;
        let layout = &self.reader.events().get(event)?.layout;
        let sample = layout.parse_sample(raw.body).ok()?;
        Some(Seen {
            raw,
            event,
            pid: sample.pid.unwrap_or(-1),
            tid: sample.tid.unwrap_or(-1),
            key: self.skimmed.key(sample.time_ns, offset),
            sample,
        })
    }
}
