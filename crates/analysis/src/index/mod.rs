//! The index pass: the first over a recording. It finds process lifetimes, names and mappings as functions of time
//! ([`History`]), losses, and chunks of samples that threads can read apart.

mod chunks;
mod clock;
mod deferred;
mod descendants;
mod embedded;
mod gaps;
mod ignored;
mod jit_code;
mod lifetimes;
mod losses;
mod machine;
mod marker_files;
mod namespaces;

pub(crate) use clock::{SLACK, WallClock, recording_ended, wall_at_the_latest};
pub(crate) use descendants::Descendants;
pub(crate) use embedded::{EmbeddedSymbols, kernel_avma};
pub(crate) use jit_code::{FoundJitdump, for_each_function, has_monotonic_times, symfs_path};
pub(crate) use lifetimes::ProcessLifetimes;
pub(crate) use machine::{has_stack, machine_of, recorded_elsewhere};
pub(crate) use marker_files::MappedMarkerFile;

use crate::Error;
use chunks::{Chunks, Cut, RoundEnd};
use deferred::DeferredChains;
use foldhash::HashMap;
use gaps::GapCounts;
use ignored::IgnoredRecords;
use jit_code::add_jit_code;
pub(crate) use losses::has_sideband_rings;
use losses::{Lost, charge_shared_rings};
use namespaces::CgroupNamespaces;
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, CpuMode, Misc, RawRecord, RecordKind, SampleType};
use rprof_base::{Avma, BuildId, parallel};
use rprof_locate::Locator;
use rprof_machine::{History, HistoryBuilder, ImageId, Key};
use rprof_perfdata::file_record::GuestId;
use rprof_perfdata::{BlockWalk, FileRecord, Form, Reader, WalkedBlock, Warning, file_kind};
use rprof_profile::TimedLoss;
use rprof_profile::{Gaps, Loss};
use rprof_untrusted::Held;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// What the index pass found.
#[derive(Debug)]
pub struct RecordingIndex {
    /// Who was called what, and what was mapped where, at which time.
    pub history: History,
    pub(crate) lifetimes: ProcessLifetimes,
    /// Where jitdumps were found.
    pub(crate) jitdumps: HashMap<ImageId, FoundJitdump>,
    /// Marker files that processes had mapped.
    pub(crate) marker_files: Vec<MappedMarkerFile>,
    /// The memory of what they say.
    _jitdumps_held: Option<Held>,
    /// Whether records are in order of time: each has one.
    pub has_times: bool,
    /// Samples in the recording.
    pub n_samples: u64,
    /// The times of the first sample and of the last, if they were asked for, and there are any.
    pub(crate) sample_times: Option<RangeInclusive<u64>>,
    /// How many other records there are, by kind.
    pub(crate) other_kinds: BTreeMap<RecordKind, u64>,
    /// Ranges of the file; each starts at a record.
    pub(crate) chunks: Vec<Range<u64>>,
    /// By chunk, the newest time of a sample up to its end, if chunks end where rounds do.
    pub(crate) newest_ns: Vec<u64>,
    pub(crate) deferred: DeferredChains,
    /// Paths of control groups by id.
    pub cgroups: HashMap<u64, Vec<u8>>,
    pub(crate) cgroup_namespaces: CgroupNamespaces,
    /// Whose a guest's events are, by the ids of their samples.
    pub guests: HashMap<u64, GuestId>,
    /// Where the kernel's code ended, if the recording says so.
    pub(crate) kernel_end: Option<Avma>,
    /// By event.
    pub losses: Vec<Loss>,
    /// Moments of losses, as far as they have one.
    pub(crate) lost_at: Vec<TimedLoss>,
    /// Where and when samples are missing.
    pub(crate) gaps: Gaps,
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
}

impl RecordingIndex {
    /// Whether chunks are whole rounds.
    pub(crate) fn has_rounds(&self) -> bool {
        !self.newest_ns.is_empty()
    }

    /// The moment of a sample.
    #[inline]
    pub fn key(&self, time_ns: Option<u64>, offset: u64) -> Key {
        Key::new(self.has_times, time_ns, offset)
    }
}

/// A chunk of whole rounds that is larger is too much to be sorted at once.
const MAX_ROUNDS: u64 = 32 << 20;

/// In which order samples will be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOrder {
    /// Any: each chunk by whichever thread is free.
    Any,
    /// Any, too, and when the first sample was taken and the last one is asked for.
    AnyWithTimes,
    /// By time: chunks are whole rounds where the recording has usable ones.
    Time,
}

impl RecordingIndex {
    /// Reads all records once, and decodes those that are not samples.
    pub(crate) fn of(
        reader: &Reader,
        locator: &Locator,
        order: SampleOrder,
    ) -> Result<Self, Error> {
        let wants_times = order != SampleOrder::Any;
        if order == SampleOrder::Time {
            let walk = IndexWalk {
                reader,
                cut: Cut::AfterRounds,
                wants_times,
            };
            let index = index_by(&walk, locator)?;
            let mut sizes = index.chunks.iter().map(|chunk| chunk.end - chunk.start);
            // Rounds of different files of a directory have nothing to do with each other.
            if reader.form() != Form::Directory && sizes.all(|size| size <= MAX_ROUNDS) {
                return Ok(index);
            }
        }
        let walk = IndexWalk {
            reader,
            cut: Cut::Anywhere,
            wants_times,
        };
        index_by(&walk, locator)
    }
}

