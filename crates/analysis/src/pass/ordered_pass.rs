//! Passes that write samples in order of time: one thread orders them, others run the pass over some at a time, and the
//! caller's gets what they wrote, in order.

use super::driver::{Driver, Pass, ResolvedSample, TaskSample};
use super::ordered::{Item, OrderedBatch, OrderedRecord, WantedRecords, for_each_batch};
use super::query::Query;
use super::written::{WrittenCounts, WrittenSamples};
use crate::Error;
use crate::locations::ShownTasks;
use crate::samples::{BATCH, DecodedSample, IgnoredSamples};
use crate::stacks::StackCache;
use crate::symbolize::Symbols;
use crossbeam_channel::{Receiver, Sender, bounded};
use rprof_abi::RecordKind;
use rprof_base::parallel;
use rprof_machine::ImageId;
use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

/// A pass that writes each sample. Threads share it; each has a state of its own.
pub trait OrderedPass: Sync {
    /// A thread's state.
    type Local: Send;
    /// What a sample must know of those before it.
    type Before: Copy + Default + Send;
    /// What the pass makes of a stack. A thread remembers it for the next sample with the same stack, if
    /// [`Self::REMEMBERS_STACKS`] says so.
    type Stack: Copy + Default + Send;

    /// Whether stacks are remembered: not where each frame is written again.
    const REMEMBERS_STACKS: bool = false;

    /// The state of a new thread.
    fn local(&self) -> Self::Local;

    /// Adds samples to what those after them must know. All samples come, in order.
    fn pass_on<'s>(
        &self,
        before: &mut Self::Before,
        samples: impl Iterator<Item = DecodedSample<'s>>,
    );

    /// Is told of the samples before those that follow.
    fn start(&self, local: &mut Self::Local, before: Self::Before);

    /// Whether a sample is written. Tasks that the filter hides are left out before.
    fn wants(&self, sample: &TaskSample<'_, '_>) -> bool;

    /// Whether it is written with its stack.
    fn wants_stack(&self, decoded: &DecodedSample<'_>) -> bool;

    /// Whether it is written after all, now that its stack is known.
    fn keeps(&self, _local: &mut Self::Local, _sample: &ResolvedSample<'_, '_>) -> bool {
        true
    }

    /// Writes a sample. `known` is what was made of its stack before. Returns what to remember.
    fn sample(
        &self,
        local: &mut Self::Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<Self::Stack>,
        out: &mut Vec<u8>,
    ) -> Option<Self::Stack>;

    /// Which other records are written, if any are.
    fn wanted_records(&self) -> Option<&dyn Fn(RecordKind) -> bool> {
        None
    }

    /// Whether everything is written as it is in the file, whatever its time.
    fn in_file_order(&self) -> bool {
        false
    }

    /// The names of what is written, if there are any: what lacks one is counted.
    fn symbols(&self) -> Option<&Symbols> {
        None
    }

    /// Writes another record.
    fn record(&self, _record: &OrderedRecord<'_>, _out: &mut Vec<u8>) {}
}

/// What a pass in order of time came to.
#[derive(Debug)]
pub struct OrderedResult<L> {
    /// The states of all threads.
    pub locals: Vec<L>,
    /// The samples.
    pub samples: WrittenSamples,
}

/// Samples that a thread takes at a time. What it writes of them stays in its cache.
const JOB: usize = 1 << 8;

/// Jobs for each thread that may be under way: they are all that is in memory.
const JOBS: usize = 4;

/// A thread remembers as many stacks as for a recording of this many samples, however long it is: 12 MiB of them.
const MAX_REMEMBERED: u64 = 1 << 20;

/// Part of a batch.
struct Job<B> {
    batch: Arc<OrderedBatch>,
    entries: Range<usize>,
    before: B,
    /// Takes what was written.
    written: Sender<Vec<u8>>,
}

/// What will be written of a job, and of how many samples and records that is.
type Written = (usize, Receiver<Vec<u8>>);

/// Where jobs go.
struct Jobs<B> {
    todo: Sender<Job<B>>,
    /// What will be written of each, in order.
    order: Sender<Written>,
}

/// Runs a pass over all samples of a query, in order of time. `deliver` gets what was written, in order, on the calling
/// thread, and of how many samples and records that is; when it returns false, the pass ends.
///
/// # Errors
/// [`Error`] if the recording cannot be read.
pub fn run_ordered<P: OrderedPass>(
    query: &Query<'_>,
    pass: &P,
    deliver: &mut dyn FnMut(&[u8], usize) -> bool,
) -> Result<OrderedResult<P::Local>, Error> {
    let n_threads = parallel::n_cpus();
    let n_jobs = JOBS * n_threads;
    let (todo_in, todo) = bounded(n_jobs);
    let (order_in, order) = bounded(n_jobs);
    let (used, unused) = bounded(n_jobs);
    let jobs = Jobs {
        todo: todo_in,
        order: order_in,
    };
    // The channels' ends are owned where they are used: one that stops early ends the others, too.
    thread::scope(move |scope| {
        let reading = thread::Builder::new()
            .spawn_scoped(scope, move || send_in_order(query, pass, &jobs))
            .map_err(Error::Thread)?;
        let mut working = Vec::new();
        for _ in 0..n_threads {
            let (todo, unused) = (todo.clone(), unused.clone());
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || work(query, pass, &todo, &unused));
            working.push(thread.map_err(Error::Thread)?);
        }
        drop((todo, unused));
        deliver_in_order(order, &used, deliver);
        let mut samples = WrittenSamples::default();
        let locals = working.into_iter().map(joined).map(|(local, written)| {
            samples.merge(written);
            local
        });
        let locals = locals.collect();
        samples.ignored.add(joined(reading)?);
        Ok(OrderedResult { locals, samples })
    })
}

