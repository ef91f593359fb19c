//! What a recording says of system calls, in order of time.

use super::driver::{ResolvedSample, TaskSample};
use super::load::{Options, Progress, progress_of, query_of};
use super::locations::find_locations;
use super::ordered::OrderedRecord;
use super::ordered_pass::{OrderedPass, run_ordered};
use super::query::Query;
use super::syscall_decoder::{SyscallDecoder, SyscallStep, WantedStack, WantedSteps};
use super::syscall_words::{SyscallWords, end_event, start_event};
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{LocationCache, comm_text};
use crate::pauses::pauses_of;
use crate::recording::Recording;
use crate::samples::{DecodedSample, check_filter, tells_of_waits};
use crate::stacks::StackEndCounts;
use crate::symbolize::Symbols;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RecordKind};
use rprof_perfdata::{FeatureId, Reader, Warning};
use rprof_profile::{Level, Profile};
use rprof_untrusted::Untrusted;

/// An event of a system call, or of a task that calls.
#[derive(Clone, Copy, Debug)]
pub struct SyscallEvent<'e> {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// What happens.
    pub step: SyscallStep,
    /// What the thread is called; empty for what is no entry and no return.
    pub comm: Untrusted<&'e str>,
    /// The stack, innermost first, of system calls without the kernel's part; empty without one.
    pub stack: SyscallStack<'e>,
}

/// The stack of an entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyscallStack<'e> {
    /// Numbers of locations.
    pub(super) words: &'e [u8],
    pub(super) symbols: Option<&'e Symbols>,
}

impl SyscallStack<'_> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Calls `visit` with what each function is called, innermost first.
    pub fn for_each_function(&self, visit: &mut dyn FnMut(Untrusted<String>)) {
        let Some(symbols) = self.symbols else { return };
        let mut words = SyscallWords(self.words);
        while let Some(location) = words.word() {
            let location = u32::try_from(location).unwrap_or(u32::MAX);
            for &frame in symbols.frames(location) {
                let frame = symbols.functions.function_of(frame);
                visit(symbols.functions.label(frame, &symbols.strings));
            }
        }
    }
}

/// The name of the recorded machine, as `uname -m` has it; empty if it is not recorded.
pub fn machine_name(reader: &Reader) -> String {
    reader.feature_text(FeatureId::ARCH).unwrap_or_default()
}

