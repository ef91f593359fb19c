//! One pass over all rings. Its order lets a reader know every mapping before the samples that need it.
//! Samples and losses are counted on the way.

pub(crate) mod alive;
pub(crate) mod blocked;
pub(crate) mod coverage;
pub(crate) mod flight;
pub(crate) mod head;
pub(crate) mod held_switches;
mod in_order;
pub(crate) mod lineage;
pub(crate) mod losses;
pub(crate) mod missing_build_ids;
pub(crate) mod off_cpu;
pub(crate) mod own;
mod rounds;
pub(crate) mod streams;
pub(crate) mod waited_files;

use crate::drain::alive::Alive;
use crate::drain::coverage::Coverage;
use crate::drain::flight::Flight;
use crate::drain::head::Head;
use crate::drain::in_order::WaitingRecord;
use crate::drain::lineage::Lineage;
use crate::drain::missing_build_ids::MissingBuildIds;
use crate::drain::off_cpu::{OffCpuSamples, Taken};
use crate::drain::own::OwnSamples;
use crate::drain::rounds::Rounds;
use crate::drain::streams::Streams;
use crate::interrupts::WriterStalled;
use crate::jit_clock::JitClock;
use crate::layouts::Layouts;
use crate::note::Note;
use crate::opening::Opened;
use crate::opening::stack_dump::Kept;
use crate::sink::Sink;
use crate::thinning::Thinning;
use crate::words::{u32_at, u64_at};
use rprof_abi::record::Record;
use rprof_abi::{Endian, RawRecord, RecordHeader, RecordKind, SampleLayout};
use rprof_perfdata::feature::SampleThinning;
use rprof_ringbuf::sys::Clock;
use rprof_ringbuf::{Batch, Ring};
use std::mem;
use std::ops::AddAssign;

/// No record of sideband is longer: what is longest in one is a path.
const MOST_SIDEBAND_BYTES: u64 = 8 << 10;

/// Counts of the file so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DrainCounts {
    pub(crate) samples: u64,
    pub(crate) throttled: u64,
    /// From LOST records.
    pub(crate) lost_at_least: u64,
    /// The most of them that one record tells of.
    pub(crate) worst_loss: u64,
    /// Records in sample rings, and their bytes.
    pub(crate) ring_records: u64,
    pub(crate) ring_bytes: u64,
    /// Samples whose dumps were reduced.
    pub(crate) shortened: u64,
    /// Samples of the recorder itself, left out.
    pub(crate) own_samples: u64,
    /// Samples of tasks that are not recorded, left out.
    pub(crate) others_samples: u64,
    /// Samples that kept ones stand for (`--samples-per-hour`).
    pub(crate) thinned_out: u64,
    /// Times of the first and last sample.
    pub(crate) span_ns: Option<(u64, u64)>,
}

impl DrainCounts {
    /// How many samples were kept of how many, if this many an hour were to be.
    pub(crate) fn thinning(&self, samples_per_hour: Option<u64>) -> Option<SampleThinning> {
        Some(SampleThinning {
            samples_per_hour: samples_per_hour?,
            taken: self.samples + self.thinned_out,
            kept: self.samples,
        })
    }
}

impl AddAssign for DrainCounts {
    fn add_assign(&mut self, other: Self) {
        self.samples += other.samples;
        self.throttled += other.throttled;
        self.lost_at_least += other.lost_at_least;
        self.worst_loss = self.worst_loss.max(other.worst_loss);
        self.ring_records += other.ring_records;
        self.ring_bytes += other.ring_bytes;
        self.shortened += other.shortened;
        self.own_samples += other.own_samples;
        self.others_samples += other.others_samples;
        self.thinned_out += other.thinned_out;
        let (first, last) = (self.span_ns, other.span_ns);
        self.span_ns = match (first, last) {
            (Some(first), Some(last)) => Some((first.0.min(last.0), first.1.max(last.1))),
            (one, other) => one.or(other),
        };
    }
}

/// What one pass over the rings came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// No ring held anything.
    pub(crate) is_empty: bool,
    /// How full the fullest sample ring was.
    pub(crate) fullest_ring_percent: u64,
}

/// How samples are drained.
#[derive(Debug)]
pub(crate) struct DrainedSamples {
    /// Their layouts, if they hold stacks.
    pub(crate) stacks: Option<Layouts>,
    /// The recorder's own, if they are left out.
    pub(crate) own: Option<OwnSamples>,
    /// Of all times.
    pub(crate) clock: Clock,
}