/// Order is by time only if everything has one: a recording of perf --per-thread has none.
pub(crate) fn has_times(reader: &Reader) -> bool {
    reader.events().iter().all(|event| {
        event.attr.sample_type.has(SampleType::TIME)
            && event.attr.flags.has(AttrFlags::SAMPLE_ID_ALL)
    })
}

fn index_by(walk: &IndexWalk<'_>, locator: &Locator) -> Result<RecordingIndex, Error> {
    let reader = walk.reader;
    let has_times = has_times(reader);
    let (entries, bad_build_ids) = reader.build_ids();
    let build_ids: HashMap<Vec<u8>, BuildId> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.filename, BuildId::new(entry.build_id.as_bytes())?)))
        .collect();
    let mut pass = IndexPass {
        reader,
        builder: HistoryBuilder::new(has_times, build_ids),
        lifetimes: ProcessLifetimes::default(),
        marker_files: Vec::new(),
        lost: vec![Lost::default(); reader.events().len()],
        deferred: DeferredChains::default(),
        cgroups: HashMap::default(),
        cgroup_namespaces: CgroupNamespaces::default(),
        guests: HashMap::default(),
        kernel_end: None,
        chunks: Chunks::new(walk.cut, &reader.data()),
        n_samples: 0,
        sample_times: None,
        other_kinds: BTreeMap::new(),
        lost_at: Vec::new(),
        gaps: GapCounts::default(),
        ignored: IgnoredRecords::default(),
        n_bad: 0,
    };
    let len = chunks::block_len(&reader.data());
    let walked = reader.walk_blocks(walk, len, parallel::n_cpus(), |walked| pass.take(walked))?;
    let mut warnings: Vec<Warning> = bad_build_ids.into_iter().chain(walked).collect();
    if pass.n_bad > 0 {
        let records = pass.n_bad;
        warnings.push(Warning::Undecodable { records });
    }
    let mut notes = pass.ignored.notes();
    notes.extend(machine::not_unwound(reader).filter(|_| pass.n_samples > 0));
    let jitdumps = add_jit_code(&mut pass.builder, reader, locator);
    notes.extend(jitdumps.notes);
    charge_shared_rings(reader, &mut pass.lost);
    pass.deferred.finish();
    pass.cgroup_namespaces.finish();
    let (chunks, newest_ns) = pass.chunks.finish();
    Ok(RecordingIndex {
        history: pass.builder.build(),
        lifetimes: pass.lifetimes,
        marker_files: pass.marker_files,
        jitdumps: jitdumps.found,
        _jitdumps_held: jitdumps.held,
        has_times,
        n_samples: pass.n_samples,
        sample_times: pass.sample_times,
        other_kinds: pass.other_kinds,
        chunks,
        newest_ns,
        deferred: pass.deferred,
        cgroups: pass.cgroups,
        cgroup_namespaces: pass.cgroup_namespaces,
        guests: pass.guests,
        kernel_end: pass.kernel_end,
        losses: pass.lost.into_iter().map(Lost::into_loss).collect(),
        lost_at: pass.lost_at,
        gaps: pass.gaps.finish(),
        warnings: warnings
            .iter()
            .map(ToString::to_string)
            .chain(notes)
            .collect(),
    })
}

/// All kinds that nobody knows.
pub(crate) const UNKNOWN_KIND: RecordKind = RecordKind(u32::MAX);

/// What threads make of blocks of records: what needs the file's order is kept for the one that puts them together.
struct IndexWalk<'r> {
    reader: &'r Reader,
    cut: Cut,
    /// Whether times of samples matter.
    wants_times: bool,
}

/// What a thread found in a block.
#[derive(Default)]
struct IndexBlock {
    n_samples: u64,
    /// The times of the first sample and the last, if they matter.
    times: Option<RangeInclusive<u64>>,
    rounds: Vec<RoundEnd>,
    /// Records that are not samples: where each is in the file, and in `bytes`.
    sideband: Vec<(u64, usize)>,
    /// Their kinds and those of the file's own records, counted.
    kinds: BTreeMap<RecordKind, u64>,
    bytes: Vec<u8>,
    ignored: IgnoredRecords,
    guests: Vec<(u64, GuestId)>,
}

impl IndexBlock {
    fn newest_ns(&self) -> u64 {
        self.times.as_ref().map_or(0, |times| *times.end())
    }
}

/// From the first of two spans of time to the last.
fn joined(
    one: Option<RangeInclusive<u64>>,
    other: Option<RangeInclusive<u64>>,
) -> Option<RangeInclusive<u64>> {
    match (one, other) {
        (Some(one), Some(other)) => {
            let start = *one.start().min(other.start());
            Some(start..=*one.end().max(other.end()))
        }
        (one, other) => one.or(other),
    }
}

