//! The first pass: sideband, losses, and where chunks of records begin.

use super::chunks::{Chunks, Cut};
use super::lives::Lives;
use super::run_time::{FoundLog, add_compiled_code};
use super::samples::DeferredChains;
use super::unwinding;
use crate::Error;
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, CpuMode, Misc, RawRecord, RecordKind, SampleType};
use rprof_base::{Avma, BuildId};
use rprof_locate::Locator;
use rprof_machine::{History, HistoryBuilder, ImageId, Key};
use rprof_perfdata::{FeatureId, FileRecord, Form, Reader, RecordedEvent, Warning, file_kind};
use rprof_profile::Loss;
use rprof_profile::timeline::TimedLoss;
use rprof_untrusted::Held;
use std::ops::Range;

/// What the first pass found.
#[derive(Debug)]
pub(crate) struct Skimmed {
    pub(crate) history: History,
    pub(crate) lives: Lives,
    /// Where logs of compiled code were found.
    pub(crate) logs: HashMap<ImageId, FoundLog>,
    /// The memory of what they say.
    _logs_held: Option<Held>,
    pub(crate) has_times: bool,
    pub(crate) n_samples: u64,
    /// Ranges of the file; each starts at a record.
    pub(crate) chunks: Vec<Range<u64>>,
    /// By chunk, the newest time of a sample up to its end, if chunks end where rounds do.
    pub(crate) newest_ns: Vec<u64>,
    pub(crate) deferred: DeferredChains,
    /// Paths of control groups by id.
    pub(crate) cgroups: HashMap<u64, Vec<u8>>,
    /// Where the kernel's code ended, if the recording says so.
    pub(crate) kernel_end: Option<Avma>,
    /// By event.
    pub(crate) losses: Vec<Loss>,
    /// Moments of losses, as far as they have one.
    pub(crate) lost_at: Vec<TimedLoss>,
    pub(crate) warnings: Vec<String>,
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

/// Reads all records once, decoding those that are not samples.
pub(crate) fn skim(reader: &Reader, locator: &Locator) -> Result<Skimmed, Error> {
    skim_in(reader, locator, Cut::Anywhere)
}

/// The same, with chunks of whole rounds where the recording has usable ones.
pub(crate) fn skim_ordered(reader: &Reader, locator: &Locator) -> Result<Skimmed, Error> {
    let skimmed = skim_in(reader, locator, Cut::AfterRounds)?;
    let mut sizes = skimmed.chunks.iter().map(|chunk| chunk.end - chunk.start);
    // Rounds of different files of a directory have nothing to do with each other.
    if reader.form() == Form::Directory || sizes.any(|size| size > MAX_ROUNDS) {
        return skim(reader, locator);
    }
    Ok(skimmed)
}

fn skim_in(reader: &Reader, locator: &Locator, cut: Cut) -> Result<Skimmed, Error> {
    // Order is by time only if everything has one: a recording of perf --per-thread has none.
    let has_times = reader.events().iter().all(|event| {
        event.attr.sample_type.has(SampleType::TIME)
            && event.attr.flags.has(AttrFlags::SAMPLE_ID_ALL)
    });
    let (entries, bad_build_ids) = reader.build_ids();
    let build_ids: HashMap<Vec<u8>, BuildId> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.filename, BuildId::new(entry.build_id.as_bytes())?)))
        .collect();
    let mut skim = Skim {
        reader,
        builder: HistoryBuilder::new(has_times, build_ids),
        lives: Lives::default(),
        lost: vec![Lost::default(); reader.events().len()],
        deferred: DeferredChains::default(),
        cgroups: HashMap::default(),
        kernel_end: None,
        chunks: Chunks::new(cut, &reader.data()),
        n_samples: 0,
        lost_at: Vec::new(),
        passed_over: PassedOver::default(),
        n_bad: 0,
    };
    let walked = reader.walk_all(|offset, raw| skim.take(offset, raw))?;
    let mut warnings: Vec<Warning> = bad_build_ids.into_iter().chain(walked).collect();
    if skim.n_bad > 0 {
        let records = skim.n_bad;
        warnings.push(Warning::Undecodable { records });
    }
    let mut notes = skim.passed_over.notes();
    notes.extend(unwinding::note(reader).filter(|_| skim.n_samples > 0));
    let logs = add_compiled_code(&mut skim.builder, reader, locator);
    notes.extend(logs.notes);
    charge_shared_rings(reader, &mut skim.lost);
    skim.deferred.freeze();
    let (chunks, newest_ns) = skim.chunks.finish();
    Ok(Skimmed {
        history: skim.builder.build(),
        lives: skim.lives,
        logs: logs.found,
        _logs_held: logs.held,
        has_times,
        n_samples: skim.n_samples,
        chunks,
        newest_ns,
        deferred: skim.deferred,
        cgroups: skim.cgroups,
        kernel_end: skim.kernel_end,
        losses: skim.lost.into_iter().map(Lost::into_loss).collect(),
        lost_at: skim.lost_at,
        warnings: warnings
            .iter()
            .map(ToString::to_string)
            .chain(notes)
            .collect(),
    })
}

