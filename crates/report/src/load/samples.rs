//! The samples of a chunk, as every pass sees them: decoded, filtered, a group's values made into
//! samples of its members, user chains that came later joined.

use super::Context;
use super::chain::deferred_cookie;
use super::descent::Descendants;
use super::parallel::Threads;
use super::values::{Gain, LastValues, holds_values};
use crate::Error;
use rprof_abi::record::Record;
use rprof_abi::{Callchain, RawRecord, RecordKind, Sample, SampleHead};
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step, Warning};

/// A sample that the filter lets through, with what every pass asks of it.
pub(crate) struct Seen<'r> {
    pub(crate) raw: RawRecord<'r>,
    pub(crate) sample: SampleHead<'r>,
    /// Whether it is a member's share of a group's sample.
    pub(crate) is_member: bool,
    /// The user part of its chain, if that came later.
    pub(crate) deferred: Option<Callchain<'r>>,
    pub(crate) event: usize,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) key: Key,
}

/// What could not be used of the samples of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unused {
    /// Samples that could not be decoded.
    pub(crate) n_bad: u64,
    /// Samples whose user chain was to come later and never did.
    pub(crate) n_unjoined: u64,
    /// Counter values of events that the file does not list.
    pub(crate) n_unknown: u64,
}

impl Unused {
    pub(crate) fn add(&mut self, other: Self) {
        self.n_bad += other.n_bad;
        self.n_unjoined += other.n_unjoined;
        self.n_unknown += other.n_unknown;
    }

    /// What to say of it.
    pub(crate) fn warnings(self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.n_bad > 0 {
            let records = self.n_bad;
            warnings.push(Warning::Undecodable { records }.to_string());
        }
        if self.n_unknown > 0 {
            warnings.push(format!(
                "{} counter values of events that the file does not list were passed over",
                self.n_unknown
            ));
        }
        if self.n_unjoined > 0 {
            warnings.push(format!(
                "{} samples lack the user part of their stack: it was to be recorded when the \
                 thread returned to user space, and never was",
                self.n_unjoined
            ));
        }
        warnings
    }
}

/// Where deferred user chains are, by cookie and moment.
#[derive(Debug, Default)]
pub(crate) struct DeferredChains(Vec<(u64, Key)>);

impl DeferredChains {
    /// Notes the chain of a cookie.
    pub(crate) fn note(&mut self, cookie: u64, key: Key) {
        self.0.push((cookie, key));
    }

    pub(crate) fn freeze(&mut self) {
        self.0.sort_unstable();
    }

    /// The first chain of this cookie after a sample (cookies of a CPU may come round again): where
    /// in the file. By time: another CPU's ring may have been written before.
    fn after(&self, cookie: u64, key: Key) -> Option<u64> {
        let at = self.0.partition_point(|&one| one < (cookie, key));
        let &(found, key) = self.0.get(at)?;
        (found == cookie).then_some(key.offset)
    }
}

/// Samples of a batch.
const BATCH: usize = 64;