impl BlockWalk for IndexWalk<'_> {
    type Block = IndexBlock;

    fn block(&self) -> IndexBlock {
        IndexBlock::default()
    }

    #[inline]
    fn take(&self, block: &mut IndexBlock, offset: u64, raw: RawRecord<'_>) {
        if raw.kind == RecordKind::SAMPLE {
            block.n_samples += 1;
            if self.wants_times
                && let Some(time) = sample_time(self.reader, raw)
            {
                block.times = joined(block.times.take(), Some(time..=time));
            }
            return;
        }
        let is_known = raw.kind.name().or(file_kind::name(raw.kind)).is_some();
        let kind = if is_known { raw.kind } else { UNKNOWN_KIND };
        *block.kinds.entry(kind).or_default() += 1;
        if raw.kind.name().is_some() {
            block.sideband.push((offset, block.bytes.len()));
            // It was a record before: it is not too long.
            let _ = raw.encode(&mut block.bytes, self.reader.endian());
        } else {
            block.ignored.take(raw, self.reader);
            if raw.kind == file_kind::ID_INDEX {
                block.guests.extend(guests(self.reader, raw));
            }
            if raw.kind == file_kind::FINISHED_ROUND && self.cut == Cut::AfterRounds {
                block.rounds.push(RoundEnd {
                    at: offset + raw.len_bytes() as u64,
                    newest_ns: block.newest_ns(),
                });
            }
        }
    }
}

/// Ids of guests' events in a list of ids.
fn guests(reader: &Reader, raw: RawRecord<'_>) -> Vec<(u64, GuestId)> {
    let Ok(FileRecord::IdIndex(entries)) = FileRecord::parse(raw, reader.endian()) else {
        return Vec::new();
    };
    let guests = entries
        .iter()
        .filter_map(|entry| Some((entry.id, entry.guest?)));
    guests.filter(|(_, guest)| guest.machine_pid != 0).collect()
}

fn sample_time(reader: &Reader, raw: RawRecord<'_>) -> Option<u64> {
    let event = reader.events().get(reader.event_of(raw)?)?;
    event.layout.sample_time(raw)
}

/// What an index pass collects.
struct IndexPass<'r> {
    reader: &'r Reader,
    builder: HistoryBuilder,
    lifetimes: ProcessLifetimes,
    marker_files: Vec<MappedMarkerFile>,
    lost: Vec<Lost>,
    deferred: DeferredChains,
    cgroups: HashMap<u64, Vec<u8>>,
    cgroup_namespaces: CgroupNamespaces,
    guests: HashMap<u64, GuestId>,
    kernel_end: Option<Avma>,
    chunks: Chunks,
    n_samples: u64,
    sample_times: Option<RangeInclusive<u64>>,
    other_kinds: BTreeMap<RecordKind, u64>,
    lost_at: Vec<TimedLoss>,
    gaps: GapCounts,
    ignored: IgnoredRecords,
    /// Records that could not be decoded.
    n_bad: u64,
}

impl IndexPass<'_> {
    /// Takes the next block.
    fn take(&mut self, walked: WalkedBlock<IndexBlock>) {
        let WalkedBlock { range, block } = walked;
        let newest_ns = block.newest_ns();
        self.sample_times = joined(self.sample_times.take(), block.times);
        self.n_samples += block.n_samples;
        for (kind, n) in block.kinds {
            *self.other_kinds.entry(kind).or_default() += n;
        }
        self.ignored.add(block.ignored);
        self.guests.extend(block.guests);
        for &(offset, at) in &block.sideband {
            let bytes = block.bytes.get(at..).unwrap_or_default();
            let taken = RawRecord::parse(bytes, self.reader.endian())
                .ok()
                .and_then(|raw| self.take_sideband(offset, raw));
            self.n_bad += u64::from(taken.is_none());
        }
        self.chunks.take(range, &block.rounds, newest_ns);
    }

    /// Takes one record that is not a sample; `None` if it cannot be decoded.
    fn take_sideband(&mut self, offset: u64, raw: RawRecord<'_>) -> Option<()> {
        let event = self.reader.event_of(raw)?;
        let layout = &self.reader.events().get(event)?.layout;
        let (record, id) = Record::parse(raw, layout).ok()?;
        self.gaps.take(&record, &id);
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
                let key = self.builder.key(id.time_ns, offset);
                self.deferred.add(chain.cookie, key);
            }
            Record::Namespaces(namespaces) => {
                let key = self.builder.key(id.time_ns, offset);
                self.cgroup_namespaces.add(namespaces, key);
            }
            Record::Cgroup(cgroup) => {
                let path = self.cgroups.entry(cgroup.id);
                path.or_insert_with(|| cgroup.path.to_vec());
            }
            _ => {
                self.lifetimes.add(raw.misc, &record, id.time_ns);
                if self.marker_files.len() < MappedMarkerFile::MOST {
                    self.marker_files.extend(MappedMarkerFile::of(&record));
                }
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