/// What a drain keeps track of, where it is needed.
#[derive(Debug, Default)]
pub(crate) struct Tracked {
    /// Whose records are kept, if everybody is sampled.
    pub(crate) lineage: Option<Lineage>,
    /// What samples stand for, if that is worth knowing.
    pub(crate) coverage: Option<Coverage>,
    /// Tells samples apart if threads may have events twice.
    pub(crate) streams: Option<Streams>,
    /// Who is there, for descriptions of what runs; `None` if there will be none.
    pub(crate) alive: Option<Alive>,
    /// Tells switches and wake-ups from other samples, if off-CPU time is recorded.
    pub(crate) off_cpu: Option<OffCpuSamples>,
    /// Sample rings are overwritten; what was taken from them, until it is written.
    pub(crate) flight: Option<Flight>,
    /// Drops samples for which others stand.
    pub(crate) thinning: Option<Thinning>,
}

/// Drains rings into a sink.
#[derive(Debug)]
pub(crate) struct Drain {
    samples: DrainedSamples,
    pub(crate) jit_clock: JitClock,
    pub(crate) counts: DrainCounts,
    pub(crate) missing_build_ids: MissingBuildIds,
    pub(crate) sideband_layout: SampleLayout,
    pub(crate) tracked: Tracked,
    /// When the last pass began, with which all sideband up to then was drained.
    complete_until_ns: u64,
    /// Sideband that is newer than what is known to be complete.
    waiting: Vec<WaitingRecord>,
    rounds: Rounds,
    heads: Vec<u64>,
    /// What is to be said after the pass.
    pub(crate) notes: Vec<Note>,
}

/// A mapping's record with the build id of the file, if it changes.
fn identified(
    record: &[u8],
    missing_build_ids: &mut MissingBuildIds,
    layout: &SampleLayout,
) -> Option<Vec<u8>> {
    let raw = RawRecord::parse(record, Endian::NATIVE).ok()?;
    if raw.kind != RecordKind::MMAP2 {
        return None;
    }
    let (mut map, id) = Record::parse(raw, layout).ok()?;
    let misc = missing_build_ids.take(&mut map, raw.misc)?;
    let mut bytes = Vec::with_capacity(record.len());
    map.encode(misc, &id, layout, &mut bytes).ok()?;
    Some(bytes)
}

/// The time of a sideband record, which ends with TID, TIME, CPU and IDENTIFIER.
fn sideband_time_ns(record: &[u8]) -> u64 {
    let at = record.len().checked_sub(24);
    at.map_or(0, |at| u64_at(record, at))
}

/// The thread of such a record.
fn sideband_tid(record: &[u8]) -> i32 {
    let at = record.len().checked_sub(28);
    let tid = at.and_then(|at| u32_at(record, at));
    tid.map_or(-1, u32::cast_signed)
}