/// Calls `visit` for each event of system calls, in order of time; stops when it returns false. Entries have stacks if
/// options ask for these. `progress` is told how far it is. Returns how good the recording is: a profile without stacks.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no system calls or no times.
pub fn for_each_syscall(
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
    visit: &mut dyn FnMut(&SyscallEvent<'_>) -> bool,
) -> Result<Profile, Error> {
    let decoder = SyscallDecoder::new(reader, WantedSteps::Calls);
    if !decoder.has_calls() {
        return Err(Error::NoSystemCalls);
    }
    for_each_step(reader, decoder, options, progress, visit)
}

/// The same of events that tell of waits for locks: system calls, waits for locks of the kernel, and wake-ups.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no such waits or no times.
pub fn for_each_lock_event(
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
    visit: &mut dyn FnMut(&SyscallEvent<'_>) -> bool,
) -> Result<Profile, Error> {
    let decoder = SyscallDecoder::new(reader, WantedSteps::Locks);
    if !decoder.has_calls() && !decoder.has_locks() {
        let instead = if tells_of_waits(reader) {
            "; time spent waiting for futexes: rprof report --off-cpu -s comm,cause,waker"
        } else {
            ""
        };
        return Err(Error::NoLocks { instead });
    }
    for_each_step(reader, decoder, options, progress, visit)
}

fn for_each_step(
    reader: &Reader,
    decoder: SyscallDecoder<'_>,
    options: &Options,
    progress: &mut Progress<'_>,
    visit: &mut dyn FnMut(&SyscallEvent<'_>) -> bool,
) -> Result<Profile, Error> {
    check_filter(reader, &options.filter)?;
    let mut recording = Recording::open(reader, &options.locator, SampleOrder::Time)?;
    if !recording.index.has_times {
        return Err(Error::NoTimes);
    }
    recording.known_names.clone_from(&options.known_names);
    if let Some(known) = &options.known_names {
        known.begin_reading();
    }
    let (query, request) = query_of(&recording, options, options.frames())?;
    let symbols = if options.stacks {
        let n_chunks = recording.n_chunks();
        let found = find_locations(&query, |_, _| {}, &mut |done| {
            progress(progress_of(0.1, 0.4, done, n_chunks));
        })?;
        Some(query.symbolize(found.locations, request)?)
    } else {
        None
    };
    let pass = SyscallPass {
        query: &query,
        decoder,
        symbols: symbols.as_ref(),
    };
    let n_samples = usize::try_from(recording.index.n_samples).unwrap_or(usize::MAX);
    let mut pauses = PauseEnds::of(reader, &pass.decoder);
    let mut n_done = 0;
    let result = run_ordered(&query, &pass, &mut |bytes, n| {
        n_done += n;
        progress(progress_of(0.5, 0.5, n_done, n_samples));
        let mut words = SyscallWords(bytes);
        while let Some(event) = words.event(symbols.as_ref()) {
            if pauses.has_come(event.time_ns) && !visit(&lost_at(event.time_ns)) {
                return false;
            }
            if !visit(&event) {
                return false;
            }
        }
        true
    })?;
    let mut ends = StackEndCounts::default();
    let mut n_bad = 0;
    for local in result.locals {
        ends.merge(&local.ends);
        n_bad += local.n_bad;
    }
    let mut profile = result.samples.profile(&query, symbols, ends)?;
    if n_bad > 0 {
        let warning = Warning::Undecodable { records: n_bad };
        profile.warnings.push(warning.to_string());
    }
    Ok(profile)
}

/// Where pauses of events begin and end: there, events are as good as lost.
struct PauseEnds {
    /// The next one last, nanoseconds.
    next: Vec<u64>,
}

impl PauseEnds {
    fn of(reader: &Reader, decoder: &SyscallDecoder<'_>) -> Self {
        let pauses = pauses_of(reader, |event| decoder.is_of_calls(event));
        let ends = pauses
            .into_iter()
            .flat_map(|pause| [*pause.start(), *pause.end()]);
        let mut next: Vec<u64> = ends.collect();
        next.reverse();
        Self { next }
    }

    /// Whether there are some up to a moment; these are taken.
    fn has_come(&mut self, time_ns: u64) -> bool {
        let n = self.next.len();
        while self.next.pop_if(|end| *end <= time_ns).is_some() {}
        self.next.len() < n
    }
}

/// Calls that threads are in at a moment may have ended since.
fn lost_at(time_ns: u64) -> SyscallEvent<'static> {
    SyscallEvent {
        time_ns,
        pid: -1,
        tid: -1,
        step: SyscallStep::Lost,
        comm: Untrusted::new(""),
        stack: SyscallStack::default(),
    }
}

/// The pass: writes each event in words, as [`SyscallWords`] reads them.
struct SyscallPass<'a> {
    query: &'a Query<'a>,
    decoder: SyscallDecoder<'a>,
    symbols: Option<&'a Symbols>,
}

/// A thread's state.
struct Local {
    locations: LocationCache,
    ends: StackEndCounts,
    /// Damaged events.
    n_bad: u64,
}

impl OrderedPass for SyscallPass<'_> {
    type Local = Local;
    type Before = ();
    type Stack = ();

    fn local(&self) -> Local {
        Local {
            locations: LocationCache::new(),
            ends: StackEndCounts::default(),
            n_bad: 0,
        }
    }

    fn pass_on<'s>(&self, (): &mut (), _samples: impl Iterator<Item = DecodedSample<'s>>) {}

    fn start(&self, _local: &mut Local, (): ()) {}

    fn wants(&self, sample: &TaskSample<'_, '_>) -> bool {
        self.decoder.is_of_calls(sample.decoded.event)
    }

    fn wants_stack(&self, decoded: &DecodedSample<'_>) -> bool {
        self.symbols.is_some() && self.decoder.stack(decoded.event) != WantedStack::None
    }

    fn sample(
        &self,
        local: &mut Local,
        sample: &ResolvedSample<'_, '_>,
        _known: Option<()>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let decoded = sample.decoded;
        let Some(step) = self.decoder.decode(decoded) else {
            local.n_bad += 1;
            return None;
        };
        let history = &self.query.recording.index.history;
        let task = (decoded.key.time_ns, decoded.pid, decoded.tid);
        let comm = comm_text(history, sample.task).into_raw();
        let at = start_event(task, step, &comm, out);
        let wanted = self.decoder.stack(decoded.event);
        if let Some(symbols) = self.symbols.filter(|_| wanted != WantedStack::None) {
            local.ends.add(sample.end);
            let locations = &mut local.locations;
            sample.for_each_address(|address| {
                let is_user = address.level.is_none_or(|level| level == Level::User);
                if is_user || wanted == WantedStack::All {
                    let find = |location| symbols.number(location);
                    let number = locations.value(history, sample.mappings, address, find);
                    out.extend_from_slice(&u64::from(number).to_le_bytes());
                }
            });
        }
        end_event(at, out);
        None
    }

    fn wanted_records(&self) -> Option<&dyn Fn(RecordKind) -> bool> {
        Some(&|kind| {
            matches!(
                kind,
                RecordKind::FORK | RecordKind::EXIT | RecordKind::MMAP | RecordKind::MMAP2
            ) || matches!(kind, RecordKind::LOST | RecordKind::LOST_SAMPLES)
        })
    }

    fn symbols(&self) -> Option<&Symbols> {
        self.symbols
    }

    fn record(&self, record: &OrderedRecord<'_>, out: &mut Vec<u8>) {
        let (pid, tid, step) = match &record.record {
            Record::Fork(task) => {
                let parent = task.ppid;
                (task.pid, task.tid, SyscallStep::Fork { parent })
            }
            Record::Exit(task) => (task.pid, task.tid, SyscallStep::ThreadEnd),
            // Dropped by a filter is not lost.
            Record::LostSamples(_) if record.raw.misc.has(Misc::LOST_SAMPLES_BPF) => return,
            Record::Lost(_) | Record::LostSamples(_) => (-1, -1, SyscallStep::Lost),
            Record::Mmap(map) if map.filename == VDSO => {
                let address = map.addr;
                (map.pid, map.tid, SyscallStep::Vdso { address })
            }
            Record::Mmap2(map) if map.filename == VDSO => {
                let address = map.addr;
                (map.pid, map.tid, SyscallStep::Vdso { address })
            }
            _ => return,
        };
        let at = start_event((record.key.time_ns, pid, tid), step, "", out);
        end_event(at, out);
    }
}

/// What the kernel calls its code for programs (`arch_vma_name`).
const VDSO: &[u8] = b"[vdso]";
