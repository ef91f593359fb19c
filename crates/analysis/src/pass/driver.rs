//! The one driver of all passes over samples: filter, tasks, stacks, stack cache with prefetch, threads over chunks.

use super::query::Query;
use crate::Error;
use crate::index::has_stack;
use crate::locations::{Address, Mappings, TaskCache, TaskName, task_name};
use crate::samples::{DecodedSample, IgnoredSamples};
use crate::stacks::{
    EndInImage, First, Missing, StackCache, StackKey, StackWalker, UserPart, UserStack,
    WalkedStack, for_each_address, own_address,
};
use rprof_base::parallel;

/// A pass over samples. Threads share it; each has a state of its own.
pub(crate) trait Pass: Sync {
    /// A thread's state.
    type Local: Send;
    /// What the pass makes of a stack. A thread remembers it for the next sample with the same stack.
    type Stack: Copy + Default + Send;

    /// The state of a new thread.
    fn local(&self) -> Self::Local;

    /// Is told that the samples of a chunk follow. Returns whether they are wanted.
    fn start_chunk(&self, _local: &mut Self::Local, _chunk: usize) -> bool {
        true
    }

    /// Takes a sample before its stack is looked at: the number of the group that it is counted in, or `None` if it
    /// is left out. Equal stacks of different groups are different stacks.
    fn group(&self, local: &mut Self::Local, sample: &TaskSample<'_, '_>) -> Option<u64>;

    /// Whether what is made of a stack is that of its group alone; else groups share it.
    #[inline]
    fn tells_groups_apart(&self) -> bool {
        true
    }

    /// Whether the stack of a sample is asked for. The others are not walked.
    #[inline]
    fn wants_stack(&self, _decoded: &DecodedSample<'_>) -> bool {
        true
    }

    /// Takes a sample with its stack. `known` is what was made of the stack before. Returns what to remember.
    fn sample(
        &self,
        local: &mut Self::Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<Self::Stack>,
    ) -> Option<Self::Stack>;
}

/// A sample and its task.
#[derive(Debug)]
pub struct TaskSample<'s, 'r> {
    /// The sample.
    pub decoded: &'s DecodedSample<'r>,
    /// The mappings of its task.
    pub mappings: Mappings,
    /// Whom it is of.
    pub task: TaskName,
}

impl TaskSample<'_, '_> {
    /// Where it was taken, if that was recorded.
    pub fn own_address(&self) -> Option<Address> {
        own_address(&self.decoded.head, self.decoded.raw.misc)
    }
}

/// A sample with its task and its stack.
#[derive(Debug)]
pub struct ResolvedSample<'s, 'r> {
    query: &'s Query<'s>,
    /// The sample.
    pub decoded: &'s DecodedSample<'r>,
    /// The mappings of its task.
    pub mappings: Mappings,
    /// Whom it is of.
    pub task: TaskName,
    /// As [`Pass::group`] said.
    pub(crate) group: u64,
    /// How its stack ended; `None` if there was nothing to unwind.
    pub end: Option<EndInImage>,
    /// `None` if it is not asked for.
    user: Option<UserStack<'s>>,
}

impl ResolvedSample<'_, '_> {
    /// Where it was taken, if that was recorded.
    pub(crate) fn own_address(&self) -> Option<Address> {
        own_address(&self.decoded.head, self.decoded.raw.misc)
    }

    /// Calls `visit` for each address of its stack, innermost first.
    #[inline]
    pub fn for_each_address(&self, mut visit: impl FnMut(Address)) {
        if !self.decoded.has_stack() {
            visit(Address::NO_STACK);
            return;
        }
        self.visit_addresses(self.user, self.query.stacks.chains.first, visit);
    }

    /// The same, as other tools show them: the first is the chain's, and nothing stands for outermost frames that are
    /// missing.
    pub fn for_each_recorded_address(&self, visit: impl FnMut(Address)) {
        let mut user = self.user;
        if let Some(user) = &mut user
            && user.missing == Missing::Outermost
        {
            user.missing = Missing::Nothing;
        }
        let events = self.query.recording.reader.events();
        let has_stack = events
            .get(self.decoded.recorded_event)
            .is_some_and(has_stack);
        let is_unwound = user.is_some_and(|user| !matches!(user.part, UserPart::Recorded));
        // Of stacks that could not be unwound the first frame is known.
        let first = if has_stack && !is_unwound {
            First::Own
        } else {
            First::OfChain
        };
        self.visit_addresses(user, first, visit);
    }

    #[inline]
    fn visit_addresses(
        &self,
        user: Option<UserStack<'_>>,
        first: First,
        visit: impl FnMut(Address),
    ) {
        let (head, misc) = (&self.decoded.head, self.decoded.raw.misc);
        let mut chains = self.query.stacks.chains;
        chains.first = first;
        chains.stacks &= user.is_some();
        let user = user.unwrap_or(UserStack::RECORDED);
        for_each_address(head, user, misc, chains, visit);
    }
}

/// What a pass over all samples came to.
pub(super) struct PassResult<L> {
    /// The states of all threads.
    pub(super) locals: Vec<L>,
    /// What could not be used.
    pub(super) ignored: IgnoredSamples,
}