/// What a first pass collects.
struct Skim<'r> {
    reader: &'r Reader,
    builder: HistoryBuilder,
    lives: Lives,
    lost: Vec<Lost>,
    deferred: DeferredChains,
    cgroups: HashMap<u64, Vec<u8>>,
    kernel_end: Option<Avma>,
    chunks: Chunks,
    n_samples: u64,
    lost_at: Vec<TimedLoss>,
    passed_over: PassedOver,
    /// Records that could not be decoded.
    n_bad: u64,
}

impl Skim<'_> {
    #[inline]
    fn take(&mut self, offset: u64, raw: RawRecord<'_>) {
        self.chunks.take(self.reader, offset, raw);
        if raw.kind == RecordKind::SAMPLE {
            self.n_samples += 1;
        } else if raw.kind.name().is_some() {
            self.n_bad += u64::from(self.take_sideband(offset, raw).is_none());
        } else {
            self.passed_over.take(raw, self.reader);
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
                let samples = losses.lost;
                let at = id.time_ns.map(|time_ns| TimedLoss { time_ns, samples });
                self.lost_at.extend(at);
            }
            Record::CallchainDeferred(chain) => {
                self.deferred
                    .note(chain.cookie, self.builder.key(id.time_ns, offset));
            }
            Record::Cgroup(cgroup) => {
                let path = self.cgroups.entry(cgroup.id);
                path.or_insert_with(|| cgroup.path.to_vec());
            }
            _ => {
                self.lives.see(raw.misc, &record, id.time_ns);
                if raw.misc.cpu_mode() == CpuMode::Kernel {
                    self.kernel_end = self.kernel_end.or_else(|| kernel_end(&record));
                }
                self.builder.add(offset, raw.misc, &record, &id);
            }
        }
        Some(())
    }
}

/// Where the kernel's own mapping ends.
fn kernel_end(record: &Record<'_>) -> Option<Avma> {
    let (addr, len, name) = match record {
        Record::Mmap(map) => (map.addr, map.len, map.filename),
        Record::Mmap2(map) => (map.addr, map.len, map.filename),
        _ => return None,
    };
    let is_kernel = name.starts_with(b"[kernel.kallsyms]");
    addr.checked_add(len).filter(|_| is_kernel).map(Avma)
}

/// Records that hold samples in a form that is not read.
#[derive(Clone, Copy, Debug, Default)]
struct PassedOver {
    n_aux: u64,
    aux_bytes: u64,
    n_compressed: u64,
    /// Of kinds that nobody knows here.
    n_unknown: u64,
    /// Behind records, where nothing was looked for.
    format_bytes: u64,
}

impl PassedOver {
    fn take(&mut self, raw: RawRecord<'_>, reader: &Reader) {
        match raw.kind {
            file_kind::AUXTRACE => {
                self.n_aux += 1;
                if let Ok(FileRecord::Auxtrace(aux)) = FileRecord::parse(raw, reader.endian()) {
                    self.aux_bytes = self.aux_bytes.saturating_add(aux.len_bytes);
                }
            }
            // Unpacked when the file was opened, unless its header does not say that it is
            // compressed.
            file_kind::COMPRESSED | file_kind::COMPRESSED2 => self.n_compressed += 1,
            file_kind::HEADER_TRACING_DATA if reader.form() != Form::Pipe => {
                let len = reader.payload_len(raw);
                self.format_bytes = self.format_bytes.saturating_add(len);
            }
            kind if file_kind::name(kind).is_none() => self.n_unknown += 1,
            _ => {}
        }
    }

    fn notes(self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.n_aux > 0 {
            notes.push(format!(
                "{} bytes of hardware trace (AUXTRACE) are passed over: only what was sampled is \
                 shown; perf decodes such traces",
                self.aux_bytes
            ));
        }
        if self.n_compressed > 0 {
            notes.push(format!(
                "{} compressed records in a file whose header does not say that it is \
                 compressed: they are not read",
                self.n_compressed
            ));
        }
        if self.format_bytes > 0 {
            notes.push(format!(
                "{} bytes behind records of tracepoint formats are passed over: a file has those \
                 in a section of their own",
                self.format_bytes
            ));
        }
        if self.n_unknown > 0 {
            notes.push(format!(
                "{} records of kinds that are not known are passed over",
                self.n_unknown
            ));
        }
        notes
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
