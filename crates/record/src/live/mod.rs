//! Unwinding while recording: drained samples with copies of their stacks go in, samples with
//! whole call chains come out.

mod code;
mod completion;
mod ends;
mod frozen;
mod goroutine;
mod log;
mod logs;
mod memory;
mod rest;
mod space;
mod tables;

use crate::depth;
use crate::stacks::{LITTLE, Layouts, SHALLOW};
use code::Code;
use completion::{Completed, Completion};
use ends::Ends;
use foldhash::HashSet;
use logs::Logs;
use rest::CutStack;
use rprof_abi::registers::RegisterTable;
use rprof_abi::sample::StackDump;
use rprof_abi::{
    Callchain, Encoder, Endian, RawRecord, Record, RecordKind, Sample, SampleLayout, context,
};
use rprof_locate::KeptFiles;
use rprof_machine::Live;
use rprof_perfdata::feature::StackEnds;
use rprof_perfdata::file_kind;
use rprof_unwind::{Machine, Outcome, Registers, Stack, StackFrame, Unwinder};
use space::{LiveSpace, LogNow};
use std::cell::RefCell;
use std::env::consts::ARCH;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use tables::Tables;

/// Turns drained records into those of the file.
#[derive(Debug)]
pub(crate) struct LiveUnwinder {
    machine: Machine,
    drained: Layouts,
    written: Layouts,
    sideband: SampleLayout,
    live: Live,
    generation: u32,
    tables: Tables,
    code: RefCell<Code>,
    logs: Logs,
    unwinder: Unwinder,
    ends: Ends,
    seen: Arc<depth::Seen>,
    /// Whether more of deep stacks is read.
    completes: bool,
    completion: Completion,
    unreadable: Arc<Unreadable>,
    /// Samples that are not as was asked for.
    undecodable: u64,
    frames: Vec<StackFrame>,
    chain: Vec<u8>,
    body: Vec<u8>,
}

/// What became of the stacks of a recording.
#[derive(Debug)]
pub(crate) struct Unwound {
    pub(crate) ends: StackEnds,
    /// Samples that could not be decoded.
    pub(crate) undecodable: u64,
    /// Processes with too many mappings to follow.
    pub(crate) n_overfull: usize,
}

/// Processes that were there before, and could not be looked into; known once all were looked at.
pub(crate) type Unreadable = OnceLock<HashSet<i32>>;

/// Mappings are kept for samples that are older than the pass before by so many nanoseconds: they may
/// have been on their way into their ring when it was last drained.
const MARGIN_NS: u64 = 10_000_000;

/// Entries of a call chain that fit into a record beside its other fields.
const MAX_ENTRIES: usize = 8100;

/// Frames that are walked at most: more than fit into the largest copy.
const MAX_FRAMES: usize = 1 << 16;