/// A thread's part of the driver.
pub(super) struct Driver<L, S> {
    pub(super) local: L,
    /// `None` if no stack is remembered.
    cache: Option<StackCache<S>>,
    tasks: TaskCache,
    walker: StackWalker,
    ignored: IgnoredSamples,
    /// Of the batch at hand.
    pending: Vec<Pending>,
}

/// A sample of the batch at hand that the pass takes.
struct Pending {
    /// Its position in the batch.
    at: usize,
    key: StackKey,
    mappings: Mappings,
    task: TaskName,
    /// `None` if its stack is not asked for.
    walked: Option<WalkedStack>,
    group: u64,
}

/// Runs a pass over all samples of a query. `done` is told how many chunks have been read so far.
pub(crate) fn run<P: Pass>(
    query: &Query<'_>,
    pass: &P,
    done: &mut dyn FnMut(usize),
) -> Result<PassResult<P::Local>, Error> {
    let all: Vec<usize> = (0..query.samples.chunks().0).collect();
    run_over(query, &all, pass, done)
}

/// The same, over the samples of some chunks.
pub(crate) fn run_over<P: Pass>(
    query: &Query<'_>,
    chunks: &[usize],
    pass: &P,
    done: &mut dyn FnMut(usize),
) -> Result<PassResult<P::Local>, Error> {
    let n_samples = query.recording.index.n_samples;
    let new_driver = || Driver::new(pass.local(), Some(StackCache::new(n_samples)));
    let take = |driver: &mut Driver<P::Local, P::Stack>, nth: usize| -> Result<(), Error> {
        let samples = &query.samples;
        let chunk = chunks.get(nth).copied().unwrap_or(usize::MAX);
        if !pass.start_chunk(&mut driver.local, chunk) {
            return Ok(());
        }
        let ignored = samples.for_each_batch(chunk, |batch| driver.take(query, pass, batch))?;
        driver.ignored.add(ignored);
        Ok(())
    };
    let (_, n_threads) = query.samples.chunks();
    let work = (chunks.len(), n_threads);
    let drivers = parallel::for_each(work, new_driver, take, done)?;
    let mut result = PassResult {
        locals: Vec::with_capacity(drivers.len()),
        ignored: IgnoredSamples::default(),
    };
    for driver in drivers {
        result.ignored.add(driver.ignored);
        result.locals.push(driver.local);
    }
    Ok(result)
}

impl<L, S: Copy + Default> Driver<L, S> {
    pub(super) fn new(local: L, cache: Option<StackCache<S>>) -> Self {
        Self {
            local,
            cache,
            tasks: TaskCache::new(),
            walker: StackWalker::default(),
            ignored: IgnoredSamples::default(),
            pending: Vec::new(),
        }
    }

    /// Takes some samples at once.
    pub(super) fn take<P: Pass<Local = L, Stack = S>>(
        &mut self,
        query: &Query<'_>,
        pass: &P,
        batch: &[DecodedSample<'_>],
    ) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        self.walker.clear();
        for (at, decoded) in batch.iter().enumerate() {
            pending.extend(self.look_at(query, pass, at, decoded));
        }
        if let Some(cache) = &self.cache {
            cache.prefetch(pending.iter().map(|one| one.key));
        }
        for one in &pending {
            let decoded = &batch[one.at];
            let sample = ResolvedSample {
                query,
                decoded,
                mappings: one.mappings,
                task: one.task,
                group: one.group,
                end: one.walked.as_ref().and_then(|walked| walked.end),
                user: user_part(&self.walker, decoded, one.walked.as_ref()),
            };
            let known = self.cache.as_ref().and_then(|cache| cache.get(one.key));
            let stack = pass.sample(&mut self.local, &sample, known);
            if let (None, Some(stack), Some(cache)) = (known, stack, &mut self.cache) {
                cache.insert(one.key, stack);
            }
        }
        self.pending = pending;
    }

    #[inline]
    fn look_at<P: Pass<Local = L, Stack = S>>(
        &mut self,
        query: &Query<'_>,
        pass: &P,
        at: usize,
        decoded: &DecodedSample<'_>,
    ) -> Option<Pending> {
        let id = (decoded.pid, decoded.tid);
        let history = &query.recording.index.history;
        let (mappings, comm) = self.tasks.at(history, id, decoded.key);
        let sample = TaskSample {
            decoded,
            mappings,
            task: task_name(id, comm),
        };
        let group = pass.group(&mut self.local, &sample)?;
        let walked = (decoded.has_stack() && pass.wants_stack(decoded))
            .then(|| self.walker.walk(&query.stacks, decoded, mappings));
        let key = self.cache.as_ref().map(|cache| {
            let user = user_part(&self.walker, decoded, walked.as_ref());
            let user = user.unwrap_or(UserStack::RECORDED);
            let group = if pass.tells_groups_apart() { group } else { 0 };
            cache.key((decoded, user), mappings, query.stacks.chains, group)
        });
        Some(Pending {
            at,
            key: key.unwrap_or_default(),
            mappings,
            task: sample.task,
            walked,
            group,
        })
    }
}

#[inline]
fn user_part<'c>(
    walker: &'c StackWalker,
    decoded: &DecodedSample<'c>,
    walked: Option<&WalkedStack>,
) -> Option<UserStack<'c>> {
    walked.map(|walked| walker.user_part(decoded, walked))
}
