//! Things a user should know, one line each.

mod control;
mod degraded;
mod off_cpu;
mod opened_event;

use rprof_base::Counted;
use rprof_ringbuf::INHERITED_VALUES;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use control::ControlNote;
pub use degraded::{Degraded, FewFiles, SmallRings};
pub use off_cpu::{OffCpuMethod, OffCpuStacks};
pub use opened_event::{OpenedEvent, OpenedFor};

/// Something was done otherwise than asked, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// What is recorded is less than was asked for.
    Degraded(Degraded),
    /// There are no events: threads are looked at by ptrace instead.
    ByPtrace {
        /// Why.
        refusal: String,
        /// How often, Hz.
        hz: u64,
        /// What would allow events.
        advice: String,
    },
    /// An event was opened.
    Opened(Box<OpenedEvent>),
    /// A recording without a command has begun: whom it watches.
    Watching {
        /// Whom.
        who: String,
        /// For how long, if it ends by itself.
        duration: Option<Duration>,
    },
    /// No such process runs yet.
    WaitingFor(String),
    /// A process that was waited for is recorded.
    Found {
        /// The longest time that it may have run before.
        within: Duration,
    },
    /// Processes have ended before their events were open.
    Vanished(Vec<i32>),
    /// Processes that are watched have started others before, which are not.
    ChildrenUnrecorded {
        /// How many.
        processes: usize,
    },
    /// Each event of each thread would be too many open files: everybody is sampled.
    SampledByCpu {
        /// Files that would be open.
        needed: u64,
        /// Files that may be.
        limit: u64,
    },
    /// Many processes or threads end before their first sample: CPUs are sampled from now on.
    ShortProcesses,
    /// Ctrl-C came, and the command, which got it too, still runs.
    CommandHasSignal,
    /// The recording has ended, the command has not.
    CommandEnds,
    /// What some processes have mapped is not known: they are other users', or protected.
    Unreadable {
        /// How many.
        processes: usize,
        /// Root could not see it, either.
        is_root: bool,
    },
    /// The frequency was above the kernel's limit.
    RateLowered {
        /// Asked for, Hz.
        from: u64,
        /// The limit, Hz.
        to: u64,
    },
    /// A weak group that the kernel does not take: its events are counted one by one.
    GroupSplit {
        /// The first of them.
        leader: String,
    },
    /// The kernel does not know these settings.
    Dropped(Vec<&'static str>),
    /// An event runs with less precision than asked for.
    Precision {
        /// The event.
        event: String,
        /// `precise_ip` that it has.
        level: u8,
    },
    /// The command has ended, others that it started have not.
    OthersLiveOn,
    /// The time is over.
    DurationOver,
    /// The file is as large as it may be.
    FileFull,
    /// The recording goes on in another file.
    Rotated {
        /// Samples in the file before.
        samples: u64,
        /// That one.
        ended: PathBuf,
        /// The other one.
        next: PathBuf,
    },
    /// Another file cannot be begun, for this reason.
    RotationFailed(String),
    /// The file cannot be written any more; the command goes on.
    WritingFailed(String),
    /// Samples were not as they should be, and are not in the file.
    Undecodable {
        /// How many.
        samples: u64,
    },
    /// Processes have more mappings than are followed: stacks of them end early.
    Overfull {
        /// How many processes.
        processes: usize,
    },
    /// A probe is not where a function starts.
    ProbeInside {
        /// The event.
        event: String,
    },
    /// Probes are opened for everybody: threads and children cannot inherit them.
    ProbesOfEverybody {
        /// Why not.
        why: String,
    },
    /// A process has a jitdump, and times are of another clock than the jitdump's.
    JitClock,
    /// Events were off while overwritten rings were read.
    OffForSnapshots {
        /// How often.
        snapshots: u64,
        /// For how long in all.
        off: Duration,
    },
    /// The rings of a flight recorder did not hold all that it was to keep.
    ShortFlight {
        /// How much they held before a trigger, at the least.
        held: Duration,
    },
    /// Beginnings and ends of spans did not fit into the rings of a trigger.
    LostEdges {
        /// How many, as far as is known.
        edges: u64,
    },
    /// The window of a flight recorder ended early: its file is large.
    LargeWindow {
        /// What it may have.
        bytes: u64,
    },
    /// How off-CPU time is recorded.
    OffCpu {
        /// How.
        method: OffCpuMethod,
        /// What a better method needs.
        better: Option<String>,
    },
    /// Which waits have their user stacks.
    OffCpuStacks(OffCpuStacks),
    /// A ring held something that is no record.
    RingDamaged(String),
    /// Samples were enabled or disabled, or a word was written to the control pipe.
    Control(ControlNote),
}

impl Note {
    /// Whether it is told only to those who ask (`-v`).
    pub fn is_detail(&self) -> bool {
        match self {
            // Without these, less is sampled.
            Self::Dropped(settings) => !settings.contains(&INHERITED_VALUES),
            _ => matches!(
                self,
                Self::Precision { .. } | Self::DurationOver | Self::Opened(_)
            ),
        }
    }
}

