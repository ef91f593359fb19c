//! What to record, and what came of it: plain data.

mod off_cpu;
mod sample_fields;
mod sideband;
mod when;
mod writing;

use crate::output::segments::SegmentOutput;
use crate::targets::matching::Matching;
use rprof_events::{Event, SpanEvents};
use rprof_locate::KeptFiles;
use rprof_perfdata::feature::{CpuBudget, RecorderCost, SampleCoverage, SampleThinning, StackEnds};
use rprof_ringbuf::sys::{Clock, Signals};
use rprof_targets::Cgroups;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

pub use off_cpu::OffCpu;
pub use sample_fields::{SampleFields, Space, user_registers};
pub use sideband::Sideband;
pub use when::{Delay, When};
pub use writing::{FlightPlan, RotateOn, Rotation, SlowSpan, Synthesis, Writing};

/// How often to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Samples per second.
    Frequency(u64),
    /// Events per sample.
    Period(u64),
}

impl Rate {
    /// perf's default.
    pub const DEFAULT: Self = Self::Frequency(4000);
}

/// Whether and how samples hold their callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallChains {
    /// The best that this machine can do: unwound while recording, with as much of each stack as needed.
    Auto,
    /// Unwound, from stack dumps.
    Dwarf {
        /// Size of each dump: a multiple of 8, at most 65,528.
        bytes: u32,
        /// The dumps are written, for others to unwind.
        keep: bool,
    },
    /// Frame pointers, followed by the kernel.
    FramePointers,
    /// The processor's own record of calls that have not returned; frame pointers in the kernel.
    BranchRecords,
    /// Only the instruction pointer.
    None,
}

impl CallChains {
    /// Whether the file gets stack dumps.
    pub(crate) fn keeps_dumps(self) -> bool {
        matches!(self, Self::Dwarf { keep: true, .. })
    }
}

/// What to watch, beside what a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The command and all that it starts.
    Command,
    /// Everybody.
    All,
    /// These processes and all that they start.
    Processes(Vec<i32>),
    /// These threads and all that they start.
    Threads(Vec<i32>),
    /// Processes that are found when the recording begins, and all that they start.
    Matching(Matching),
}

/// Whether what is started later is recorded, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inherit {
    /// It is.
    #[default]
    Inherited,
    /// Only the threads that are there when the recording begins are recorded.
    No,
    /// The same, with one event a thread, whatever its CPU.
    PerThread,
}

/// Where a recording goes.
#[derive(Clone, Debug)]
pub enum Output {
    /// A file; an older one of that name is kept beside it.
    File(PathBuf),
    /// Our pipe, in the form for pipes. What the command prints goes to standard error.
    Pipe(Arc<File>),
    /// Memory, for somebody who looks while the recording goes on.
    Segments(SegmentOutput),
}

impl Output {
    /// For messages.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Pipe(_) => Path::new("the pipe"),
            Self::Segments(_) => Path::new("memory"),
        }
    }
}

