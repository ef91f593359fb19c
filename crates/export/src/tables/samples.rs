//! Samples in time order: threads find their stacks and hashes, and one thread puts them into the tables.

use super::error::TablesError;
use super::hash::{Collision, ContentHash, KnownHashes, stack_hash};
use super::schema::{SampleColumns, StackColumns};
use super::table::TableWriter;
use rprof_analysis::{
    DecodedSample, LocationCache, OrderedPass, Query, ResolvedSample, StackEndCounts, Symbols,
    TaskSample, comm_text,
};
use rprof_scheduling::{Cause, ThreadState};

/// The pass: writes each sample in bytes, as [`SampleBytes`] reads them.
pub(super) struct TablesPass<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) symbols: &'a Symbols,
    /// By number of the location; `None` for those that are not shown.
    pub(super) frame_hashes: &'a [Option<i64>],
}

/// A thread's state.
pub(super) struct Local {
    locations: LocationCache,
    /// Of the stack at hand.
    frames: Vec<i64>,
    sent: SentStacks,
    pub(super) ends: StackEndCounts,
}

/// Stacks that a thread has sent with their frames, as far as they are remembered: the table takes any again. 192 KiB
/// for each thread.
struct SentStacks(Box<[Option<ContentHash>]>);

impl SentStacks {
    const BITS: u32 = 13;
    /// By the upper bits of hashes.
    const SLOTS: usize = 1 << Self::BITS;

    /// Whether a stack was sent; from now on it was.
    fn add(&mut self, stack: ContentHash) -> bool {
        let slot = &mut self.0[(stack.hash.cast_unsigned() >> (u64::BITS - Self::BITS)) as usize];
        slot.replace(stack) == Some(stack)
    }
}

/// Stands for a number that a sample does not have: the tables have no such number.
const NONE: u64 = u64::MAX;

/// What a thread remembers of a stack: its frames were sent, or a filter hides it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownStack {
    content: ContentHash,
    is_empty: bool,
    /// Whether a filter of functions shows its samples.
    is_shown: bool,
}

impl OrderedPass for TablesPass<'_> {
    type Local = Local;
    type Before = ();
    type Stack = KnownStack;

    const REMEMBERS_STACKS: bool = true;

    fn local(&self) -> Local {
        Local {
            locations: LocationCache::new(),
            frames: Vec::new(),
            sent: SentStacks(vec![None; SentStacks::SLOTS].into()),
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
        known: Option<KnownStack>,
        out: &mut Vec<u8>,
    ) -> Option<KnownStack> {
        let is_edge = self.query.recording.is_edge(sample.decoded.event);
        if is_edge && sample.decoded.stretch().is_none() {
            return None;
        }
        local.ends.add(sample.end);
        let stack = known.unwrap_or_else(|| self.find_stack(local, sample));
        if !stack.is_shown {
            return Some(stack);
        }
        let decoded = sample.decoded;
        let recording = self.query.recording;
        let content = stack.content;
        let is_sent = known.is_some() || stack.is_empty || local.sent.add(content);
        let frames = if is_sent { &[] } else { &local.frames[..] };
        let comm = comm_text(&recording.index.history, sample.task).into_raw();
        let stretch = decoded.stretch();
        let span = decoded.named_span(recording);
        let span_name = span.map_or("", |span| span.name.raw());
        let words = [
            decoded.event as u64,
            decoded.head.time_ns.unwrap_or(NONE),
            i64::from(decoded.pid).cast_unsigned(),
            i64::from(decoded.tid).cast_unsigned(),
            decoded.head.cpu.map_or(NONE, u64::from),
            decoded.weight(recording.reader),
            decoded.head.period.unwrap_or(NONE),
            stretch.map_or(NONE, |one| one.state.number()),
            stretch.map_or(NONE, |one| one.cause.number()),
            (!stack.is_empty).into(),
            content.hash.cast_unsigned(),
            content.check,
            comm.len() as u64,
            frames.len() as u64,
            span.map_or(NONE, |span| span.start_ns),
            span.map_or(NONE, |span| span.ns),
            span_name.len() as u64,
        ];
        for word in words {
            out.extend_from_slice(&word.to_le_bytes());
        }
        for frame in frames {
            out.extend_from_slice(&frame.to_le_bytes());
        }
        out.extend_from_slice(comm.as_bytes());
        out.extend_from_slice(span_name.as_bytes());
        Some(stack)
    }

    fn symbols(&self) -> Option<&Symbols> {
        Some(self.symbols)
    }
}

impl TablesPass<'_> {
    /// Finds the stack of a sample, and leaves its frames there.
    fn find_stack(&self, local: &mut Local, sample: &ResolvedSample<'_, '_>) -> KnownStack {
        let Local {
            locations, frames, ..
        } = local;
        frames.clear();
        let history = &self.query.recording.index.history;
        let mut innermost = None;
        sample.for_each_address(|address| {
            let find = |location| self.symbols.number(location);
            let number = locations.value(history, sample.mappings, address, find);
            innermost.get_or_insert(number);
            frames.extend(self.frame_hashes.get(number as usize).copied().flatten());
        });
        KnownStack {
            content: stack_hash(frames),
            is_empty: frames.is_empty(),
            is_shown: self.query.shows_function(self.symbols, innermost),
        }
    }
}

/// What the pass wrote, read again.
struct SampleBytes<'a> {
    rest: &'a [u8],
}

impl<'a> SampleBytes<'a> {
    fn bytes(&mut self, n: u64) -> &'a [u8] {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let (bytes, rest) = self.rest.split_at(n.min(self.rest.len()));
        self.rest = rest;
        bytes
    }

    fn word(&mut self) -> u64 {
        let bytes = self.bytes(8).first_chunk().copied();
        u64::from_le_bytes(bytes.unwrap_or_default())
    }

    fn number(&mut self) -> Option<u64> {
        Some(self.word()).filter(|&word| word != NONE)
    }
}

