//! Unwinding while recording. Drained samples with stack dumps go in, samples with complete call chains come
//! out.

mod address_space;
mod code;
mod deep_stack;
mod ends;
mod footprint;
mod goroutine;
mod jitdump;
mod jitdumps;
mod lost_frame_pointer;
mod parts;
pub(crate) mod process_memory;
mod tables;
mod walk;
mod walked;

use crate::control::{StackCare, UnwindStatistics};
use crate::layouts::Layouts;
use crate::opening::stack_dump::NO_STACK_BYTES;
use crate::settings::WatchpointUse;
use code::Code;
use deep_stack::DeepStackRecovery;
use ends::{Ended, Ends};
use foldhash::HashSet;
use footprint::Footprint;
use jitdumps::LiveJitDumps;
use parts::others_bytes;
use rprof_abi::Machine;
use rprof_abi::sample::StackDump;
use rprof_abi::{
    Callchain, Encoder, Endian, RawRecord, Record, RecordKind, Sample, SampleLayout, context,
};
use rprof_locate::KeptFiles;
use rprof_machine::{Live, Steps};
use rprof_perfdata::feature::StackEnds;
use rprof_perfdata::file_kind;
use rprof_ringbuf::sys::Clock;
use rprof_unwind::{GAP, StackFrame, Unwinder, kernel_part};
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};
use tables::Tables;
use walked::Walked;

/// Turns drained records into those of the file.
#[derive(Debug)]
pub(crate) struct LiveUnwinder {
    settings: UnwinderSettings,
    live: Live,
    /// Those of `live`, and records.
    steps: Steps,
    generation: u32,
    tables: Tables,
    /// `None` where memory may be used for speed.
    footprint: Option<Footprint>,
    code: RefCell<Code>,
    jitdumps: LiveJitDumps,
    unwinder: Unwinder,
    /// The image that frame pointers alone led through, in the stack at hand.
    guessed: Option<u32>,
    ends: Ends,
    statistics: UnwindStatistics,
    deep_stacks: DeepStackRecovery,
    care: StackCare,
    /// Samples that could not be decoded.
    undecodable: u64,
    frames: Vec<StackFrame>,
    chain: Vec<u8>,
    body: Vec<u8>,
}

/// How stacks are unwound.
#[derive(Debug)]
pub(crate) struct UnwinderSettings {
    pub(crate) machine: Machine,
    /// Samples as they are drained.
    pub(crate) drained: Layouts,
    /// Samples as they are written.
    pub(crate) written: Layouts,
    pub(crate) sideband: SampleLayout,
    pub(crate) deep_stacks: DeepStacks,
    /// Stacks that need more than this count as large.
    pub(crate) small_dump_bytes: u32,
    /// Of all times.
    pub(crate) clock: Clock,
    pub(crate) unreadable: Arc<Unreadable>,
    /// Events whose samples without a stack have no more than the innermost frame.
    pub(crate) read_later: Vec<bool>,
    /// Events whose samples have no other registers than where a thread waits.
    pub(crate) blocked: Vec<bool>,
    /// Keeps files open.
    pub(crate) kept_files: Option<Arc<KeptFiles>>,
    /// Few samples, for days: memory stays small.
    pub(crate) is_continuous: bool,
}

/// What is done about stacks that the largest dumps have no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeepStacks {
    /// More of them is read from the process.
    Recovered,
    LeftTruncated,
}

/// What became of the stacks of a recording.
#[derive(Debug)]
pub(crate) struct Unwound {
    pub(crate) ends: StackEnds,
    /// Samples that could not be decoded.
    pub(crate) undecodable: u64,
    /// Processes with too many mappings to follow.
    pub(crate) n_overfull: usize,
    /// How deep stacks were proved.
    pub(crate) watchpoints: WatchpointUse,
    /// Paths of the files without a build id that stacks led into, if there are not too many.
    pub(crate) paths: Option<HashSet<Vec<u8>>>,
}

/// Processes that ran before and could not be looked into. Set when all were looked at.
pub(crate) type Unreadable = OnceLock<HashSet<i32>>;

/// Mappings are kept for samples that are older than the pass before by this: such samples may have been
/// on their way into their ring when it was last drained.
const MARGIN_NS: u64 = 10_000_000;