/// One recording to be made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Events; empty for the default of this machine.
    pub events: Vec<Event>,
    /// What begins and ends spans of threads' time, beside the events.
    pub spans: Vec<SpanEvents>,
    /// How often; `None` for the event's own rate, or [`Rate::DEFAULT`].
    pub rate: Option<Rate>,
    /// The clock of all times.
    pub clock: Clock,
    /// Callers.
    pub call_chains: CallChains,
    /// Prove stacks that are deeper than their dumps by watchpoints: each deep thread lends a debug register.
    pub watchpoints: bool,
    /// What else samples hold.
    pub fields: SampleFields,
    /// What else is told beside samples.
    pub sideband: Sideband,
    /// Record what off-CPU time is derived from; `None` for no switches beside those asked for otherwise.
    pub off_cpu: Option<OffCpu>,
    /// Whom.
    pub watch: Watch,
    /// With [`Watch::Matching`], wait until there is one.
    pub wait: bool,
    /// Watch what they start from now on.
    pub inherit: Inherit,
    /// Watch also what the processes have started before the recording.
    pub children: bool,
    /// On which CPUs; `None` for all that are online.
    pub cpus: Option<Vec<u32>>,
    /// With [`Watch::All`], only what runs in control groups.
    pub cgroups: Cgroups,
    /// Command to start; empty for none.
    pub command: Vec<OsString>,
    /// It prints nowhere, and reads nothing: the terminal is for something else.
    pub hides_command: bool,
    /// When samples are taken.
    pub when: When,
    /// Longest time; `None` for no limit.
    pub duration: Option<Duration>,
    /// The most CPU time that the recorder may take, percent of one CPU; `None` for any.
    pub cpu_percent: Option<u32>,
    /// Keep about this many samples an hour, which stand for all; `None` for all of them.
    pub samples_per_hour: Option<u64>,
    /// Data pages of each sample ring, a power of two; `None` for the default.
    pub ring_pages: Option<usize>,
    /// Where to write.
    pub output: Output,
    /// How.
    pub writing: Writing,
    /// Fail rather than sample less often than was asked for.
    pub strict_rate: bool,
    /// Record what BPF programs are loaded.
    pub bpf_events: bool,
    /// Keeps open what stacks were unwound with, for names at the end.
    pub kept_files: Option<Arc<KeptFiles>>,
    /// With [`Watch::All`], let the kernel put build ids into records of mappings. It then says of other
    /// tools' records that they have some, too, which makes perf fail. Else they are read from the files.
    pub kernel_build_ids: bool,
    /// With [`Watch::All`], keep samples of the recorder itself.
    pub include_self: bool,
    /// Wait for all that the command started, not only for the command.
    pub wait_all: bool,
    /// This program's own command line and version, for the file.
    pub tool: Tool,
}

impl Settings {
    /// Blocks the signals that a recording hears: one that ends a program whose terminal somebody else has to give back
    /// first ends the recording.
    pub(crate) fn block_signals(&self) -> io::Result<Signals> {
        if self.hides_command {
            Signals::block_beside_screen()
        } else {
            Signals::block()
        }
    }

    /// Whether samples of all that was asked for are taken, from the start to the end: then they can be
    /// compared with the time that there was.
    pub(crate) fn is_for_all_time(&self) -> bool {
        self.when.is_always() && self.inherit == Inherit::Inherited
    }

    /// Data pages of each sideband ring.
    pub(crate) fn sideband_pages(&self) -> usize {
        let switches = self.sideband.switches || self.off_cpu.is_some();
        let sideband = Sideband {
            switches,
            ..self.sideband
        };
        sideband.ring_pages()
    }

    /// Whether the file gets mappings without code, too: unwind tables are in some, and what has a name of
    /// data, such as a lock.
    pub(crate) fn has_data_mappings(&self) -> bool {
        // perf reads unwind tables through the mappings that they are in.
        let has_locks = self.events.iter().any(|event| {
            let tracepoint = event.tracepoint.as_deref();
            tracepoint.is_some_and(|name| name.starts_with("lock:contention_"))
        });
        self.call_chains.keeps_dumps() || self.fields.has_data_addresses() || has_locks
    }
}

/// How watchpoints were used to prove deep stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchpointUse {
    /// How many were set, one at a time for each thread.
    pub set: u64,
    /// Those whose word was written to.
    pub hit: u64,
    /// Those that were taken back for a debugger, or for events that the process opened or may have opened.
    pub taken_back: u64,
    /// Those that were wanted and not set: the debug registers are a debugger's, or the process has, or may
    /// have, events of its own. It may if it has more than 1,024 files open, or they cannot be listed.
    pub withheld: u64,
    /// Those that the kernel refused: all debug registers are in use (ENOSPC), the CPU has none, or they are not
    /// permitted.
    pub refused: u64,
    /// Those that were given up since nobody would have taken them back: the thread that does could not be
    /// started, or was behind.
    pub unattended: u64,
}

