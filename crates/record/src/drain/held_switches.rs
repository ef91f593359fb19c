//! Stacks of threads that wait for long: they stand still, and are read from the process.
//!
//! At a switch, only registers are copied. Its sample is held back until the wait is over, or until it has lasted for
//! the threshold and the stack has been read. What was read counts if the thread was still off then. This is proved:
//! a record that it runs again is in its ring before the thread runs in user space. So a pass over all rings that
//! begins after the reading finds that record, if there is one. Where a ring may have lost records meanwhile, nothing
//! that was read counts.

mod held;

use crate::drain::blocked::{self, BlockedThread, KernelFunctions, ProcReader, SampleOf};
use crate::drain::head::Head;
use crate::drain::waited_files::{Descriptor, WaitedFiles};
use crate::live::process_memory::{ProcessMemory, is_refused};
use crate::note::{Note, OffCpuStacks};
use crate::opening::stack_dump;
use foldhash::HashMap;
use held::{Held, Life, ReadStack, Switch};
use rprof_abi::registers::RegisterTable;
use rprof_abi::{RecordHeader, SampleLayout};
use rprof_perfdata::FeatureId;
use rprof_ringbuf::sys::Clock;
use std::env::consts::ARCH;
use std::time::Duration;

/// The most that is read of a stack: what a record has room for beside other fields.
const MOST_BYTES: usize = 56 << 10;

/// Reading takes this much of a pass at most; what is left has its turn in the next one.
const MOST_READING_NS: u64 = 2_000_000;

/// Threads of which is known when they were last switched in. More are not waited for by name.
const MOST_THREADS: usize = 1 << 17;

/// Bytes of stacks that wait for their proof.
const MOST_HELD_BYTES: usize = 32 << 20;

/// The time between passes: as long as rings stay empty, it doubles up to the longest.
const LONGEST_POLL: Duration = Duration::from_millis(8);

/// How many waits have their stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct HeldCounts {
    /// Waits with the stack that was read.
    read: u64,
    /// Waits that were over before the threshold.
    short: u64,
    /// Longer ones that were over before their stack was read, or could not be proved to have lasted.
    missed: u64,
    /// Longer ones whose stacks could not be read.
    refused: u64,
    /// Longer ones that went on at the end of the recording.
    unfinished: u64,
}

/// A sample that is held no longer.
#[derive(Debug)]
pub(crate) struct Released {
    pub(crate) event: usize,
    /// No ring had it.
    pub(crate) is_made: bool,
    pub(crate) record: Vec<u8>,
}

/// Samples of switches that are held back.
#[derive(Debug)]
pub(crate) struct HeldSwitches {
    threshold_ns: u64,
    clock: Clock,
    /// When each thread was switched in since the last pass, and the last time before.
    switched_in: HashMap<i32, Vec<u64>>,
    /// Those with more than one time.
    more_than_once: Vec<i32>,
    /// By thread.
    lives: HashMap<i32, Life>,
    held: HashMap<i32, Held>,
    held_bytes: usize,
    released: Vec<Released>,
    memory: ProcessMemory,
    /// For the next stack.
    room: Vec<u8>,
    functions: KernelFunctions,
    proc: ProcReader,
    files: WaitedFiles,
    are_unsampled: bool,
    poll: Duration,
    /// Events are off: nothing that is read now could be proved.
    is_over: bool,
    counts: HeldCounts,
}

impl HeldSwitches {
    pub(crate) fn new(threshold: Duration, clock: Clock) -> Self {
        Self {
            threshold_ns: u64::try_from(threshold.as_nanos()).unwrap_or(u64::MAX),
            clock,
            switched_in: HashMap::default(),
            more_than_once: Vec::new(),
            lives: HashMap::default(),
            held: HashMap::default(),
            held_bytes: 0,
            released: Vec::new(),
            memory: ProcessMemory::default(),
            room: vec![0; MOST_BYTES],
            functions: KernelFunctions::default(),
            proc: ProcReader::default(),
            files: WaitedFiles::default(),
            are_unsampled: false,
            poll: LONGEST_POLL,
            is_over: false,
            counts: HeldCounts::default(),
        }
    }

