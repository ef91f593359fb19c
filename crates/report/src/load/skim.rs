//! The first pass: sideband, losses, and where chunks of records begin.

use super::samples::{DeferredChains, LastValues, holds_values};
use crate::Error;
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, Misc, RawRecord, RecordKind, SampleType};
use rprof_images::BuildId;
use rprof_machine::{History, HistoryBuilder, Key};
use rprof_perfdata::{FeatureId, Form, Reader, RecordedEvent, Step, Warning, file_kind};
use rprof_profile::Loss;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes of a chunk: enough to be worth a thread's while, few enough for all threads to share.
const CHUNK: u64 = 512 << 10;

/// What the first pass found.
#[derive(Debug)]
pub(crate) struct Skimmed {
    pub(crate) history: History,
    pub(crate) has_times: bool,
    pub(crate) n_samples: u64,
    /// Ranges of the file; each starts at a record.
    pub(crate) chunks: Vec<Range<u64>>,
    /// By chunk, the newest time of a sample up to its end, if chunks end where rounds do.
    pub(crate) newest_ns: Vec<u64>,
    /// At the start of each chunk, for recordings whose samples hold counter values.
    pub(crate) values: Vec<LastValues>,
    pub(crate) deferred: DeferredChains,
    /// By event.
    pub(crate) losses: Vec<Loss>,
    pub(crate) warnings: Vec<Warning>,
}

impl Skimmed {
    /// Whether chunks are whole rounds.
    pub(crate) fn has_rounds(&self) -> bool {
        !self.newest_ns.is_empty()
    }

    /// The moment of a sample.
    #[inline]
    pub(crate) fn key(&self, time_ns: Option<u64>, offset: u64) -> Key {
        Key::new(self.has_times, time_ns, offset)
    }
}

/// Losses of one event, counted in two ways that must not be added.
#[derive(Clone, Copy, Default)]
struct Lost {
    samples: Option<u64>,
    records: u64,
}

/// A chunk of whole rounds that is larger is too much to be sorted at once.
const MAX_ROUNDS: u64 = 32 << 20;

/// Where chunks may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Anywhere,
    /// Where the recorder had written all rings (FINISHED_ROUND).
    AfterRounds,
}

/// Reads all records once, decoding those that are not samples.
pub(crate) fn skim(reader: &Reader) -> Result<Skimmed, Error> {
    skim_in(reader, Cut::Anywhere)
}

/// The same, with chunks of whole rounds where the recording has usable ones.
pub(crate) fn skim_ordered(reader: &Reader) -> Result<Skimmed, Error> {
    let skimmed = skim_in(reader, Cut::AfterRounds)?;
    let mut sizes = skimmed.chunks.iter().map(|chunk| chunk.end - chunk.start);
    // Rounds of different files of a directory have nothing to do with each other.
    if reader.form() == Form::Directory || sizes.any(|size| size > MAX_ROUNDS) {
        return skim(reader);
    }
    Ok(skimmed)
}

fn skim_in(reader: &Reader, cut: Cut) -> Result<Skimmed, Error> {
    // Order is by time only if everything has one: a recording of perf --per-thread has none.
    let has_times = reader.events().iter().all(|event| {
        event.attr.sample_type.has(SampleType::TIME)
            && event.attr.flags.has(AttrFlags::SAMPLE_ID_ALL)
    });
    let (entries, bad_build_ids) = reader.build_ids();
    let build_ids: FxHashMap<Vec<u8>, BuildId> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.filename, BuildId::new(entry.build_id.as_bytes())?)))
        .collect();
    let mut skim = Skim {
        reader,
        builder: HistoryBuilder::new(has_times, build_ids),
        lost: vec![Lost::default(); reader.events().len()],
        deferred: DeferredChains::default(),
        values: Values::of(reader),
        chunks: Chunks::new(cut),
        n_samples: 0,
        n_bad: 0,
    };
    let walked = reader.walk(reader.data(), |offset, raw| {
        skim.take(offset, raw);
        Step::On
    })?;
    let mut warnings: Vec<Warning> = bad_build_ids.into_iter().chain(walked).collect();
    if skim.n_bad > 0 {
        let records = skim.n_bad;
        warnings.push(Warning::Undecodable { records });
    }
    charge_shared_rings(reader, &mut skim.lost);
    skim.deferred.freeze();
    let (chunks, newest_ns) = skim.chunks.finish();
    Ok(Skimmed {
        history: skim.builder.build(),
        has_times,
        n_samples: skim.n_samples,
        chunks,
        newest_ns,
        values: skim.values.at_starts,
        deferred: skim.deferred,
        losses: skim.lost.into_iter().map(Lost::into_loss).collect(),
        warnings,
    })
}

/// What a first pass collects.
struct Skim<'r> {
    reader: &'r Reader,
    builder: HistoryBuilder,
    lost: Vec<Lost>,
    deferred: DeferredChains,
    values: Values,
    chunks: Chunks,
    n_samples: u64,
    /// Records that could not be decoded.
    n_bad: u64,
}

