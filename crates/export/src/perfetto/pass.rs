//! Samples and tasks in time order: threads find the stacks of samples, and one thread makes packets of them.

use rprof_abi::record::Record;
use rprof_abi::{CpuMode, RecordKind};
use rprof_analysis::{
    DecodedSample, LocationCache, OrderedPass, OrderedRecord, Query, ResolvedSample,
    StackEndCounts, Symbols, TaskSample, comm_text,
};
use rprof_base::StackEnd;

/// The pass: writes each sample and task in words, as [`Item`] reads them.
pub(super) struct TracePass<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) symbols: &'a Symbols,
}

/// A thread's state.
pub(super) struct Local {
    locations: LocationCache,
    /// Of the stack at hand, innermost first.
    stack: Vec<u32>,
    pub(super) ends: StackEndCounts,
}

/// What the pass wrote, read again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    Sample(SampleItem),
    Task(TaskItem<'a>),
}

/// A sample; its stack comes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SampleItem {
    pub(super) event: usize,
    pub(super) time_ns: u64,
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) cpu: Option<u32>,
    pub(super) weight: u64,
    /// `Profiling.CpuMode`.
    pub(super) cpu_mode: u32,
    /// `Profiling.StackUnwindError`, where frames are missing.
    pub(super) unwind_error: Option<u32>,
}

/// A task that was named, or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskItem<'a> {
    /// `None` if it was there before.
    pub(super) time_ns: Option<u64>,
    pub(super) cpu: Option<u32>,
    pub(super) pid: i32,
    pub(super) tid: i32,
    /// The thread that made it, and its process.
    pub(super) parent: Option<(i32, i32)>,
    pub(super) comm: &'a str,
}

/// Stands for a number that is not known: no such number is.
const NONE: u64 = u64::MAX;

/// What kinds of items begin with.
const SAMPLE: u64 = 0;
const TASK: u64 = 1;

impl OrderedPass for TracePass<'_> {
    type Local = Local;
    type Before = ();
    type Stack = ();

    fn local(&self) -> Local {
        Local {
            locations: LocationCache::new(),
            stack: Vec::new(),
            ends: StackEndCounts::default(),
        }
    }

    fn pass_on<'s>(&self, (): &mut (), _samples: impl Iterator<Item = DecodedSample<'s>>) {}

    fn start(&self, _local: &mut Local, (): ()) {}

    fn wants(&self, _sample: &TaskSample<'_, '_>) -> bool {
        true
    }

    fn wants_stack(&self, _decoded: &DecodedSample<'_>) -> bool {
        true
    }

    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        _known: Option<()>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        local.ends.add(sample.end);
        if !self.find_stack(local, sample) {
            return None;
        }
        let decoded = sample.decoded;
        let error = sample.end.and_then(|end| unwind_error(end.end));
        let words = [
            SAMPLE,
            decoded.event as u64,
            decoded.head.time_ns.unwrap_or(0),
            word_of(decoded.pid),
            word_of(decoded.tid),
            decoded.head.cpu.map_or(NONE, u64::from),
            decoded.weight(self.query.recording.reader),
            cpu_mode(decoded.raw.misc.cpu_mode()).into(),
            error.map_or(NONE, u64::from),
            local.stack.len() as u64,
        ];
        append(&words, out);
        for location in &local.stack {
            out.extend_from_slice(&u64::from(*location).to_le_bytes());
        }
        None
    }

    fn wanted_records(&self) -> Option<&dyn Fn(RecordKind) -> bool> {
        Some(&|kind| matches!(kind, RecordKind::COMM | RecordKind::FORK))
    }

    fn record(&self, record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
        let (pid, tid, parent) = match &record.record {
            Record::Comm(comm) => (comm.pid, comm.tid, None),
            Record::Fork(task) => (task.pid, task.tid, Some((task.ppid, task.ptid))),
            _ => return,
        };
        let recording = self.query.recording;
        let name = record.task(recording, tid);
        let comm = comm_text(&recording.index.history, name).into_raw();
        let parent = parent.unwrap_or((-1, -1));
        let words = [
            TASK,
            record.id.time_ns.filter(|&time| time > 0).unwrap_or(NONE),
            record.id.cpu.map_or(NONE, u64::from),
            word_of(pid),
            word_of(tid),
            word_of(parent.0),
            word_of(parent.1),
            comm.len() as u64,
        ];
        append(&words, out);
        out.extend_from_slice(comm.as_bytes());
    }

    fn symbols(&self) -> Option<&Symbols> {
        Some(self.symbols)
    }
}