    /// A thread runs again.
    #[inline]
    pub(crate) fn switched_in(&mut self, tid: i32, time_ns: u64) {
        if tid <= 0 {
            return;
        }
        let times = self.switched_in.entry(tid).or_default();
        // Rings come one after the other: a thread that moved may have older ones later.
        let at = times.partition_point(|&one| one <= time_ns);
        times.insert(at, time_ns);
        if times.len() == 2 {
            self.more_than_once.push(tid);
        }
        if let Some(held) = self.held.get_mut(&tid)
            && held.time_ns < time_ns
        {
            held.runs_ns = Some(held.runs_ns.map_or(time_ns, |first| first.min(time_ns)));
        }
    }

    /// A thread ends: its last switch is no wait, and its stack is another thread's soon.
    pub(crate) fn ended(&mut self, tid: i32, time_ns: u64) {
        let life = self.lives.entry(tid).or_default();
        life.ended_ns = life.ended_ns.max(time_ns);
    }

    /// A thread begins, or takes over the id of another one by executing a program.
    pub(crate) fn begins(&mut self, tid: i32, time_ns: u64) {
        let life = self.lives.entry(tid).or_default();
        life.began_ns = life.began_ns.max(time_ns);
    }

    /// Takes the sample of a switch. Returns whether it is held back; one that is not is written as it is.
    #[inline]
    pub(crate) fn hold(
        &mut self,
        head: &Head,
        record: &[u8],
        (event, layout): (usize, &SampleLayout),
    ) -> bool {
        let (tid, time_ns) = (head.tid, head.time_ns);
        if self.is_over(tid, time_ns) || !self.is_newest(tid, time_ns) {
            return false;
        }
        let Some(sp) = stack_pointer(record, layout) else {
            return false;
        };
        let held = Held {
            time_ns,
            pid: head.pid.cast_signed(),
            event,
            switch: Switch::Sample {
                record: record.to_vec(),
                sp,
            },
            runs_ns: None,
            stack: None,
        };
        self.replace(tid, held, layout);
        true
    }

    /// Takes what a record says of a switch that is not sampled.
    pub(crate) fn left(&mut self, of: SampleOf, (event, layout): (usize, &SampleLayout)) {
        let SampleOf { tid, time_ns, .. } = of;
        self.are_unsampled = true;
        if self.is_over(tid, time_ns) || !self.is_newest(tid, time_ns) {
            return;
        }
        let held = Held {
            time_ns,
            pid: of.pid,
            event,
            switch: Switch::Record(of),
            runs_ns: None,
            stack: None,
        };
        self.replace(tid, held, layout);
    }

    /// Whether a thread that was switched out runs again, or has ended; counts the wait.
    fn is_over(&mut self, tid: i32, time_ns: u64) -> bool {
        if let Some(times) = self.switched_in.get(&tid) {
            let next = times.partition_point(|&one| one <= time_ns);
            if let Some(&runs_ns) = times.get(next) {
                self.count_without(runs_ns - time_ns);
                return true;
            }
        }
        let life = self.lives.get(&tid);
        life.is_some_and(|life| life.has_ended_at(time_ns))
    }

    fn is_newest(&self, tid: i32, time_ns: u64) -> bool {
        let held = self.held.get(&tid);
        tid > 0 && held.is_none_or(|held| held.time_ns < time_ns)
    }

    /// Holds a switch back instead of the thread's one before.
    fn replace(&mut self, tid: i32, held: Held, layout: &SampleLayout) {
        if let Some(before) = self.held.insert(tid, held) {
            // It ran in between, whenever that was.
            let runs_ns = before.runs_ns.unwrap_or(before.time_ns);
            self.release(before, Some(runs_ns), layout);
        }
    }

    /// Records may have been lost: whatever is held back, its thread may have run since.
    pub(crate) fn doubt(&mut self) {
        for held in self.held.values_mut() {
            held.stack = None;
            held.runs_ns.get_or_insert(u64::MAX);
        }
        self.held_bytes = 0;
    }