impl LiveUnwinder {
    /// For events that are drained as one attr says and written as another; what the largest
    /// copies of stacks have no room for is read from the process, or not; files may be kept open.
    pub(crate) fn new(
        machine: Machine,
        (drained, written): (Layouts, Layouts),
        sideband: SampleLayout,
        (seen, unreadable): (Arc<depth::Seen>, Arc<Unreadable>),
        (completes, kept): (bool, Option<Arc<KeptFiles>>),
    ) -> Self {
        Self {
            machine,
            drained,
            written,
            sideband,
            live: Live::default(),
            generation: 0,
            tables: Tables::new(Arc::clone(&seen), kept),
            code: RefCell::default(),
            logs: Logs::new(machine),
            unwinder: Unwinder::new(),
            ends: Ends::default(),
            seen,
            completes,
            completion: Completion::default(),
            unreadable,
            undecodable: 0,
            frames: Vec::new(),
            chain: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Appends what the file gets for drained records. All sideband up to a moment is among
    /// them or came before; the file has so many bytes.
    pub(crate) fn take(
        &mut self,
        drained: &[u8],
        complete_until_ns: u64,
        file_len: u64,
        out: &mut Vec<u8>,
    ) {
        let mut rest = drained;
        while let Ok(raw) = RawRecord::parse(rest, Endian::NATIVE) {
            let len = raw.len_bytes();
            let (record, after) = rest.split_at(len);
            rest = after;
            match raw.kind {
                RecordKind::SAMPLE => {
                    self.live.settle(complete_until_ns);
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
                    if let Ok((record, id)) = Record::parse(raw, &self.sideband) {
                        if let Record::Exit(task) = &record {
                            self.completion.forget_thread(task.tid);
                        }
                        self.logs.see(raw.misc, &record, &id);
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
        self.live
            .forget(complete_until_ns.saturating_sub(MARGIN_NS));
        let begins_anew = self.logs.end_round(&self.live);
        if begins_anew || self.live.generation() != self.generation {
            self.generation = self.live.generation();
            self.unwinder = Unwinder::new();
            self.completion.forget_spaces();
        }
        self.tables.trim();
        self.code.get_mut().end_round();
    }

    /// Appends a sample with its whole chain; `None` if it cannot be decoded.
    fn sample(&mut self, raw: RawRecord<'_>, offset: u64, out: &mut Vec<u8>) -> Option<()> {
        let event = self.drained.event_of(raw.body)?;
        let sample = self.drained.of(event)?.parse_sample(raw.body).ok()?;
        self.frames.clear();
        self.chain.clear();
        let entries = sample.callchain.iter().flat_map(Callchain::entries);
        let kernel = entries.take_while(|&entry| entry != context::USER);
        self.chain.extend(kernel.flat_map(u64::to_ne_bytes));
        let (outcome, hole) = self.walk(&sample).unzip();
        let gap = self.close_gap(hole.flatten(), sample.raw.map_or(0, <[u8]>::len));
        if !self.frames.is_empty() {
            let n_before = gap.map_or(self.frames.len(), |gap| gap - self.chain.len() / 8 - 1);
            self.chain.extend(context::USER.to_ne_bytes());
            let (inner, outer) = self.frames.split_at(n_before.min(self.frames.len()));
            let avma = |frame: &StackFrame| frame.avma;
            // No name is at address 0, for other readers either.
            let gap = gap.map(|_| 0);
            let entries = inner
                .iter()
                .map(avma)
                .chain(gap)
                .chain(outer.iter().map(avma));
            self.chain.extend(entries.flat_map(u64::to_ne_bytes));
        }
        if let Some(outcome) = outcome {
            let is_copied = sample
                .stack_user
                .is_some_and(|stack| !stack.stack().is_empty());
            let is_readable = self.unreadable.get().is_none_or(|pids| {
                let pid = sample.pid.unwrap_or(-1);
                !pids.contains(&pid)
            });
            let images = self.live.images();
            self.ends
                .add((outcome, is_copied, is_readable), gap, offset, images);
        }
        let unwound = Sample {
            callchain: Some(Callchain::from_encoded(&self.chain, Endian::NATIVE)),
            regs_user: None,
            stack_user: None,
            ..sample
        };
        self.body.clear();
        let mut encoder = Encoder::new(&mut self.body, Endian::NATIVE);
        self.written
            .of(event)?
            .encode_sample(&unwound, &mut encoder);
        let raw = RawRecord {
            body: &self.body,
            ..raw
        };
        raw.encode(out, Endian::NATIVE).ok()
    }

    /// Finds the user part of a sample's stack, and after how many frames others are missing; `None` if
    /// it has none.
    fn walk(&mut self, sample: &Sample<'_>) -> Option<(Outcome, Option<usize>)> {
        let registers = sample.regs_user.as_ref()?;
        let registers = match Registers::of_sample(self.machine, registers) {
            Ok(registers) => registers,
            Err(Outcome::NoRegisters) => return None,
            Err(outcome) => {
                // Where it was is known.
                let table = RegisterTable::of(ARCH)?;
                let avma = registers.value(table.instruction_pointer)?;
                self.frames.push(StackFrame {
                    avma,
                    sp: 0,
                    slot: 0,
                    is_return: false,
                });
                return Some((outcome, None));
            }
        };
        let (pid, time_ns) = (sample.pid.unwrap_or(-1), sample.time_ns.unwrap_or(0));
        let epoch = self.live.epoch(pid, time_ns);
        self.tables.make_room(self.live.images().len());
        let number = self.logs.look(pid, time_ns, epoch);
        let log = self.logs.of(pid).zip(number);
        let space = LiveSpace {
            live: &self.live,
            tables: &self.tables,
            code: &self.code,
            log: log.map(|((log, round), number)| LogNow {
                log,
                round,
                time_ns,
                number,
            }),
            epoch,
            pid,
        };
        let dump = sample.stack_user.as_ref();
        let copy = dump.map(StackDump::stack).unwrap_or_default();
        let is_cut = dump.is_none_or(|dump| copy.len() >= dump.data.len());
        let start = registers.sp().unwrap_or(0);
        let (unwinder, frames) = (&mut self.unwinder, &mut self.frames);
        let stack = Stack::new(start, copy, is_cut);
        let outcome = walk(unwinder, &space, &registers, stack, frames);
        if unwinder.reach() > u64::from(SHALLOW) {
            self.seen.deep.fetch_add(1, Ordering::Relaxed);
        }
        if let Outcome::OffStack { .. } = outcome {
            let entries = sample.callchain.iter().flat_map(Callchain::entries);
            let user = entries.skip_while(|&entry| entry != context::USER);
            let callers: Vec<u64> = user.skip(1).collect();
            let whose = (self.machine, &space);
            match self.completion.add_goroutine(whose, &callers, frames) {
                Some(Completed::Hole(n_inner)) => return Some((Outcome::Cut, Some(n_inner))),
                Some(_) => return Some((Outcome::Rooted, None)),
                None => {}
            }
        }
        let tid = sample.tid.unwrap_or(pid);
        let goes_on = match outcome {
            // So small a copy was cut by us: a deeper one would not be larger.
            Outcome::Cut if is_cut && copy.len() <= LITTLE => false,
            Outcome::Cut => {
                self.seen.cut.fetch_add(1, Ordering::Relaxed);
                true
            }
            // The kernel stops copying at a page that nobody has written to yet.
            Outcome::OffStack { .. } => !copy.is_empty(),
            _ => false,
        };
        if !self.completes || !goes_on {
            return Some((outcome, None));
        }
        let cut = CutStack {
            pid,
            tid,
            time_ns,
            start,
            copy,
        };
        let completed = self
            .completion
            .complete((unwinder, &space), &registers, cut, frames);
        if completed != Completed::Unknown && outcome != Outcome::Cut {
            // There is more of it than was copied: it is to be looked at as often as a cut one.
            self.seen.cut.fetch_add(1, Ordering::Relaxed);
        }
        Some(match completed {
            Completed::Whole => {
                self.ends.completed();
                (Outcome::Rooted, None)
            }
            Completed::Hole(n_inner) => (Outcome::Cut, Some(n_inner)),
            Completed::Cut => (Outcome::Cut, None),
            Completed::Unknown => (outcome, None),
        })
    }

    /// Takes frames out of the middle, or where others are missing already, if there are more than a
    /// record holds beside its other fields and so much raw data; returns how many entries of the
    /// chain are left before the gap.
    fn close_gap(&mut self, hole: Option<usize>, raw_bytes: usize) -> Option<usize> {
        let n_kernel = self.chain.len() / 8;
        let most = MAX_ENTRIES.saturating_sub(n_kernel + 1 + raw_bytes.div_ceil(8));
        let n_over = self.frames.len().saturating_sub(most);
        let from = match (hole, n_over) {
            (None, 0) => return None,
            (None, _) => most / 2,
            (Some(hole), _) => hole.min(self.frames.len() - n_over),
        };
        self.frames.drain(from..from + n_over);
        Some(n_kernel + 1 + from)
    }

    /// What became of the stacks.
    pub(crate) fn finish(self) -> Unwound {
        Unwound {
            n_overfull: self.live.n_overfull(),
            ends: self.ends.finish(),
            undecodable: self.undecodable,
        }
    }
}

/// Walks a stack into a list of frames.
fn walk(
    unwinder: &mut Unwinder,
    space: &LiveSpace<'_>,
    registers: &Registers,
    stack: Stack<'_>,
    frames: &mut Vec<StackFrame>,
) -> Outcome {
    frames.clear();
    unwinder.walk(space, registers, stack, MAX_FRAMES, |frame| {
        frames.push(frame);
    })
}
