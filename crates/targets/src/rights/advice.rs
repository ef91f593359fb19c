//! The one thing to do when the kernel refuses something to this user.

use super::Facts;
use super::refusal::{self, Wanted};
use rprof_abi::{AttrFlags, PerfEventAttr, event_type};
use rprof_ringbuf::{OpenError, Target, sys};

/// What to do about an event that could not be opened.
pub fn of_event(attr: &PerfEventAttr, error: &OpenError, target: Target) -> String {
    let wanted = if attr.kind == event_type::TRACEPOINT {
        Wanted::Tracepoint
    } else if target == Target::All {
        Wanted::AllCpus
    } else if attr.flags.has(AttrFlags::EXCLUDE_USER) || attr.is_of_kernel() {
        Wanted::OwnKernel
    } else {
        // User space alone was refused, if there is more.
        Wanted::OwnUser
    };
    refusal::of(error, wanted, &Facts::now())
}

/// What would let the kernel be sampled.
pub fn without_kernel() -> String {
    refusal::allow(Wanted::OwnKernel, &Facts::now())
}

/// What would allow what only CAP_PERFMON allows.
pub fn privileged() -> String {
    refusal::allow(Wanted::Privileged, &Facts::now())
}

/// A thread that may not be watched.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Who it is.
    pub task: String,
    /// Whose it is, and what to do.
    pub why: String,
}

/// Why a thread may not be watched; `None` if it has ended.
pub fn foreign(tid: i32) -> Option<Foreign> {
    let pid = rprof_process::process_of(tid).ok()?;
    let comm = rprof_process::comm_of(pid, tid).unwrap_or_default();
    let comm = String::from_utf8_lossy(&comm).into_owned();
    let task = if tid == pid {
        format!("process {pid} ({comm})")
    } else {
        format!("thread {tid} ({comm}) of process {pid}")
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