    /// The end of a pass that began at this time: reads the stacks of threads that have been off for long enough.
    /// `layouts` are those of events.
    pub(crate) fn end_pass<'l>(
        &mut self,
        began_ns: u64,
        is_empty: bool,
        layout_of: impl Fn(usize) -> Option<&'l SampleLayout>,
    ) {
        self.adapt_poll(is_empty);
        let now_ns = self.clock.now_ns();
        let is_done = |held: &Held| {
            let is_proved = |stack: &ReadStack| stack.until_ns <= began_ns;
            held.runs_ns.is_some() || held.stack.as_ref().is_some_and(is_proved)
        };
        let done: Vec<i32> = (self.held.iter())
            .filter(|(_, held)| is_done(held))
            .map(|(&tid, _)| tid)
            .collect();
        for tid in done {
            if let Some(held) = self.held.remove(&tid)
                && let Some(layout) = layout_of(held.event)
            {
                let runs_ns = held.runs_ns;
                self.release(held, runs_ns, layout);
            }
        }
        if !self.is_over {
            self.read_stacks(now_ns);
        }
        for tid in self.more_than_once.drain(..) {
            if let Some(times) = self.switched_in.get_mut(&tid) {
                times.drain(..times.len().saturating_sub(1));
            }
        }
        if self.switched_in.len() > MOST_THREADS {
            // Samples before that were drained in this pass or before.
            let is_new = |times: &[u64]| times.last().is_some_and(|&last_ns| last_ns >= began_ns);
            self.switched_in.retain(|_, times| is_new(times));
        }
        if self.lives.len() > MOST_THREADS {
            self.lives
                .retain(|_, life| life.began_ns.max(life.ended_ns) >= began_ns);
        }
    }

    fn read_stacks(&mut self, now_ns: u64) {
        let least_ns = now_ns.saturating_sub(self.threshold_ns);
        let mut failed = Vec::new();
        for (&tid, held) in &mut self.held {
            if held.time_ns > least_ns || held.stack.is_some() {
                continue;
            }
            let is_full = self.held_bytes >= MOST_HELD_BYTES;
            if is_full || self.clock.now_ns().saturating_sub(now_ns) > MOST_READING_NS {
                break;
            }
            let thread = match held.switch {
                Switch::Sample { .. } => None,
                Switch::Record(of) => match self.proc.look(of.pid, of.tid) {
                    Some(thread) => Some(thread),
                    None => {
                        failed.push(tid);
                        continue;
                    }
                },
            };
            let sp = match &held.switch {
                Switch::Sample { sp, .. } => Some(*sp),
                Switch::Record(_) => thread.as_ref().and_then(|one| Some(one.user?.sp)),
            };
            let read = sp.and_then(|sp| self.memory.read(held.pid, sp, &mut self.room));
            if read.is_none() && thread.is_none() {
                failed.push(tid);
                continue;
            }
            let bytes = self.room.get(..read.unwrap_or(0) & !7);
            let bytes = bytes.unwrap_or_default().to_vec();
            self.held_bytes += bytes.len();
            let waited = match &thread {
                None => self.proc.descriptor(held.pid, tid),
                Some(thread) => thread.fd.map(|fd| Descriptor::of(held.pid, tid, fd)),
            };
            held.stack = Some(ReadStack {
                bytes,
                thread,
                waited,
                until_ns: self.clock.now_ns(),
            });
        }
        for tid in failed {
            if let Some(held) = self.held.remove(&tid) {
                if is_refused(held.pid) {
                    self.counts.refused += 1;
                } else {
                    self.counts.missed += 1;
                }
                self.release_sample(held.event, held.switch, None);
            }
        }
    }

    /// Lets a sample go: with its stack, if the thread was off for as long as reading took.
    fn release(&mut self, held: Held, runs_ns: Option<u64>, layout: &SampleLayout) {
        let Held {
            event,
            switch,
            stack,
            time_ns,
            ..
        } = held;
        let read_bytes = stack.as_ref().map_or(0, |stack| stack.bytes.len());
        self.held_bytes = self.held_bytes.saturating_sub(read_bytes);
        let proved = stack.filter(|stack| runs_ns.is_none_or(|runs_ns| stack.until_ns < runs_ns));
        let with = proved.and_then(|stack| {
            let is_whole = stack.bytes.len() < MOST_BYTES;
            let addr = stack.waited.and_then(|waited| self.files.addr(waited));
            match &switch {
                Switch::Sample { record, .. } => {
                    let with = stack_dump::with_dump(record, layout, &stack.bytes, is_whole);
                    with.map(|record| with_addr(record, layout, addr))
                }
                Switch::Record(of) => {
                    let BlockedThread {
                        functions, user, ..
                    } = stack.thread?;
                    let functions = functions.iter();
                    let functions = functions.filter_map(|name| self.functions.address(name));
                    let functions: Vec<u64> = functions.collect();
                    let place = (user, &*functions, addr);
                    blocked::sample(*of, place, (&stack.bytes, is_whole), layout)
                }
            }
        });
        match with {
            Some(_) => self.counts.read += 1,
            None => self.count_without(runs_ns.map_or(u64::MAX, |runs_ns| runs_ns - time_ns)),
        }
        self.release_sample(event, switch, with);
    }

    /// Lets a sample go: as it has become, or as it was.
    fn release_sample(&mut self, event: usize, switch: Switch, with: Option<Vec<u8>>) {
        let (record, is_made) = match switch {
            Switch::Sample { record, .. } => (Some(with.unwrap_or(record)), false),
            Switch::Record(_) => (with, true),
        };
        let released = record.map(|record| Released {
            event,
            is_made,
            record,
        });
        self.released.extend(released);
    }

    fn count_without(&mut self, waited_ns: u64) {
        if waited_ns < self.threshold_ns {
            self.counts.short += 1;
        } else {
            self.counts.missed += 1;
        }
    }

    /// Samples that are to be written now.
    pub(crate) fn take_released(&mut self) -> Vec<Released> {
        std::mem::take(&mut self.released)
    }

    /// When the longest of the waits began whose samples are held back.
    pub(crate) fn oldest_ns(&self) -> Option<u64> {
        self.held.values().map(|held| held.time_ns).min()
    }

    /// Events are off now.
    pub(crate) fn end_reading(&mut self) {
        self.is_over = true;
    }

    /// All that is left is written without its stack: these waits go on.
    pub(crate) fn release_all(&mut self) {
        let now_ns = self.clock.now_ns();
        for (_, held) in std::mem::take(&mut self.held) {
            let waited_ns = now_ns.saturating_sub(held.time_ns);
            match held.runs_ns {
                Some(runs_ns) => self.count_without(runs_ns.saturating_sub(held.time_ns)),
                None if waited_ns < self.threshold_ns => self.counts.short += 1,
                None => self.counts.unfinished += 1,
            }
            self.release_sample(held.event, held.switch, None);
        }
    }

    /// How many samples of waits that were too short for their stacks to be read there are.
    pub(crate) fn short_waits(&self) -> u64 {
        if self.are_unsampled {
            0
        } else {
            self.counts.short
        }
    }

    /// What came of the waits.
    pub(crate) fn note(&self) -> Note {
        let counts = self.counts;
        Note::OffCpuStacks(OffCpuStacks {
            threshold: Duration::from_nanos(self.threshold_ns),
            read: counts.read,
            short: counts.short,
            missed: counts.missed,
            refused: counts.refused,
            unfinished: counts.unfinished,
            nameless: self.files.n_nameless(),
            are_unsampled: self.are_unsampled,
        })
    }

    /// What threads waited for, for a file that ends now.
    pub(crate) fn waited_files(&self) -> (FeatureId, Vec<u8>) {
        self.files.section()
    }

    /// Lets the next file have names of its own for that.
    pub(crate) fn begin_waited_files(&mut self) {
        self.files.begin_anew();
    }

    /// Records that name functions of the kernel which samples have.
    pub(crate) fn tell_functions(&mut self, layout: &SampleLayout) -> Vec<Vec<u8>> {
        self.functions.tell(layout)
    }

    /// The longest time to the next pass: waits are looked at when they have lasted for the threshold.
    pub(crate) fn poll_interval(&self) -> Duration {
        self.poll
    }

    fn adapt_poll(&mut self, is_empty: bool) {
        let threshold = Duration::from_nanos(self.threshold_ns);
        let shortest = threshold.clamp(Duration::from_millis(1), LONGEST_POLL);
        self.poll = if is_empty && self.held.is_empty() {
            (self.poll * 2).min(LONGEST_POLL)
        } else {
            shortest
        };
    }
}

/// A sample with its field ADDR, if it has one.
fn with_addr(mut record: Vec<u8>, layout: &SampleLayout, addr: Option<u64>) -> Vec<u8> {
    let place = layout.addr_place().map(|place| RecordHeader::LEN + place);
    if let (Some(place), Some(addr)) = (place, addr)
        && let Some(field) = record.get_mut(place..place + 8)
    {
        field.copy_from_slice(&addr.to_ne_bytes());
    }
    record
}

/// Where a thread's stack is; `None` for one of the kernel.
fn stack_pointer(record: &[u8], layout: &SampleLayout) -> Option<u64> {
    let sample = layout.parse_sample(record.get(RecordHeader::LEN..)?).ok()?;
    let table = RegisterTable::of(ARCH)?;
    sample.regs_user?.value(table.stack_pointer)
}

#[cfg(test)]
mod tests;
