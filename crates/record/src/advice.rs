//! The one thing to do when the kernel refuses something to this user.

use rprof_abi::{AttrFlags, PerfEventAttr, event_type};
use rprof_ringbuf::{MapError, OpenError, Target, sys};

/// Above it, nothing is allowed to users without rights (a patch of Debian, Ubuntu, Android).
const MOST_PARANOID: i32 = 2;

/// What to do about an event that could not be opened.
pub(crate) fn open(attr: &PerfEventAttr, error: &OpenError, target: Target) -> String {
    match error {
        OpenError::Access => access(attr, target),
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

fn access(attr: &PerfEventAttr, target: Target) -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok();
    let level: Option<i32> = text.and_then(|text| text.trim().parse().ok());
    let is = level.map_or("unknown".to_owned(), |level| level.to_string());
    let (what, most) = if attr.kind == event_type::TRACEPOINT {
        ("tracepoints need", -1)
    } else if matches!(target, Target::All | Target::Cgroup(_)) {
        ("all CPUs need", 0)
    } else if attr.flags.has(AttrFlags::EXCLUDE_USER) {
        ("samples of the kernel need", 1)
    } else if level.is_some_and(|level| level > MOST_PARANOID) {
        ("own programs need", MOST_PARANOID)
    } else {
        ("it may need", 1)
    };
    let instead = match target {
        Target::All => ", or record a command",
        Target::Thread(_) | Target::Cgroup(_) => "",
    };
    format!(
        "{what} kernel.perf_event_paranoid at {most} or below (it is {is}): \
         sudo sysctl kernel.perf_event_paranoid={most}, or run with sudo{instead}"
    )
}

/// A thread that may not be watched.
pub(crate) struct Foreign {
    /// Who it is.
    pub(crate) task: String,
    /// Whose it is, and what to do.
    pub(crate) why: String,
}

/// Why a thread may not be watched; `None` if it has ended.
pub(crate) fn foreign(tid: i32) -> Option<Foreign> {
    let pid = rprof_process::process_of(tid).ok()?;
    let comm = rprof_process::comm_of(pid, tid).unwrap_or_default();
    let comm = String::from_utf8_lossy(&comm).into_owned();
    let task = match tid == pid {
        true => format!("process {pid} ({comm})"),
        false => format!("thread {tid} ({comm}) of process {pid}"),
    };
    let owner = rprof_process::owner_of(pid).ok()?;
    let why = match (owner, sys::effective_uid()) {
        (_, 0) => "it is protected: root needs CAP_SYS_PTRACE here, or CAP_PERFMON".to_owned(),
        (owner, own) if owner == own => {
            "it is protected (set-user-id, capabilities, or not dumpable): run with sudo".to_owned()
        }
        (owner, _) => format!("it belongs to another user (uid {owner}): run with sudo"),
    };
    Some(Foreign { task, why })
}

/// What to do about a ring that could not be mapped.
pub(crate) fn map(error: &MapError) -> &'static str {
    match error {
        MapError::MlockBudget { .. } => {
            "other profilers of this user may use it up: smaller rings with -m, \
             sudo sysctl kernel.perf_event_mlock_kb=4096, or ulimit -l"
        }
        _ => "try another size with -m",
    }
}