impl From<ControlNote> for Note {
    fn from(note: ControlNote) -> Self {
        Self::Control(note)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Degraded(degraded) => write!(f, "{degraded}"),
            Self::ByPtrace {
                refusal,
                hz,
                advice,
            } => write!(
                f,
                "{refusal}; sampling by ptrace instead, {hz} Hz, user stacks only ({advice})"
            ),
            Self::Opened(event) => write!(f, "{event}"),
            Self::OffCpuStacks(stacks) => write!(f, "off-CPU time: {stacks}"),
            Self::OffCpu { method, better } => {
                write!(f, "off-CPU time: {method}")?;
                match better {
                    None => Ok(()),
                    Some(better) => write!(f, " ({better})"),
                }
            }
            Self::Watching { who, duration } => {
                write!(f, "recording {who}")?;
                if let Some(duration) = duration {
                    write!(f, " for {} s", duration.as_secs_f64())?;
                }
                write!(f, "; press Ctrl-C to stop")
            }
            Self::WaitingFor(who) => write!(f, "waiting for {who}; press Ctrl-C to stop"),
            Self::Found { within } => {
                let millis = within.as_micros().div_ceil(1000);
                write!(
                    f,
                    "found: recording began at most {millis} ms after the process started"
                )
            }
            Self::Vanished(pids) => {
                let ids: Vec<String> = pids.iter().map(i32::to_string).collect();
                write!(f, "ended before recording could start: {}", ids.join(", "))
            }
            Self::ChildrenUnrecorded { processes: 1 } => {
                write!(
                    f,
                    "1 child process is already running and not recorded (--children records it, too)"
                )
            }
            Self::ChildrenUnrecorded { processes } => write!(
                f,
                "{processes} child processes are already running and not recorded (--children records them, \
                 too)"
            ),
            Self::SampledByCpu { needed, limit } => write!(
                f,
                "{needed} open files would be needed, but the limit is {limit}: sampling all CPUs, keeping \
                 only the requested targets"
            ),
            Self::ShortProcesses => write!(
                f,
                "many processes or threads end before their first sample: sampling all CPUs from now on, \
                 keeping only the requested targets"
            ),
            Self::CommandHasSignal => write!(
                f,
                "the command received Ctrl-C, too: recording until it ends (press Ctrl-C again to end both)"
            ),
            Self::CommandEnds => write!(
                f,
                "recording has ended; waiting for the command (Ctrl-C kills it)"
            ),
            Self::Unreadable { processes, is_root } => write!(
                f,
                "cannot inspect {}: no names or callers for {} samples{}",
                Counted::new(*processes as u64, "process", "processes"),
                if *processes == 1 { "its" } else { "their" },
                if *is_root {
                    ""
                } else {
                    " (other users' processes: run with sudo)"
                }
            ),
            Self::RateLowered { from, to } => write!(
                f,
                "{from} Hz is above kernel.perf_event_max_sample_rate: sampling at {to} Hz"
            ),
            Self::GroupSplit { leader } => write!(
                f,
                "the kernel rejects the group of '{leader}': counting its events one by one"
            ),
            Self::Dropped(settings) => {
                write!(f, "this kernel lacks: {}", settings.join(", "))
            }
            Self::Precision { event, level } => write!(f, "event '{event}' has precise_ip {level}"),
            Self::OthersLiveOn => write!(
                f,
                "the command has ended; processes it started are still running, no longer recorded \
                 (--wait-all records them, too)"
            ),
            Self::DurationOver => write!(f, "the duration has elapsed"),
            Self::FileFull => write!(f, "the file has reached --max-size: recording has stopped"),
            Self::Rotated {
                samples,
                ended,
                next,
            } => {
                let (ended, next) = (ended.display(), next.display());
                let samples = Counted::new(*samples, "sample", "samples");
                write!(f, "{ended} is complete ({samples}); continuing in {next}")
            }
            Self::RotationFailed(why) => {
                write!(
                    f,
                    "cannot rotate the output file ({why}): continuing in this one"
                )
            }
            Self::WritingFailed(path) => {
                write!(
                    f,
                    "{path} can no longer be written: waiting for the command to end"
                )
            }
            Self::Undecodable { samples } => {
                let samples = Counted::new(*samples, "sample", "samples");
                write!(f, "{samples} from the kernel could not be decoded")
            }
            Self::Overfull { processes } => write!(
                f,
                "too many mappings to track them all: stacks end early in {} with the most mappings \
                 (--call-graph fp needs no mappings)",
                Counted::new(*processes as u64, "process", "processes")
            ),
            Self::Control(note) => write!(f, "{note}"),
            Self::ProbeInside { event } => write!(
                f,
                "'{event}' must be at the start of an instruction: anywhere else, every program that reaches \
                 it crashes"
            ),
            Self::ProbesOfEverybody { why } => write!(
                f,
                "tracefs is not writable ({why}): probes are set in every process, and hits outside the \
                 recorded ones are discarded (run with sudo to set them only in those)"
            ),
            Self::JitClock => write!(
                f,
                "jitdump times are of the mono clock: with another -k, JIT code may have wrong names and no \
                 callers"
            ),
            Self::OffForSnapshots { snapshots, off } => write!(
                f,
                "nothing was sampled for {:.1} ms, while {} {} taken",
                off.as_secs_f64() * 1e3,
                Counted::new(*snapshots, "snapshot", "snapshots"),
                if *snapshots == 1 { "was" } else { "were" }
            ),
            Self::ShortFlight { held } => write!(
                f,
                "the ring buffers held only {:.1} s before a trigger (a larger -m holds more)",
                held.as_secs_f64()
            ),
            Self::LostEdges { edges } => write!(
                f,
                "{} of spans lost: slow spans may have been missed; spans that were open then are not judged",
                Counted::new(*edges, "beginning or end", "beginnings or ends")
            ),
            Self::LargeWindow { bytes } => write!(
                f,
                "the file of this trigger has {} MiB: it ends early",
                bytes >> 20
            ),
            Self::RingDamaged(what) => write!(f, "{what}: the rest of that batch was skipped"),
        }
    }
}