/// The most that fits into a record after its header and a chain's length, bytes.
const MOST_BYTES: usize = 65_528 - 16;

impl LiveUnwinder {
    pub(crate) fn new(settings: UnwinderSettings) -> Self {
        let live = Live::default();
        Self {
            steps: live.steps(),
            live,
            generation: 0,
            tables: Tables::new(settings.kept_files.clone()),
            footprint: settings.is_continuous.then(Footprint::default),
            code: RefCell::default(),
            jitdumps: LiveJitDumps::new(settings.machine),
            unwinder: Unwinder::new(),
            guessed: None,
            ends: Ends::default(),
            statistics: UnwindStatistics::default(),
            deep_stacks: DeepStackRecovery::default(),
            care: StackCare::default(),
            undecodable: 0,
            frames: Vec::new(),
            chain: Vec::new(),
            body: Vec::new(),
            settings,
        }
    }

    /// Appends what the file gets for drained records. All sideband up to `complete_until_ns` is among
    /// them or came before. The file has `file_len` bytes.
    pub(crate) fn take(
        &mut self,
        drained: &[u8],
        complete_until_ns: u64,
        file_len: u64,
        out: &mut Vec<u8>,
    ) {
        let mut rest = drained;
        while let Ok(raw) = RawRecord::parse(rest, Endian::NATIVE) {
            self.steps.count();
            let len = raw.len_bytes();
            let (record, after) = rest.split_at(len);
            rest = after;
            match raw.kind {
                RecordKind::SAMPLE => {
                    self.live.settle(complete_until_ns);
                    self.forget_spaces();
                    let offset = file_len + out.len() as u64;
                    if self.sample(raw, offset, out).is_none() {
                        self.undecodable += 1;
                    }
                    continue;
                }
                RecordKind::MMAP
                | RecordKind::MMAP2
                | RecordKind::COMM
                | RecordKind::FORK
                | RecordKind::EXIT => {
                    if let Ok((record, id)) = Record::parse(raw, &self.settings.sideband) {
                        if let Record::Exit(task) = &record {
                            self.deep_stacks.forget_thread(task.tid);
                        }
                        if self.settings.clock == Clock::Monotonic {
                            self.jitdumps.add(raw.misc, &record, &id);
                        }
                        self.live.add(raw.misc, &record, &id);
                    }
                }
                file_kind::FINISHED_ROUND => self.end_round(complete_until_ns),
                _ => {}
            }
            out.extend_from_slice(record);
        }
    }

    fn end_round(&mut self, complete_until_ns: u64) {
        self.live.settle(complete_until_ns);
        let before_ns = complete_until_ns.saturating_sub(MARGIN_NS);
        if let Some(moved) = self.live.forget(before_ns) {
            self.tables.images_moved(&moved);
            self.ends.images_moved(&moved);
        }
        if self.jitdumps.end_round(&self.live) {
            self.begin_anew();
        }
        self.forget_spaces();
        self.tables.trim();
        if let Some(footprint) = &mut self.footprint {
            footprint.end_round(complete_until_ns, &mut self.tables);
        }
        self.code.get_mut().end_round();
    }

    /// Forgets what is known of sets of mappings by their numbers, if those are others by now.
    fn forget_spaces(&mut self) {
        if self.live.generation() != self.generation {
            self.generation = self.live.generation();
            self.jitdumps.forget_spaces();
            self.begin_anew();
        }
    }

    fn begin_anew(&mut self) {
        self.unwinder = Unwinder::new();
        self.deep_stacks.forget_spaces();
    }

    /// Counts what is done.
    pub(crate) fn steps(&self) -> Steps {
        self.steps.clone()
    }

