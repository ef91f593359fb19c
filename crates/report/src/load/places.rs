//! The second pass: which places occur at all.

use super::chain::{Address, for_each_address};
use super::memo::{Memo, StackKey};
use super::resolve::{Cache, PlaceKey, Space, Tasks};
use super::samples::Seen;
use super::unwinding::{Unwinding, Walked};
use super::{Context, parallel};
use crate::Error;
use foldhash::HashSet;

/// One thread's share.
struct Share {
    memo: Memo<()>,
    tasks: Tasks,
    seen: Cache,
    places: HashSet<PlaceKey>,
    unwinding: Unwinding,
    /// Of the batch at hand.
    keys: Vec<(StackKey, Space, Walked)>,
}

/// All places of the samples that the filter lets through, sorted: those of their stacks, and of
/// what `more` says of a sample.
pub(crate) fn collect(
    context: &Context<'_>,
    more: impl Fn(&Seen<'_>, &mut dyn FnMut(Address)) + Sync,
    done: &mut dyn FnMut(usize),
) -> Result<Vec<PlaceKey>, Error> {
    let new_share = || Share {
        memo: Memo::new(context.skimmed.n_samples),
        tasks: Tasks::new(),
        seen: Cache::new(),
        places: HashSet::default(),
        unwinding: Unwinding::default(),
        keys: Vec::new(),
    };
    let collect = |share: &mut Share, chunk: usize| {
        context.for_each_batch(chunk, |batch| share.take(context, batch, &more))?;
        Ok(())
    };
    let shares = parallel::for_each(context.chunks(), new_share, collect, done)?;
    let mut all: Vec<PlaceKey> = shares.into_iter().flat_map(|share| share.places).collect();
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

impl Share {
    fn take(
        &mut self,
        context: &Context<'_>,
        batch: &[Seen<'_>],
        more: &impl Fn(&Seen<'_>, &mut dyn FnMut(Address)),
    ) {
        let history = &context.skimmed.history;
        let stacks = context.chains.stacks;
        let Self {
            memo,
            tasks,
            seen: cache,
            places,
            unwinding,
            keys,
        } = self;
        keys.clear();
        unwinding.clear();
        keys.extend(batch.iter().map(|seen| {
            let (space, _) = tasks.at(history, (seen.pid, seen.tid), seen.key);
            let walked = unwinding.walk(context, seen, space);
            let user = unwinding.user_part(seen, &walked);
            let key = memo.key((seen, user), space, context.chains, 0);
            (key, space, walked)
        }));
        memo.touch(keys.iter().map(|(key, ..)| *key));
        for (seen, (key, space, walked)) in batch.iter().zip(&*keys) {
            let mut add = |address| {
                cache.value(history, *space, address, |place| {
                    places.insert(match stacks {
                        true => place.in_stacks(),
                        false => place,
                    });
                    0
                });
            };
            more(seen, &mut add);
            if memo.find(*key).is_some() {
                continue;
            }
            memo.note(*key, ());
            let user = unwinding.user_part(seen, walked);
            let misc = seen.raw.misc;
            for_each_address(&seen.sample, user, misc, context.chains, add);
        }
    }
}
