//! Why a recording could not be made, with the one thing to do about it.

use crate::advice;
use crate::cpu_or_thread::CpuOrThread;
use rprof_abi::{PerfEventAttr, event_type, sw};
use rprof_events::EventError;
use rprof_probes::{DefineError, NoPlace};
use rprof_ringbuf::{MapError, OpenError, Target};
use rprof_targets::rights::advice::{Foreign, foreign, of_event};
use rprof_targets::{CgroupError, ControlError};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// A recording could not be made, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to record.
    #[error("nothing to record: give a command (rprof record -- cmd), -p PID or -a")]
    NothingToRecord,
    /// An event could not be opened.
    #[error("event '{event}': {why}; {advice}")]
    Open {
        /// The event.
        event: String,
        /// Why.
        why: OpenError,
        /// What to do.
        advice: String,
    },
    /// A process or thread may not be watched.
    #[error("{task}: not permitted to record it: {why}")]
    Foreign {
        /// Its id and name.
        task: String,
        /// Whose it is, and what to do.
        why: String,
    },
    /// More files would be open than may be.
    #[error(
        "{needed} open files are needed ({what} others), but the limit is {limit}: raise it (ulimit -n \
         {needed}, as root){advice}"
    )]
    OpenFiles {
        /// How many.
        needed: u64,
        /// For what.
        what: String,
        /// The hard limit of this process.
        limit: u64,
        /// What needs fewer.
        advice: String,
    },
    /// The frequency is above the kernel's limit, and may not be lowered.
    #[error(
        "{asked} Hz is above kernel.perf_event_max_sample_rate ({limit}); without --strict-freq, rprof \
         lowers it"
    )]
    RateTooHigh {
        /// Asked for, Hz.
        asked: u64,
        /// The limit, Hz.
        limit: u64,
    },
    /// A signal came before anything was recorded.
    #[error("interrupted before recording started")]
    Interrupted,
    /// The user wants an end, and the disk, or the reader of a pipe, takes nothing.
    #[error("the output accepts no more data: the rest of the recording is lost")]
    Stuck,
    /// The user asked once more for an end, while stacks were unwound.
    #[error("interrupted again while unwinding stacks: the rest of the recording is lost")]
    GivenUp,
    /// The user wants an end, and what is read for unwinding does not answer.
    #[error(
        "unwinding made no progress for a minute (is a file system not responding?): the rest of the \
         recording is lost"
    )]
    NoProgress,
    /// The thread that writes has ended; why is said by another error, if there is one.
    #[error("the writer thread has ended")]
    WriterGone,
    /// Branch records were to be the call stacks.
    #[error(
        "event '{event}': no LBR call stacks on this machine (they need an Intel processor since Haswell and \
         a hardware event, and are rare in virtual machines): use --call-graph auto, which needs none"
    )]
    NoBranchRecords {
        /// The event.
        event: String,
    },
    /// More callers than the kernel finds.
    #[error(
        "max-stack={asked} of '{event}' is above kernel.perf_event_max_stack ({limit}): lower it, or sudo \
         sysctl kernel.perf_event_max_stack={asked}"
    )]
    MaxStack {
        /// The event.
        event: String,
        /// What it asks for.
        asked: u16,
        /// The limit.
        limit: u16,
    },
    /// If samples were dropped, counts of the event would be wrong.
    #[error("--samples-per-hour cannot thin '{event}': {why}")]
    NotThinned {
        /// The event.
        event: String,
        /// Why, and what to do.
        why: &'static str,
    },
    /// The kernel does not take a filter.
    #[error("the kernel rejects the filter '{filter}' of '{event}'")]
    Filter {
        /// The event.
        event: String,
        /// The filter.
        filter: String,
        /// Why.
        source: io::Error,
    },
    /// A probe has no place.
    #[error(transparent)]
    Probe(#[from] NoPlace),
    /// A probe cannot be defined.
    #[error(transparent)]
    Define(#[from] DefineError),
    /// A probe is not allowed.
    #[error("event '{event}': {why}")]
    ProbeForbidden {
        /// The event.
        event: String,
        /// What it needs, and what would allow it.
        why: String,
    },
    /// Probes are watched on CPUs, values are of threads.
    #[error(
        "'{probe}' and ':S' of '{event}' cannot be combined: probes are opened per CPU, and those counters \
         do not belong to single threads; record all CPUs (-a), or omit ':S'"
    )]
    ProbeAndValues {
        /// The probe.
        probe: String,
        /// The event with values.
        event: String,
    },
    /// The kernel does not count these events together.
    #[error(
        "event '{member}' cannot be in a group with '{leader}': {}; put it outside the braces",
        why_no_group(why)
    )]
    Group {
        /// The first event of the group.
        leader: String,
        /// The one that was refused.
        member: String,
        /// Why.
        why: OpenError,
    },
    /// Branches were to be recorded.
    #[error(
        "event '{event}': no branch records on this machine (they need a hardware event and a processor that \
         has them, and are rare in virtual machines): omit -b and -j"
    )]
    NoBranches {
        /// The event.
        event: String,
    },
    /// A ring could not be mapped.
    #[error("ring of {place}: {why}; {}", advice::map(why))]
    Map {
        /// Its CPU or thread.
        place: CpuOrThread,
        /// Why.
        why: MapError,
    },
    /// A process or thread is not there.
    #[error("no such process or thread: {id}")]
    NoSuchTask {
        /// Its id.
        id: i32,
    },
    /// No process is what was asked for.
    #[error("no matching process: {who}")]
    NoneMatch {
        /// What was asked for.
        who: String,
    },
    /// There are no events of a control group.
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    /// A CPU is not online.
    #[error("no such CPU: {cpu} (/sys/devices/system/cpu/online lists the online ones)")]
    NoSuchCpu {
        /// Its number.
        cpu: u32,
    },
    /// CPUs or PMUs of this machine could not be read.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The command could not be started.
    #[error(transparent)]
    Spawn(#[from] rprof_process::SpawnError),
    /// The output cannot be made.
    #[error("cannot write {}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A pipe for words could not be opened.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Writing failed in mid-recording.
    #[error("recording ended early; {}", what_is_left(*.size_bytes))]
    Write {
        /// Why.
        source: rprof_perfdata::Error,
        /// Bytes that were written.
        size_bytes: u64,
        /// How the command ended all the same.
        status: Option<ExitStatus>,
    },
    /// A system call failed that should not.
    #[error("{what}")]
    System {
        /// What was attempted.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// Makes an error of a failed system call, as `map_err` wants it.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// An event that could not be opened, with advice for this user.
    pub(crate) fn open(event: &str, attr: &PerfEventAttr, why: OpenError, target: Target) -> Self {
        if let (OpenError::Access, Target::Thread(tid @ 1..)) = (&why, target)
            && let Some(Foreign { task, why }) = foreign(tid)
        {
            return Self::Foreign { task, why };
        }
        let event = match (attr.kind, attr.config) {
            (event_type::SOFTWARE, sw::DUMMY) if event == SIDEBAND => "mappings and names",
            _ => event,
        };
        Self::Open {
            event: event.to_owned(),
            advice: of_event(attr, &why, target),
            why,
        }
    }
}

/// The event that carries mappings, names and tasks, as the file calls it.
pub(crate) const SIDEBAND: &str = "dummy:u";

fn why_no_group(why: &OpenError) -> String {
    match why {
        OpenError::TooNew => "their values do not fit into one sample".to_owned(),
        OpenError::Invalid => {
            "all events of a group must fit on one PMU at the same time (software events fit with any), and \
             {...}:W counts them one by one if they do not"
                .to_owned()
        }
        other => other.to_string(),
    }
}

fn what_is_left(size_bytes: u64) -> String {
    match size_bytes {
        0 => "nothing could be written".to_owned(),
        _ => format!("the {size_bytes} bytes already written are readable"),
    }
}