/// What was written of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenEvent {
    pub(super) samples: i64,
    pub(super) weight: i64,
}

/// The tables that samples go into.
pub(super) struct SampleTables {
    pub(super) samples: TableWriter<SampleColumns>,
    pub(super) stacks: TableWriter<StackColumns>,
    /// Names of events, by number.
    pub(super) event_names: Vec<String>,
    /// What is added to times.
    pub(super) offset_ns: i64,
    /// By event.
    pub(super) written: Vec<WrittenEvent>,
    /// Of the first and the last sample.
    pub(super) times_ns: Option<(i64, i64)>,
    known: KnownHashes,
}

impl SampleTables {
    pub(super) fn new(
        samples: TableWriter<SampleColumns>,
        stacks: TableWriter<StackColumns>,
        event_names: Vec<String>,
        offset_ns: i64,
    ) -> Self {
        Self {
            samples,
            stacks,
            written: vec![WrittenEvent::default(); event_names.len()],
            event_names,
            offset_ns,
            times_ns: None,
            known: KnownHashes::default(),
        }
    }

    /// Takes what the pass wrote of some samples.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), TablesError> {
        let mut bytes = SampleBytes { rest: bytes };
        while !bytes.rest.is_empty() {
            self.take_sample(&mut bytes)?;
        }
        Ok(())
    }

    fn take_sample(&mut self, bytes: &mut SampleBytes<'_>) -> Result<(), TablesError> {
        let columns = &mut self.samples.columns;
        let event = usize::try_from(bytes.word()).unwrap_or(usize::MAX);
        let time_ns = bytes.number().and_then(|time| i64::try_from(time).ok());
        let time_ns = time_ns.and_then(|time| time.checked_add(self.offset_ns));
        columns.time_ns.push_option(time_ns);
        for column in [&mut columns.pid, &mut columns.tid] {
            let id = i32::try_from(bytes.word().cast_signed()).ok();
            column.push_option(id.filter(|&id| id >= 0));
        }
        let cpu = bytes.number().and_then(|cpu| i32::try_from(cpu).ok());
        columns.cpu.push_option(cpu);
        let weight = signed("weight", bytes.word())?;
        columns.weight.push(weight);
        let period = bytes.number().map(|period| signed("period", period));
        columns.period.push_option(period.transpose()?);
        let mut place = || {
            bytes
                .number()
                .and_then(|number| usize::try_from(number).ok())
        };
        let state = place().and_then(|number| ThreadState::ALL.get(number));
        let state = state.map(|state| state.name().as_bytes());
        columns.state.push_option(state);
        let cause = place().and_then(|number| Cause::ALL.get(number));
        let cause = cause.map(|cause| cause.name().as_bytes());
        columns.cause.push_option(cause);
        let has_stack = bytes.word() != 0;
        let stack = ContentHash {
            hash: bytes.word().cast_signed(),
            check: bytes.word(),
        };
        columns
            .stack_hash
            .push_option(has_stack.then_some(stack.hash));
        let (comm_len, n_frames) = (bytes.word(), bytes.word());
        let (start_ns, ns, span_len) = (bytes.number(), bytes.number(), bytes.word());
        let frames = bytes.bytes(n_frames.saturating_mul(8));
        let comm = bytes.bytes(comm_len);
        columns.comm.push(comm);
        let span = bytes.bytes(span_len);
        columns.span.push_option(ns.map(|_| span));
        let start_ns = start_ns.and_then(|start| i64::try_from(start).ok());
        let start_ns = start_ns.and_then(|start| start.checked_add(self.offset_ns));
        columns.span_start_ns.push_option(start_ns);
        let ns = ns.map(|ns| signed("length of a span", ns));
        columns.span_ns.push_option(ns.transpose()?);
        let name = self.event_names.get(event);
        columns.event.push(name.map_or(b"", String::as_bytes));
        self.count(event, weight, time_ns)?;
        self.samples.end_row()?;
        // One without frames was compared when it came with them.
        if !frames.is_empty() {
            self.take_stack(stack, frames)?;
        }
        Ok(())
    }

    fn count(
        &mut self,
        event: usize,
        weight: i64,
        time_ns: Option<i64>,
    ) -> Result<(), TablesError> {
        if let Some(written) = self.written.get_mut(event) {
            written.samples += 1;
            let sum = written.weight.checked_add(weight);
            written.weight = sum.ok_or(TablesError::SumTooLarge)?;
        }
        if let Some(time_ns) = time_ns {
            let (first, last) = self.times_ns.unwrap_or((time_ns, time_ns));
            self.times_ns = Some((first.min(time_ns), last.max(time_ns)));
        }
        Ok(())
    }

    /// A stack is compared with what has its hash; it is written if it is new.
    fn take_stack(&mut self, stack: ContentHash, frames: &[u8]) -> Result<(), TablesError> {
        let collision = |Collision(hash)| TablesError::Collision {
            what: "stacks",
            hash,
        };
        if !self.known.add(stack).map_err(collision)? {
            return Ok(());
        }
        let columns = &mut self.stacks.columns;
        columns.stack_hash.push(stack.hash);
        let (words, _) = frames.as_chunks();
        let hashes = words.iter().map(|&word| i64::from_le_bytes(word));
        columns.frame_hashes.push_list(hashes);
        self.stacks.end_row()
    }
}

fn signed(what: &'static str, number: u64) -> Result<i64, TablesError> {
    i64::try_from(number).map_err(|_| TablesError::TooLarge { what, number })
}
