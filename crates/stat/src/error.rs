//! What ends a count.

use rprof_ringbuf::OpenError;
use rprof_targets::{CgroupError, ControlError};
use std::io;
use std::path::PathBuf;

/// It could not be counted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rights are missing.
    #[error("not permitted to count {event}: {advice}")]
    Denied {
        /// The event.
        event: String,
        /// The smallest thing that would help.
        advice: String,
    },
    /// An event could not be opened for another reason.
    #[error("opening {event}")]
    Open {
        /// The event.
        event: String,
        /// Why.
        source: OpenError,
    },
    /// A group whose first event this machine does not have.
    #[error(
        "this machine cannot count {leader}, the leader of the group with {members}: write them without \
         braces, or choose another leader"
    )]
    Leader {
        /// The first.
        leader: String,
        /// The others.
        members: String,
    },
    /// Two events that are not counted together.
    #[error(
        "{member} cannot be counted together with {leader}: the kernel rejects it in this group, but accepts \
         it alone. Write it outside the braces, or use '{{..}}:W' to split the group only where necessary"
    )]
    Group {
        /// The first of the group.
        leader: String,
        /// The one that is refused.
        member: String,
    },
    /// Latencies are in samples.
    #[error(
        "{event}: retire latency comes with samples and cannot be counted: use rprof record -e {event}, then \
         rprof script -F +retire_lat"
    )]
    Latency {
        /// The event.
        event: String,
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
    /// No such process or thread.
    #[error("no such process or thread: {id}")]
    NoSuchTask {
        /// Its id.
        id: i32,
    },
    /// A CPU is not on line.
    #[error("no such CPU: {cpu} (/sys/devices/system/cpu/online lists the online ones)")]
    NoSuchCpu {
        /// Its number.
        cpu: u32,
    },
    /// The CPUs of this machine could not be read.
    #[error(transparent)]
    Cpus(#[from] rprof_events::EventError),
    /// There are no events of a control group.
    #[error(transparent)]
    Cgroup(#[from] CgroupError),
    /// Too many files are open.
    #[error(
        "{needed} events need an open file each, but the limit is {limit}: raise it with ulimit -n"
    )]
    OpenFiles {
        /// Events.
        needed: usize,
        /// The limit.
        limit: u64,
    },
    /// The command could not be run.
    #[error("the command could not be run")]
    Command(#[from] rprof_process::SpawnError),
    /// Counts could not be written.
    #[error("writing counts")]
    Write(#[source] io::Error),
    /// A pipe for words could not be opened.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// A file of counts could not be written or read.
    #[error("{0}")]
    File(rprof_perfdata::Error),
    /// Something does not fit into a file of counts.
    #[error("writing {}: {why}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What.
        why: String,
    },
    /// A file without counts.
    #[error("no counts: not written by stat record")]
    NoCounts,
    /// Sums by what a file does not say.
    #[error(
        "counts in a file cannot be summed by core, die, socket or node: use -A, --per-thread, or --global \
         for all"
    )]
    NoTopology,
    /// A file takes more memory than it may.
    #[error(transparent)]
    TooMuch(rprof_untrusted::OverBudget),
    /// The kernel refused something else.
    #[error("{doing}")]
    System {
        /// What was attempted.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}