impl Drain {
    pub(crate) fn new(
        sideband_layout: SampleLayout,
        samples: DrainedSamples,
        tracked: Tracked,
    ) -> Self {
        Self {
            jit_clock: JitClock::new(samples.clock),
            samples,
            counts: DrainCounts::default(),
            missing_build_ids: MissingBuildIds::default(),
            sideband_layout,
            tracked,
            complete_until_ns: 0,
            waiting: Vec::new(),
            rounds: Rounds::default(),
            heads: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// One pass over all rings.
    pub(crate) fn pass(
        &mut self,
        opened: &mut Opened,
        sink: &mut Sink,
    ) -> Result<Pass, WriterStalled> {
        self.heads.clear();
        if self.tracked.flight.is_none() {
            self.heads
                .extend(opened.sampling.rings.iter().map(Ring::head));
        }
        let now_ns = self.samples.clock.now_ns();
        sink.complete_until(now_ns);
        let complete_until_ns = mem::replace(&mut self.complete_until_ns, now_ns);
        if let Some(alive) = &mut self.tracked.alive {
            alive.settle(complete_until_ns);
        }
        let mut any = false;
        if self.tracked.lineage.is_some() {
            any = self.sideband_in_order(opened, sink, now_ns)?;
        } else {
            for ring in &mut opened.sideband.rings {
                let before = ring.tail();
                any |= self.drain(ring.batch(), sink, Self::sideband)?;
                self.check_room(ring, before, MOST_SIDEBAND_BYTES);
            }
        }
        let any_sideband = any;
        let n_before = self.counts.ring_records;
        let heads = mem::take(&mut self.heads);
        let mut fullest_ring_percent = 0;
        for (ring, &head) in opened.sampling.rings.iter_mut().zip(&heads) {
            let size = ring.size_bytes();
            let before = ring.tail();
            let batch = ring.batch_until(head);
            fullest_ring_percent = fullest_ring_percent.max(batch.len_bytes() * 100 / size);
            any |= self.drain(batch, sink, Self::sample)?;
            self.check_sample_room(ring, before);
        }
        self.heads = heads;
        if let Some(coverage) = &mut self.tracked.coverage {
            coverage.end_pass();
        }
        if let Some(lineage) = &mut self.tracked.lineage {
            lineage.end_pass();
        }
        self.fit_thinning();
        // Wake-ups of others are no reason for anything.
        let n_foreign = mem::take(&mut self.rounds.n_foreign);
        let any_kept = any_sideband || self.counts.ring_records - n_before > n_foreign;
        self.release_switches(now_ns, !any_kept, sink)?;
        self.end_round_if_due(any_kept, sink)?;
        Ok(Pass {
            is_empty: !any,
            fullest_ring_percent,
        })
    }

    /// When the last pass began: everything up to then was drained.
    pub(crate) fn complete_until_ns(&self) -> u64 {
        self.complete_until_ns
    }

    /// Fits what is kept of the samples to how many there are.
    pub(crate) fn fit_thinning(&mut self) {
        if let Some(thinning) = &mut self.tracked.thinning {
            // The clock of samples may be set back (`-k realtime`).
            thinning.end_pass(Clock::Monotonic.now_ns());
        }
    }

    fn drain(
        &mut self,
        mut batch: Batch<'_>,
        sink: &mut Sink,
        take: impl Fn(&mut Self, RecordKind, &[u8], &mut Sink) -> Result<(), WriterStalled>,
    ) -> Result<bool, WriterStalled> {
        if batch.len_bytes() == 0 {
            return Ok(false);
        }
        loop {
            match batch.next() {
                Ok(Some(record)) => {
                    if let Some(kind) = u32_at(record, 0) {
                        take(self, RecordKind(kind), record, sink)?;
                    }
                }
                Ok(None) => return Ok(true),
                Err(error) => self.notes.push(Note::RingDamaged(error.to_string())),
            }
        }
    }

    #[inline]
    pub(crate) fn sample(
        &mut self,
        kind: RecordKind,
        record: &[u8],
        sink: &mut Sink,
    ) -> Result<(), WriterStalled> {
        self.counts.ring_records += 1;
        self.counts.ring_bytes += record.len() as u64;
        if kind != RecordKind::SAMPLE {
            self.other(kind, record);
            return sink.push(record);
        }
        // All of our samples begin so, and the kernel writes complete records.
        let head = Head::parse(record).unwrap_or_default();
        let tracked = &mut self.tracked;
        let off_cpu = tracked.off_cpu.as_mut();
        match off_cpu.and_then(|samples| samples.take(&head, record, tracked.lineage.as_ref())) {
            Some(Taken::Kept) => return self.recorded_sample(&head, record, sink),
            Some(Taken::LeftOut) => {
                self.rounds.n_foreign += 1;
                return Ok(());
            }
            None => {}
        }
        let own = self.samples.own.as_ref();
        if own.is_some_and(|own| own.leaves_out(&head)) {
            self.counts.own_samples += 1;
            return Ok(());
        }
        let is_others = match (&self.tracked.lineage, &mut self.tracked.coverage) {
            (Some(lineage), _) => !lineage.has_thread(head.tid, head.time_ns),
            (None, Some(coverage)) => !coverage.takes(&head, record),
            (None, None) => false,
        };
        if is_others {
            self.counts.others_samples += 1;
            return Ok(());
        }
        let body = record.get(RecordHeader::LEN..).unwrap_or_default();
        if let Some(streams) = &mut self.tracked.streams
            && streams.has_sample_twice(&head, body)
        {
            return Ok(());
        }
        self.recorded_sample(&head, record, sink)
    }

    /// Takes a sample of what is recorded.
    #[inline]
    fn recorded_sample(
        &mut self,
        head: &Head,
        record: &[u8],
        sink: &mut Sink,
    ) -> Result<(), WriterStalled> {
        let record = match &mut self.tracked.thinning {
            None => record,
            Some(thinning) => match thinning.take(record) {
                Some(kept) => kept,
                None => {
                    self.counts.thinned_out += 1;
                    return Ok(());
                }
            },
        };
        self.counts.samples += 1;
        let time = head.time_ns;
        let (first, last) = self.counts.span_ns.unwrap_or((time, time));
        self.counts.span_ns = Some((first.min(time), last.max(time)));
        if let Some(off_cpu) = &mut self.tracked.off_cpu
            && off_cpu.hold(head, record)
        {
            return Ok(());
        }
        let body = record.get(RecordHeader::LEN..).unwrap_or_default();
        let stacks = self.samples.stacks.as_ref();
        let Some(layout) = stacks.and_then(|stacks| stacks.layout(stacks.event_of(body)?)) else {
            return sink.push(record);
        };
        let kept = sink.push_sample(record, layout)?;
        self.counts.shortened += u64::from(kept != Kept::All);
        Ok(())
    }

    pub(crate) fn sideband(
        &mut self,
        kind: RecordKind,
        record: &[u8],
        sink: &mut Sink,
    ) -> Result<(), WriterStalled> {
        if let Some(lineage) = &mut self.tracked.lineage {
            let body = record.get(RecordHeader::LEN..).unwrap_or_default();
            let is_switch = matches!(kind, RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE);
            let time_ns = sideband_time_ns(record);
            let is_others = is_switch && !lineage.has_thread(sideband_tid(record), time_ns);
            if is_others || !lineage.see(kind, body, time_ns) {
                return Ok(());
            }
        }
        if let Some(coverage) = &mut self.tracked.coverage {
            let body = record.get(RecordHeader::LEN..).unwrap_or_default();
            coverage.see(kind, body, sideband_time_ns(record));
        }
        if let Some(off_cpu) = &mut self.tracked.off_cpu {
            off_cpu.see(
                kind,
                record,
                (sideband_tid(record), sideband_time_ns(record)),
            );
        }
        if let (Some(streams), RecordKind::FORK) = (&mut self.tracked.streams, kind) {
            // header, pid, ppid, tid
            streams.begins(u32_at(record, 16).unwrap_or(0).cast_signed());
        }
        if let Some(alive) = &mut self.tracked.alive {
            alive.see(record, sideband_time_ns(record));
        }
        if kind == RecordKind::MMAP2
            && let Ok(raw) = RawRecord::parse(record, Endian::NATIVE)
            && let Ok((map, _)) = Record::parse(raw, &self.sideband_layout)
        {
            self.notes.extend(self.jit_clock.see(&map));
        }
        match identified(record, &mut self.missing_build_ids, &self.sideband_layout) {
            Some(changed) => sink.push(&changed),
            None => sink.push(record),
        }
    }

    /// The sideband since the state that [`Alive::describe`] tells, with build ids as another file gets them.
    pub(crate) fn newer_sideband(&mut self, missing_build_ids: &mut MissingBuildIds) -> Vec<u8> {
        let mut out = Vec::new();
        for record in self.tracked.alive.iter_mut().flat_map(Alive::newer) {
            let changed = identified(record, missing_build_ids, &self.sideband_layout);
            out.extend_from_slice(changed.as_deref().unwrap_or(record));
        }
        out
    }

    fn other(&mut self, kind: RecordKind, record: &[u8]) {
        match kind {
            RecordKind::THROTTLE => self.counts.throttled += 1,
            RecordKind::LOST => {
                // header, id, count
                let lost = u64_at(record, 16);
                self.counts.lost_at_least += lost;
                self.counts.worst_loss = self.counts.worst_loss.max(lost);
            }
            _ => {}
        }
    }

    /// Drains until two passes in a row find nothing. Events are disabled by then.
    pub(crate) fn rest(
        &mut self,
        opened: &mut Opened,
        sink: &mut Sink,
    ) -> Result<(), WriterStalled> {
        if let Some(held) = self.tracked.held_switches() {
            held.end_reading();
        }
        let mut n_empty = 0;
        while n_empty < 2 {
            n_empty = if self.pass(opened, sink)?.is_empty {
                n_empty + 1
            } else {
                0
            };
        }
        self.release_all_switches(sink)
    }

    /// Notes that came up while draining.
    pub(crate) fn take_notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        self.notes.drain(..)
    }
}
