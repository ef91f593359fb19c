//! Why a recording could not be made, with the one thing to do about it.

use rprof_events::EventError;
use rprof_ringbuf::{MapError, OpenError};
use std::io;
use std::path::PathBuf;

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
    /// Branch records were to be the call stacks.
    #[error(
        "event '{event}': this machine keeps no call stacks in branch records of it (processors by \
         Intel since Haswell do, for hardware events, not in most virtual machines): \
         --call-graph auto needs no such thing"
    )]
    NoBranchRecords {
        /// The event.
        event: String,
    },
    /// A ring could not be mapped.
    #[error("ring of CPU {cpu}: {why}; {}", map_advice(why))]
    Map {
        /// The CPU.
        cpu: u32,
        /// Why.
        why: MapError,
    },
    /// A process or thread is not there.
    #[error("no such process or thread: {id}")]
    NoSuchTask {
        /// Its id.
        id: i32,
    },
    /// A CPU is not online.
    #[error("no such CPU: {cpu} (online are those in /sys/devices/system/cpu/online)")]
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
    /// Writing failed in mid-recording.
    #[error("the recording ends early; what was written ({size_bytes} bytes) is readable")]
    Write {
        /// Why.
        source: rprof_perfdata::Error,
        /// Bytes that were written.
        size_bytes: u64,
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
    /// For `map_err`.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// An event that could not be opened, with advice for this user.
    pub(crate) fn open(event: &str, why: OpenError, system_wide: bool) -> Self {
        let advice = open_advice(event, &why, system_wide);
        Self::Open {
            event: event.to_owned(),
            why,
            advice,
        }
    }
}

fn open_advice(event: &str, error: &OpenError, system_wide: bool) -> String {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .map(|text| text.trim().to_owned())
        .unwrap_or_else(|_| "unknown".to_owned());
    match error {
        OpenError::Access if system_wide => format!(
            "all CPUs need kernel.perf_event_paranoid at 0 or below (it is {paranoid}): \
             sudo sysctl kernel.perf_event_paranoid=0, or run with sudo, or record a command"
        ),
        OpenError::Access if event.contains(':') && !event.ends_with('u') => {
            format!("tracepoints need kernel.perf_event_paranoid at -1 (it is {paranoid}), or sudo")
        }
        OpenError::Access => format!(
            "kernel.perf_event_paranoid is {paranoid}: sudo sysctl \
             kernel.perf_event_paranoid=1, or run with sudo; processes of other users need sudo"
        ),
        OpenError::Forbidden => "a seccomp filter or missing capability forbids it: in a \
             container run it with --cap-add PERFMON (or --security-opt seccomp=unconfined)"
            .to_owned(),
        OpenError::NoSuchEvent => {
            "this machine (or virtual machine) does not count it: try -e cpu-clock".to_owned()
        }
        OpenError::TooManyFiles => {
            "threads x CPUs x events need one open file each: raise ulimit -n".to_owned()
        }
        OpenError::NoSuchTask => "it has ended".to_owned(),
        OpenError::Busy => "stop the other user of the counter (perf, a debugger)".to_owned(),
        _ => "try other settings, or -e cpu-clock".to_owned(),
    }
}

fn map_advice(error: &MapError) -> &'static str {
    match error {
        MapError::MlockBudget { .. } => {
            "other profilers of this user may use it up: smaller rings with -m, \
             sudo sysctl kernel.perf_event_mlock_kb=4096, or ulimit -l"
        }
        _ => "try another size with -m",
    }
}