/// What a thread made; its panic goes on here.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(made) => made,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn send_in_order<P: OrderedPass>(
    query: &Query<'_>,
    pass: &P,
    jobs: &Jobs<P::Before>,
) -> Result<IgnoredSamples, Error> {
    let mut before = P::Before::default();
    let records = WantedRecords {
        kinds: pass.wanted_records(),
        in_file_order: pass.in_file_order(),
    };
    for_each_batch(query, records, |batch| {
        let batch = Arc::new(batch);
        let n = batch.entries.len();
        (0..n).step_by(JOB).all(|start| {
            let entries = start..(start + JOB).min(n);
            let n_entries = entries.len();
            let (written, receiver) = bounded(1);
            let job = Job {
                batch: Arc::clone(&batch),
                entries: entries.clone(),
                before,
                written,
            };
            pass.pass_on(&mut before, batch.samples(query, entries));
            jobs.order.send((n_entries, receiver)).is_ok() && jobs.todo.send(job).is_ok()
        })
    })
}

fn work<P: OrderedPass>(
    query: &Query<'_>,
    pass: &P,
    todo: &Receiver<Job<P::Before>>,
    unused: &Receiver<Vec<u8>>,
) -> (P::Local, WrittenSamples) {
    let pass = Ordered { query, pass };
    let cache = P::REMEMBERS_STACKS.then(|| {
        let n_samples = query.recording.index.n_samples;
        StackCache::new(n_samples.min(MAX_REMEMBERED))
    });
    let mut driver = Driver::new(pass.local(), cache);
    for job in todo {
        pass.pass.start(&mut driver.local.of_pass, job.before);
        driver.local.out = unused.try_recv().unwrap_or_default();
        take_job(&mut driver, &pass, &job);
        if job
            .written
            .send(std::mem::take(&mut driver.local.out))
            .is_err()
        {
            break;
        }
    }
    (driver.local.of_pass, driver.local.counts.samples)
}

