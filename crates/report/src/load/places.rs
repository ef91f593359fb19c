//! The second pass: which places occur at all.

use super::chain::for_each_address;
use super::resolve::{Cache, PlaceKey, Space};
use super::{Context, parallel};
use crate::Error;
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
            let misc = seen.raw.misc;
            for_each_address(
                &seen.sample,
                seen.deferred,
                misc,
                context.chains,
                |address| {
                    cache.value(history, space, address, |place| {
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
