//! The one driver of all passes over samples: filter, tasks, stacks, stack cache with prefetch, threads over chunks.

use super::query::Query;
use crate::Error;
use crate::locations::{Address, Mappings, TaskCache, TaskName, task_name};
use crate::samples::{DecodedSample, IgnoredSamples};
use crate::stacks::{
    EndInImage, StackCache, StackKey, StackWalker, UserStack, WalkedStack, for_each_address,
};
use crate::threads;

/// A pass over samples. Threads share it; each has a state of its own.
pub(crate) trait Pass: Sync {
    /// A thread's state.
    type Local: Send;
    /// What the pass makes of a stack. A thread remembers it for the next sample with the same stack.
    type Stack: Copy + Default + Send;

    /// The state of a new thread.
    fn local(&self) -> Self::Local;

    /// Is told that the samples of a chunk follow.
    fn start_chunk(&self, _local: &mut Self::Local, _chunk: usize) {}

    /// Takes a sample before its stack is looked at: the number of the group that it is counted in, or `None` if it
    /// is left out. Equal stacks of different groups are different stacks.
    fn group(&self, local: &mut Self::Local, sample: &TaskSample<'_, '_>) -> Option<u64>;

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
pub(crate) struct TaskSample<'s, 'r> {
    pub(crate) decoded: &'s DecodedSample<'r>,
    pub(crate) task: TaskName,
}

/// A sample with its task and its stack.
#[derive(Debug)]
pub(crate) struct ResolvedSample<'s, 'r> {
    query: &'s Query<'s>,
    pub(crate) decoded: &'s DecodedSample<'r>,
    pub(crate) mappings: Mappings,
    pub(crate) task: TaskName,
    /// As [`Pass::group`] said.
    pub(crate) group: u64,
    /// How its stack ended; `None` if there was nothing to unwind.
    pub(crate) end: Option<EndInImage>,
    user: UserStack<'s>,
}

impl ResolvedSample<'_, '_> {
    /// Calls `visit` for each address of its stack, innermost first.
    #[inline]
    pub(crate) fn for_each_address(&self, visit: impl FnMut(Address)) {
        let (head, misc) = (&self.decoded.head, self.decoded.raw.misc);
        for_each_address(head, self.user, misc, self.query.stacks.chains, visit);
    }
}

/// What a pass over all samples came to.
#[derive(Debug)]
pub(crate) struct PassResult<L> {
    /// The states of all threads.
    pub(crate) locals: Vec<L>,
    /// What could not be used.
    pub(crate) ignored: IgnoredSamples,
}

/// A thread's part of the driver.
struct Driver<L, S> {
    local: L,
    cache: StackCache<S>,
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
    walked: WalkedStack,
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
    let new_driver = || Driver {
        local: pass.local(),
        cache: StackCache::new(query.recording.index.n_samples),
        tasks: TaskCache::new(),
        walker: StackWalker::default(),
        ignored: IgnoredSamples::default(),
        pending: Vec::new(),
    };
    let take = |driver: &mut Driver<P::Local, P::Stack>, nth: usize| {
        let samples = &query.samples;
        let chunk = chunks.get(nth).copied().unwrap_or(usize::MAX);
        pass.start_chunk(&mut driver.local, chunk);
        let ignored = samples.for_each_batch(chunk, |batch| driver.take(query, pass, batch))?;
        driver.ignored.add(ignored);
        Ok(())
    };
    let (_, n_threads) = query.samples.chunks();
    let work = (chunks.len(), n_threads);
    let drivers = threads::for_each(work, new_driver, take, done)?;
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
    fn take<P: Pass<Local = L, Stack = S>>(
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
        self.cache.prefetch(pending.iter().map(|one| one.key));
        for one in &pending {
            let decoded = &batch[one.at];
            let sample = ResolvedSample {
                query,
                decoded,
                mappings: one.mappings,
                task: one.task,
                group: one.group,
                end: one.walked.end,
                user: self.walker.user_part(decoded, &one.walked),
            };
            let known = self.cache.get(one.key);
            let stack = pass.sample(&mut self.local, &sample, known);
            if let (None, Some(stack)) = (known, stack) {
                self.cache.insert(one.key, stack);
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
            task: task_name(id, comm),
        };
        let group = pass.group(&mut self.local, &sample)?;
        let walked = self.walker.walk(&query.stacks, decoded, mappings);
        let user = self.walker.user_part(decoded, &walked);
        Some(Pending {
            at,
            key: self
                .cache
                .key((decoded, user), mappings, query.stacks.chains, group),
            mappings,
            task: sample.task,
            walked,
            group,
        })
    }
}