/// Who records.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Words of its command line.
    pub command_line: Vec<String>,
    /// Its version.
    pub version: String,
}

/// What an event counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventCount {
    /// The event.
    pub name: String,
    /// How often it happened; of time, nanoseconds.
    pub count: u64,
    /// Events per sample; `None` if samples were taken by time.
    pub period: Option<u64>,
    /// Only what fits a filter was counted.
    pub is_filtered: bool,
}

/// What came of a recording.
#[derive(Debug)]
pub struct Summary {
    /// Where it went; of several files the last.
    pub output: Output,
    /// How many other files were written before.
    pub earlier_files: usize,
    /// How many of those were removed again, to keep only the latest.
    pub removed_files: usize,
    /// How often a flight recorder kept what was around a trigger, if it is one. Without any, there is no file.
    pub flight_windows: Option<u64>,
    /// Whether slow spans were among its triggers.
    pub has_limits_of_spans: bool,
    /// Its size, bytes; of several files their sum.
    pub size_bytes: u64,
    /// zstd's level, if records are compressed.
    pub compression: Option<i32>,
    /// What the size would be with plain records, if they are compressed.
    pub uncompressed_bytes: Option<u64>,
    /// Samples in it.
    pub samples: u64,
    /// Whether context switches are recorded for the time off the CPU (`--off-cpu`).
    pub has_off_cpu: bool,
    /// Samples of waits that were too short for their stacks to be read: on purpose, they have one frame.
    pub short_waits: u64,
    /// How many were kept of how many, if only some were to be; of several files in all.
    pub thinning: Option<SampleThinning>,
    /// Samples that did not fit, by the kernel's own count; `None` before Linux 6.0.
    pub lost_samples: Option<u64>,
    /// Records lost, as far as LOST records tell (a lower bound).
    pub lost_at_least: u64,
    /// Data pages of rings that would have held what was lost.
    pub enough_pages: Option<u64>,
    /// Each hit of an event was a sample with a stack dump: samples without would have had more room.
    pub has_dumps_of_hits: bool,
    /// CPU time of what was recorded, nanoseconds; `None` if that is not known, or says nothing of how many samples there
    /// are.
    pub ran_ns: Option<u64>,
    /// What the recording cost.
    pub cost: RecorderCost,
    /// What was given up to stay within a share of a CPU, if one was given.
    pub budget: Option<CpuBudget>,
    /// Mappings, names and tasks that did not fit.
    pub lost_sideband: u64,
    /// How often the kernel stopped an event for the rest of a tick.
    pub throttled: u64,
    /// How stacks ended that were unwound.
    pub stacks: Option<StackEnds>,
    /// How deep stacks were proved, if stacks were unwound.
    pub watchpoints: WatchpointUse,
    /// Dumps of which less was kept than the kernel copied, since the writer could not keep up.
    pub shortened: u64,
    /// Draining waited for the writer, and rings filled up meanwhile.
    pub was_writer_late: bool,
    /// Samples of the recorder itself, which were left out.
    pub own_samples: u64,
    /// Samples of tasks that are not recorded, which were left out.
    pub others_samples: u64,
    /// Whether samples were to be taken at any time.
    pub was_on: bool,
    /// What each event counted, whether or not samples were taken; empty if others are counted, too.
    pub event_counts: Vec<EventCount>,
    /// What samples stand for, if much is missing: processes that end early have no samples.
    pub coverage: Option<SampleCoverage>,
    /// Whether CPUs were sampled since that was found out.
    pub is_by_cpu: bool,
    /// The command's end; `None` if there is none, or if it was ended because the time was over.
    pub status: Option<ExitStatus>,
    /// The signal by which the user wanted the end.
    pub ended_by: Option<i32>,
}
