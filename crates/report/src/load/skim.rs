//! The first pass: sideband, losses, and where chunks of records begin.

use crate::Error;
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, Misc, RawRecord, RecordKind, SampleType};
use rprof_images::BuildId;
use rprof_machine::{History, HistoryBuilder, Key};
use rprof_perfdata::{FeatureId, Reader, RecordedEvent, Step, Warning};
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
    /// Ranges of the file; each starts at a record.
    pub(crate) chunks: Vec<Range<u64>>,
    /// By event.
    pub(crate) losses: Vec<Loss>,
    pub(crate) warnings: Vec<Warning>,
}

impl Skimmed {
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

/// Reads all records once, decoding those that are not samples.
pub(crate) fn skim(reader: &Reader) -> Result<Skimmed, Error> {
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
    let mut builder = HistoryBuilder::new(has_times, build_ids);
    let mut lost = vec![Lost::default(); reader.events().len()];
    let mut starts = Vec::new();
    let mut end = reader.data().start;
    let mut n_bad = 0u64;
    let cut = reader.walk(reader.data(), |offset, raw| {
        if starts.last().is_none_or(|&start| offset - start >= CHUNK) {
            starts.push(offset);
        }
        end = offset + raw.len_bytes() as u64;
        if raw.kind != RecordKind::SAMPLE && raw.kind.name().is_some() {
            let taken = take(reader, offset, raw, &mut builder, &mut lost);
            n_bad += u64::from(taken.is_none());
        }
        Step::On
    })?;
    let mut warnings: Vec<Warning> = bad_build_ids.into_iter().chain(cut).collect();
    if n_bad > 0 {
        warnings.push(Warning::Undecodable { records: n_bad });
    }
    charge_shared_rings(reader, &mut lost);
    let ends = starts.iter().skip(1).copied().chain([end]);
    Ok(Skimmed {
        history: builder.build(),
        has_times,
        chunks: starts
            .iter()
            .zip(ends)
            .map(|(&start, end)| start..end)
            .collect(),
        losses: lost.into_iter().map(Lost::into_loss).collect(),
        warnings,
    })
}

/// Takes one record that is not a sample; `None` if it cannot be decoded.
fn take(
    reader: &Reader,
    offset: u64,
    raw: RawRecord<'_>,
    builder: &mut HistoryBuilder,
    lost: &mut [Lost],
) -> Option<()> {
    let event = reader.event_of(raw)?;
    let layout = &reader.events().get(event)?.layout;
    let (record, id) = Record::parse(raw, layout).ok()?;
    match &record {
        // Dropped by a filter is not lost.
        Record::LostSamples(_) if raw.misc.has(Misc::LOST_SAMPLES_BPF) => {}
        Record::LostSamples(losses) => {
            let samples = lost.get_mut(event)?.samples.get_or_insert(0);
            *samples = samples.saturating_add(losses.lost);
        }
        // Of a ring: it names whichever event wrote next.
        Record::Lost(losses) => {
            let records = &mut lost.get_mut(event)?.records;
            *records = records.saturating_add(losses.lost);
        }
        _ => builder.add(offset, raw.misc, &record, &id),
    }
    Some(())
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