    /// Appends a sample with its complete chain; `None` if it cannot be decoded.
    fn sample(&mut self, raw: RawRecord<'_>, offset: u64, out: &mut Vec<u8>) -> Option<()> {
        let event = self.settings.drained.event_of(raw.body)?;
        let sample = self
            .settings
            .drained
            .layout(event)?
            .parse_sample(raw.body)
            .ok()?;
        if sample.stack_user.is_none() {
            // Of an event without dumps.
            return raw.encode(out, Endian::NATIVE).ok();
        }
        self.frames.clear();
        self.chain.clear();
        let kernel = kernel_part(sample.callchain.as_ref());
        self.chain.extend(kernel.flat_map(u64::to_ne_bytes));
        let is_read_later = self.settings.read_later.get(event).copied();
        let dump_bytes = sample.stack_user.as_ref().map(|dump| dump.data.len());
        let is_without =
            is_read_later.unwrap_or(false) && dump_bytes <= Some(NO_STACK_BYTES as usize);
        let walked = match self.care {
            // Its callers are in a stack that nobody has read.
            _ if is_without => self.take_innermost(&sample).map(Walked::to_gap),
            StackCare::None => self.take_as_it_is(&sample),
            StackCare::Full | StackCare::DumpOnly => self.walk(event, &sample),
        };
        let n_before_gap = walked.and_then(|walked| walked.n_before_gap);
        let gap = self.close_gap(n_before_gap, others_bytes(raw.body, &sample));
        if !self.frames.is_empty() {
            let n_before = gap.map_or(self.frames.len(), |gap| gap - self.chain.len() / 8 - 1);
            self.chain.extend(context::USER.to_ne_bytes());
            let (inner, outer) = self.frames.split_at(n_before.min(self.frames.len()));
            let avma = |frame: &StackFrame| frame.avma;
            // Its address has no name, in other readers either.
            let gap = gap.map(|_| GAP);
            let entries = inner
                .iter()
                .map(avma)
                .chain(gap)
                .chain(outer.iter().map(avma));
            self.chain.extend(entries.flat_map(u64::to_ne_bytes));
        }
        if let Some(Walked { outcome, .. }) = walked {
            let dump = sample.stack_user.as_ref().map(StackDump::stack);
            let dump = dump.filter(|_| self.care != StackCare::None);
            let pid = sample.pid.unwrap_or(-1);
            let unreadable = self.settings.unreadable.get();
            let ended = Ended {
                outcome,
                guessed: self.guessed.take(),
                dump: dump.unwrap_or_default(),
                is_readable: unreadable.is_none_or(|pids| !pids.contains(&pid)),
                gap,
                offset,
            };
            self.ends.add(ended, self.live.images());
        }
        let unwound = Sample {
            callchain: Some(Callchain::from_encoded(&self.chain, Endian::NATIVE)),
            stack_user: None,
            ..sample
        };
        self.body.clear();
        let mut encoder = Encoder::new(&mut self.body, Endian::NATIVE);
        self.settings
            .written
            .layout(event)?
            .encode_sample(&unwound, &mut encoder);
        let raw = RawRecord {
            body: &self.body,
            ..raw
        };
        raw.encode(out, Endian::NATIVE).ok()
    }

    /// From now on so much is done for stacks.
    pub(crate) fn care_for_stacks(&mut self, care: StackCare) {
        self.care = care;
    }

    /// Takes frames out if there are more than a record holds beside the bytes of its other fields: from
    /// the middle, or where others are missing already. Returns how many entries of the chain are left
    /// before the gap.
    fn close_gap(&mut self, n_before_gap: Option<usize>, others_bytes: usize) -> Option<usize> {
        let n_kernel = self.chain.len() / 8;
        let n_entries = MOST_BYTES.saturating_sub(others_bytes) / 8;
        // One marks user space, one the gap.
        let most = n_entries.saturating_sub(n_kernel + 2);
        let n_over = self.frames.len().saturating_sub(most);
        let from = match (n_before_gap, n_over) {
            (None, 0) => return None,
            (None, _) => most / 2,
            (Some(n_before), _) => n_before.min(self.frames.len() - n_over),
        };
        self.frames.drain(from..from + n_over);
        Some(n_kernel + 1 + from)
    }

    /// What was counted since this was last asked.
    pub(crate) fn take_statistics(&mut self) -> UnwindStatistics {
        UnwindStatistics {
            images_read: self.tables.take_n_read(),
            ..std::mem::take(&mut self.statistics)
        }
    }

    /// How the stacks of a file ended; another one begins.
    pub(crate) fn take_ends(&mut self) -> StackEnds {
        std::mem::take(&mut self.ends).finish()
    }

    /// What became of the stacks.
    pub(crate) fn finish(self) -> Unwound {
        Unwound {
            watchpoints: self.deep_stacks.watchpoints(),
            paths: self.tables.into_entered(),
            n_overfull: self.live.n_overfull(),
            ends: self.ends.finish(),
            undecodable: self.undecodable,
        }
    }
}