impl Context<'_> {
    /// How many chunks there are, and who may read them.
    pub(crate) fn chunks(&self) -> (usize, Threads) {
        let threads = match self.values.need_order() {
            true => Threads::One,
            false => Threads::All,
        };
        (self.skimmed.chunks.len(), threads)
    }

    /// Calls `visit` for each sample of a chunk that the filter lets through.
    pub(crate) fn for_each_sample(
        &self,
        chunk: usize,
        mut visit: impl FnMut(&Seen<'_>),
    ) -> Result<Unused, Error> {
        self.for_each_batch(chunk, |batch| batch.iter().for_each(&mut visit))
    }

    /// The same, some at a time: what is looked up for all of them at once does not wait for
    /// memory as often.
    pub(crate) fn for_each_batch(
        &self,
        chunk: usize,
        mut visit: impl FnMut(&[Seen<'_>]),
    ) -> Result<Unused, Error> {
        let mut unused = Unused::default();
        let Some(range) = self.skimmed.chunks.get(chunk) else {
            return Ok(unused);
        };
        let mut values = self.values.before(chunk);
        let (mut scratch, mut gains) = (Vec::new(), Vec::new());
        self.reader.walk_windows(range.clone(), |records| {
            let mut batch = Vec::with_capacity(BATCH);
            for (offset, raw) in records {
                if raw.kind != RecordKind::SAMPLE {
                    continue;
                }
                let Some(seen) = self.see(offset, raw) else {
                    unused.n_bad += 1;
                    continue;
                };
                let values = values.as_mut().filter(|_| self.holds_values(seen.event));
                let is_plain = values.is_none() && !is_deferred(&seen);
                // Samples stay in the file's order: what came before goes first.
                if batch.len() == BATCH || !is_plain {
                    visit(&batch);
                    batch.clear();
                }
                let is_seen = self.sees(&seen);
                if is_plain {
                    batch.extend(is_seen.then_some(seen));
                    continue;
                }
                let mut joined = seen;
                self.join(&mut joined, &mut scratch, &mut unused);
                match values {
                    None if is_seen => visit(std::slice::from_ref(&joined)),
                    None => {}
                    Some(values) => {
                        self.take_values(&joined, values, &mut gains, &mut unused);
                        for gain in gains.iter().filter(|_| is_seen) {
                            joined.is_member = true;
                            joined.event = gain.event;
                            joined.sample.period = Some(gain.gained);
                            visit(std::slice::from_ref(&joined));
                        }
                    }
                }
            }
            visit(&batch);
            Step::On
        })?;
        Ok(unused)
    }

    /// Whether the filter counts a sample at all.
    #[inline]
    fn sees(&self, seen: &Seen<'_>) -> bool {
        let (cpu, time_ns) = (seen.sample.cpu, seen.sample.time_ns);
        let descends = |all: &Descendants| all.has(seen.pid, time_ns);
        self.filter.sees(cpu, time_ns) && self.descendants.as_ref().is_none_or(descends)
    }

    /// Decodes one sample; `None` if its event is not known, or it is shorter than its fields.
    #[inline]
    pub(crate) fn see<'r>(&self, offset: u64, raw: RawRecord<'r>) -> Option<Seen<'r>> {
        let event = self.reader.event_of(raw)?;
        let layout = &self.reader.events().get(event)?.layout;
        let sample = layout.parse_head(raw.body).ok()?;
        let (pid, tid) = sample.task.unwrap_or((-1, -1));
        Some(Seen {
            raw,
            deferred: None,
            is_member: false,
            event,
            pid,
            tid,
            key: self.skimmed.key(sample.time_ns, offset),
            sample,
        })
    }

    /// All fields of a sample.
    pub(crate) fn whole<'r>(&self, seen: &Seen<'r>) -> Option<Sample<'r>> {
        let event = self.reader.event_of(seen.raw)?;
        let layout = &self.reader.events().get(event)?.layout;
        layout.parse_sample(seen.raw.body).ok()
    }

    fn holds_values(&self, event: usize) -> bool {
        self.reader.events().get(event).is_some_and(holds_values)
    }

    /// What the members of a sample's group gained.
    fn take_values(
        &self,
        seen: &Seen<'_>,
        values: &mut LastValues,
        gains: &mut Vec<Gain>,
        unused: &mut Unused,
    ) {
        let event = self.reader.events().get(seen.event);
        match event.zip(self.whole(seen)) {
            Some((event, sample)) => {
                unused.n_unknown += values.take(self.reader, event, &sample, gains);
            }
            None => {
                gains.clear();
                unused.n_bad += 1;
            }
        }
    }

    /// Joins the user chain that came later to its sample.
    #[inline]
    pub(crate) fn join<'r>(
        &self,
        seen: &mut Seen<'r>,
        scratch: &'r mut Vec<u8>,
        unused: &mut Unused,
    ) {
        if let Some(cookie) = seen.sample.callchain.and_then(deferred_cookie) {
            let at = self.skimmed.deferred.after(cookie, seen.key);
            seen.deferred = at.and_then(|at| deferred_chain(self.reader, at, seen.tid, scratch));
            unused.n_unjoined += u64::from(seen.deferred.is_none());
        }
    }
}

fn is_deferred(seen: &Seen<'_>) -> bool {
    seen.sample.callchain.and_then(deferred_cookie).is_some()
}

/// Reads the deferred chain at an offset, if it is this thread's.
fn deferred_chain<'r>(
    reader: &Reader,
    offset: u64,
    tid: i32,
    scratch: &'r mut Vec<u8>,
) -> Option<Callchain<'r>> {
    let raw = reader.record_at(offset, scratch).ok()??;
    let layout = &reader.events().get(reader.event_of(raw)?)?.layout;
    let (record, id) = Record::parse(raw, layout).ok()?;
    match record {
        Record::CallchainDeferred(deferred) if id.tid.is_none_or(|other| other == tid) => {
            Some(deferred.chain)
        }
        _ => None,
    }
}
