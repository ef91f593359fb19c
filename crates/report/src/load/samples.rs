//! The samples of a chunk, as every pass sees them: decoded, filtered, a group's values made into
//! samples of its members, user chains that came later joined.

use super::Context;
use super::chain::deferred_cookie;
use super::values::{LastValues, holds_values};
use crate::Error;
use rprof_abi::record::Record;
use rprof_abi::{Callchain, RawRecord, RecordKind, Sample, SampleHead};
use rprof_perfdata::{Reader, Step, Warning};

/// A sample that the filter lets through, with what every pass asks of it.
pub(crate) struct Seen<'r> {
    pub(crate) raw: RawRecord<'r>,
    pub(crate) sample: SampleHead<'r>,
    /// For a member of a group, its id.
    pub(crate) member: Option<u64>,
    /// The user part of its chain, if that came later.
    pub(crate) deferred: Option<Callchain<'r>>,
    pub(crate) event: usize,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) key: rprof_machine::Key,
}

/// What could not be used of the samples of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unused {
    /// Samples that could not be decoded.
    pub(crate) n_bad: u64,
    /// Samples whose user chain was to come later and never did.
    pub(crate) n_unjoined: u64,
}

impl Unused {
    pub(crate) fn add(&mut self, other: Self) {
        self.n_bad += other.n_bad;
        self.n_unjoined += other.n_unjoined;
    }

    /// What to say of it.
    pub(crate) fn warnings(self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.n_bad > 0 {
            let records = self.n_bad;
            warnings.push(Warning::Undecodable { records }.to_string());
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

/// Where deferred user chains are, by cookie.
#[derive(Debug, Default)]
pub(crate) struct DeferredChains(Vec<(u64, u64)>);

impl DeferredChains {
    /// Notes the chain of a cookie at an offset.
    pub(crate) fn note(&mut self, cookie: u64, offset: u64) {
        self.0.push((cookie, offset));
    }

    pub(crate) fn freeze(&mut self) {
        self.0.sort_unstable();
    }

    /// The first chain of this cookie behind a sample: cookies of a CPU may come round again.
    fn after(&self, cookie: u64, offset: u64) -> Option<u64> {
        let at = self.0.partition_point(|&one| one < (cookie, offset));
        let &(found, offset) = self.0.get(at)?;
        (found == cookie).then_some(offset)
    }
}

/// Samples of a batch.
const BATCH: usize = 64;

impl Context<'_> {
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
        let mut values = self.skimmed.values.get(chunk).cloned();
        let mut scratch = Vec::new();
        self.reader.walk_windows(range.clone(), |records| {
            let mut batch = Vec::with_capacity(BATCH);
            for (offset, raw) in records {
                if raw.kind != RecordKind::SAMPLE {
                    continue;
                }
                let Some(mut seen) = self.see(offset, raw) else {
                    unused.n_bad += 1;
                    continue;
                };
                let is_seen = self.filter.sees(seen.sample.cpu, seen.sample.time_ns);
                if let Some(values) = &mut values
                    && self.holds_values(seen.event)
                {
                    self.expand(&mut seen, values, |seen| {
                        if is_seen {
                            visit(std::slice::from_ref(seen));
                        }
                    });
                } else if is_seen && is_deferred(&seen) {
                    let mut joined = seen;
                    self.join(&mut joined, offset, &mut scratch, &mut unused);
                    visit(std::slice::from_ref(&joined));
                } else if is_seen {
                    batch.push(seen);
                    if batch.len() == BATCH {
                        visit(&batch);
                        batch.clear();
                    }
                }
            }
            visit(&batch);
            Step::On
        })?;
        Ok(unused)
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
            member: None,
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

    /// Passes on, for a sample of a group, one for each member that counted something.
    fn expand(
        &self,
        seen: &mut Seen<'_>,
        values: &mut LastValues,
        mut visit: impl FnMut(&Seen<'_>),
    ) {
        let event = self.reader.events().get(seen.event);
        let (Some(event), Some(sample)) = (event, self.whole(seen)) else {
            return;
        };
        values.take(event, &sample, |id, gained| {
            let Some(member) = self.reader.event_of_id(id) else {
                return;
            };
            if gained > 0 {
                (seen.event, seen.member) = (member, Some(id));
                seen.sample.period = Some(gained);
                visit(seen);
            }
        });
    }

    /// Joins the user chain that came later to its sample.
    #[inline]
    pub(crate) fn join<'r>(
        &self,
        seen: &mut Seen<'r>,
        offset: u64,
        scratch: &'r mut Vec<u8>,
        unused: &mut Unused,
    ) {
        if let Some(cookie) = seen.sample.callchain.and_then(deferred_cookie) {
            let at = self.skimmed.deferred.after(cookie, offset);
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