impl TracePass<'_> {
    /// Finds the locations of a sample's stack; whether a filter of functions shows it.
    fn find_stack(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> bool {
        let Local {
            locations, stack, ..
        } = local;
        stack.clear();
        let history = &self.query.recording.index.history;
        let mut innermost = None;
        sample.for_each_address(|address| {
            let find = |location| self.symbols.number(location);
            let number = locations.value(history, sample.mappings, address, find);
            innermost.get_or_insert(number);
            if !self.symbols.is_hidden(number) && !self.symbols.frames(number).is_empty() {
                stack.push(number);
            }
        });
        self.query.shows_function(self.symbols, innermost)
    }
}

fn append(words: &[u64], out: &mut Vec<u8>) {
    for word in words {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

fn word_of(id: i32) -> u64 {
    i64::from(id).cast_unsigned()
}

/// `Profiling.CpuMode`.
fn cpu_mode(mode: CpuMode) -> u32 {
    match mode {
        CpuMode::Unknown | CpuMode::Reserved(_) => 0,
        CpuMode::Kernel => 1,
        CpuMode::User => 2,
        CpuMode::Hypervisor => 3,
        CpuMode::GuestKernel => 4,
        CpuMode::GuestUser => 5,
    }
}

/// `Profiling.StackUnwindError`; `None` if frames are not missing, as far as is known.
fn unwind_error(end: StackEnd) -> Option<u32> {
    const UNKNOWN: u32 = 0;
    const MEMORY_INVALID: u32 = 2;
    const UNWIND_INFO: u32 = 3;
    const UNSUPPORTED: u32 = 4;
    const INVALID_MAP: u32 = 5;
    const MAX_FRAMES_EXCEEDED: u32 = 6;
    const REPEATED_FRAME: u32 = 7;
    match end {
        StackEnd::Complete | StackEnd::Guess | StackEnd::NoRegisters => None,
        StackEnd::Truncated | StackEnd::NotCopied | StackEnd::OffStack => Some(MEMORY_INVALID),
        StackEnd::NoInfo | StackEnd::BadInfo => Some(UNWIND_INFO),
        StackEnd::ThirtyTwoBit => Some(UNSUPPORTED),
        StackEnd::Unmapped => Some(INVALID_MAP),
        StackEnd::MaxStack => Some(MAX_FRAMES_EXCEEDED),
        StackEnd::Loop => Some(REPEATED_FRAME),
        _ => Some(UNKNOWN),
    }
}

/// Reads what the pass wrote.
pub(super) struct Items<'a> {
    rest: &'a [u8],
}

impl<'a> Items<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next one; locations of a sample's stack go to `stack`.
    pub(super) fn next(&mut self, stack: &mut Vec<u32>) -> Option<Item<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        if self.word() == TASK {
            return Some(Item::Task(self.task()));
        }
        let sample = SampleItem {
            event: usize::try_from(self.word()).unwrap_or(usize::MAX),
            time_ns: self.word(),
            pid: self.id(),
            tid: self.id(),
            cpu: self.small(),
            weight: self.word(),
            cpu_mode: self.small().unwrap_or(0),
            unwind_error: self.small(),
        };
        stack.clear();
        for _ in 0..self.word() {
            stack.extend(self.small());
        }
        Some(Item::Sample(sample))
    }

    fn task(&mut self) -> TaskItem<'a> {
        let time_ns = Some(self.word()).filter(|&word| word != NONE);
        let cpu = self.small();
        let (pid, tid) = (self.id(), self.id());
        let parent = (self.id(), self.id());
        let n_bytes = usize::try_from(self.word()).unwrap_or(usize::MAX);
        TaskItem {
            time_ns,
            cpu,
            pid,
            tid,
            parent: Some(parent).filter(|&parent| parent != (-1, -1)),
            comm: std::str::from_utf8(self.bytes(n_bytes)).unwrap_or_default(),
        }
    }

    fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (bytes, rest) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    fn word(&mut self) -> u64 {
        let bytes = self.bytes(8).first_chunk().copied();
        u64::from_le_bytes(bytes.unwrap_or_default())
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.word()).ok()
    }

    fn id(&mut self) -> i32 {
        i32::try_from(self.word().cast_signed()).unwrap_or(-1)
    }
}