fn take_job<'p, P: OrderedPass>(
    driver: &mut Driver<Local<'p, P::Local>, Remembered<P::Stack>>,
    pass: &Ordered<'p, P>,
    job: &Job<P::Before>,
) {
    let query = pass.query;
    let mut batch = Vec::with_capacity(BATCH);
    let mut scratch = Vec::new();
    for item in job.batch.items(query, job.entries.clone()) {
        let decoded = match item {
            Item::Sample(decoded) => decoded,
            Item::Record(record) => {
                driver.take(query, pass, &batch);
                batch.clear();
                pass.pass.record(&record, &mut driver.local.out);
                continue;
            }
        };
        let is_plain = !decoded.is_deferred();
        if batch.len() == BATCH || !is_plain {
            driver.take(query, pass, &batch);
            batch.clear();
        }
        if is_plain {
            batch.push(decoded);
            continue;
        }
        let mut joined = decoded;
        // That it could not be joined was counted when it was put in order.
        joined.join(query.recording, &mut scratch);
        driver.take(query, pass, std::slice::from_ref(&joined));
    }
    driver.take(query, pass, &batch);
}

/// Delivers what was written, and hands its memory back. A thread that panicked ends it: [`joined`] says so.
fn deliver_in_order(
    order: Receiver<Written>,
    used: &Sender<Vec<u8>>,
    deliver: &mut dyn FnMut(&[u8], usize) -> bool,
) {
    for (n_entries, written) in order {
        let Ok(mut out) = written.recv() else { return };
        if !deliver(&out, n_entries) {
            return;
        }
        out.clear();
        // Without room there is enough.
        let _ = used.try_send(out);
    }
}

/// An ordered pass, as the driver knows passes.
struct Ordered<'p, P> {
    query: &'p Query<'p>,
    pass: &'p P,
}

/// What a thread remembers of a stack.
#[derive(Clone, Copy, Default)]
struct Remembered<S> {
    of_pass: S,
    /// The image that its samples were taken in, if there is no name for where.
    unnamed: Option<ImageId>,
}

struct Local<'p, L> {
    of_pass: L,
    shown: ShownTasks,
    counts: WrittenCounts<'p>,
    out: Vec<u8>,
}

impl<'p, P: OrderedPass> Pass for Ordered<'p, P> {
    type Local = Local<'p, P::Local>;
    type Stack = Remembered<P::Stack>;

    fn local(&self) -> Self::Local {
        Local {
            of_pass: self.pass.local(),
            shown: ShownTasks::default(),
            counts: WrittenCounts::new(self.query, self.pass.symbols()),
            out: Vec::new(),
        }
    }

    fn group(&self, local: &mut Self::Local, sample: &TaskSample<'_, '_>) -> Option<u64> {
        local.counts.take(sample);
        let (filter, recording) = (self.query.samples.filter, self.query.recording);
        let id = (sample.decoded.pid, sample.decoded.tid);
        let history = &recording.index.history;
        let is_shown = local.shown.has(filter, history, id, sample.task)
            && self.query.samples.shows(sample.decoded);
        if !is_shown || !self.pass.wants(sample) {
            return None;
        }
        Some(sample.decoded.has_stack().into())
    }

    fn wants_stack(&self, decoded: &DecodedSample<'_>) -> bool {
        self.pass.wants_stack(decoded)
    }

    fn sample(
        &self,
        local: &mut Self::Local,
        sample: &ResolvedSample<'_, '_>,
        known: Option<Self::Stack>,
    ) -> Option<Self::Stack> {
        if !self.pass.keeps(&mut local.of_pass, sample) {
            return None;
        }
        let Local { counts, out, .. } = local;
        let unnamed = match known {
            Some(known) => known.unnamed,
            None => counts.unnamed_image(sample),
        };
        counts.take_shown(sample.decoded, unnamed);
        let of_pass = known.map(|known| known.of_pass);
        let of_pass = self.pass.sample(&mut local.of_pass, sample, of_pass, out)?;
        Some(Remembered { of_pass, unnamed })
    }
}

#[cfg(test)]
mod tests;