impl Skim<'_> {
    #[inline]
    fn take(&mut self, offset: u64, raw: RawRecord<'_>) {
        if self.chunks.take(self.reader, offset, raw) {
            self.values.start_chunk();
        }
        if raw.kind == RecordKind::SAMPLE {
            self.n_samples += 1;
            self.values.take(self.reader, raw);
        } else if raw.kind.name().is_some() {
            self.n_bad += u64::from(self.take_sideband(offset, raw).is_none());
        }
    }

    /// Takes one record that is not a sample; `None` if it cannot be decoded.
    fn take_sideband(&mut self, offset: u64, raw: RawRecord<'_>) -> Option<()> {
        let event = self.reader.event_of(raw)?;
        let layout = &self.reader.events().get(event)?.layout;
        let (record, id) = Record::parse(raw, layout).ok()?;
        match &record {
            // Dropped by a filter is not lost.
            Record::LostSamples(_) if raw.misc.has(Misc::LOST_SAMPLES_BPF) => {}
            Record::LostSamples(losses) => {
                let samples = self.lost.get_mut(event)?.samples.get_or_insert(0);
                *samples = samples.saturating_add(losses.lost);
            }
            // Of a ring: it names whichever event wrote next.
            Record::Lost(losses) => {
                let records = &mut self.lost.get_mut(event)?.records;
                *records = records.saturating_add(losses.lost);
            }
            Record::CallchainDeferred(chain) => self.deferred.note(chain.cookie, offset),
            _ => self.builder.add(offset, raw.misc, &record, &id),
        }
        Some(())
    }
}

/// Cuts the file into ranges that threads read.
struct Chunks {
    cut: Cut,
    starts: Vec<u64>,
    end: u64,
    /// The newest time of a sample before each chunk but the first.
    newest_ns: Vec<u64>,
    newest: u64,
    at_round: bool,
}

impl Chunks {
    fn new(cut: Cut) -> Self {
        Self {
            cut,
            starts: Vec::new(),
            end: 0,
            newest_ns: Vec::new(),
            newest: 0,
            at_round: false,
        }
    }

    /// Takes one record; returns whether a chunk starts with it.
    #[inline]
    fn take(&mut self, reader: &Reader, offset: u64, raw: RawRecord<'_>) -> bool {
        let may_cut = self.cut == Cut::Anywhere || self.at_round;
        let starts = match self.starts.last() {
            None => true,
            Some(&start) => may_cut && offset - start >= CHUNK,
        };
        if starts {
            if !self.starts.is_empty() {
                self.newest_ns.push(self.newest);
            }
            self.starts.push(offset);
        }
        self.end = offset + raw.len_bytes() as u64;
        if self.cut == Cut::AfterRounds {
            self.at_round = raw.kind == file_kind::FINISHED_ROUND;
            if raw.kind == RecordKind::SAMPLE {
                self.newest = self.newest.max(time_of(reader, raw).unwrap_or(0));
            }
        }
        starts
    }

    /// The ranges, and if they are whole rounds the newest time up to the end of each.
    fn finish(mut self) -> (Vec<Range<u64>>, Vec<u64>) {
        let ends = self.starts.iter().skip(1).copied().chain([self.end]);
        let starts = self.starts.iter().copied();
        let chunks = starts.zip(ends).map(|(start, end)| start..end).collect();
        self.newest_ns.push(self.newest);
        let newest_ns = match self.cut {
            Cut::Anywhere => Vec::new(),
            Cut::AfterRounds => self.newest_ns,
        };
        (chunks, newest_ns)
    }
}

fn time_of(reader: &Reader, raw: RawRecord<'_>) -> Option<u64> {
    let event = reader.events().get(reader.event_of(raw)?)?;
    event.layout.sample_time(raw)
}

/// Counter values at the starts of chunks: chunks are read in any order, and what a counter gained
/// is known only in order.
struct Values {
    is_needed: bool,
    now: LastValues,
    at_starts: Vec<LastValues>,
}

impl Values {
    fn of(reader: &Reader) -> Self {
        Self {
            is_needed: reader.events().iter().any(holds_values),
            now: LastValues::default(),
            at_starts: Vec::new(),
        }
    }

    fn start_chunk(&mut self) {
        if self.is_needed {
            self.at_starts.push(self.now.clone());
        }
    }

    #[inline]
    fn take(&mut self, reader: &Reader, raw: RawRecord<'_>) {
        if !self.is_needed {
            return;
        }
        let event = reader
            .event_of(raw)
            .and_then(|idx| reader.events().get(idx));
        let Some(event) = event.filter(|event| holds_values(event)) else {
            return;
        };
        // Samples that cannot be decoded are counted when they are read.
        if let Ok(sample) = event.layout.parse_sample(raw.body) {
            self.now.take(event, &sample, |_, _| {});
        }
    }
}

/// Most recorders let the event that carries sideband share its ring with samples: what a LOST
/// record says of it is about samples, too. rprof's own has rings of its own.
fn charge_shared_rings(reader: &Reader, lost: &mut [Lost]) {
    let tool = reader.feature_text(FeatureId::VERSION);
    if tool.is_some_and(|tool| tool.starts_with("rprof ")) {
        return;
    }
    let dummies: Vec<bool> = reader
        .events()
        .iter()
        .map(RecordedEvent::is_dummy)
        .collect();
    let Some(first) = dummies.iter().position(|dummy| !dummy) else {
        return;
    };
    for idx in 0..lost.len() {
        if dummies[idx] {
            let records = std::mem::take(&mut lost[idx].records);
            lost[first].records = lost[first].records.saturating_add(records);
        }
    }
}

impl Lost {
    fn into_loss(self) -> Loss {
        Loss {
            samples: self.samples.unwrap_or(self.records),
            at_least: self.samples.is_none() && self.records > 0,
        }
    }
}
