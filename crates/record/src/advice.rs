//! The one thing to do when the kernel refuses something to this user.

use crate::Error;
use crate::permission::Facts;
use crate::permission::refusal::{self, Wanted};
use rprof_abi::{AttrFlags, PerfEventAttr, event_type};
use rprof_process::tracer_of;
use rprof_ringbuf::{MapError, OpenError, Target, sys};
use std::io;

/// What to do about an event that could not be opened.
pub(crate) fn open(attr: &PerfEventAttr, error: &OpenError, target: Target) -> String {
    let wanted = if attr.kind == event_type::TRACEPOINT {
        Wanted::Tracepoint
    } else if target == Target::All {
        Wanted::AllCpus
    } else if attr.flags.has(AttrFlags::EXCLUDE_USER) {
        Wanted::OwnKernel
    } else {
        // User space alone was refused, if there is more.
        Wanted::OwnUser
    };
    refusal::of(error, wanted, &Facts::now())
}

/// What would let the kernel be sampled.
pub(crate) fn without_kernel() -> String {
    refusal::allow(Wanted::OwnKernel, &Facts::now())
}

/// What would allow what only CAP_PERFMON allows.
pub(crate) fn privileged() -> String {
    refusal::allow(Wanted::Privileged, &Facts::now())
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

/// A thread that may not be seized.
pub(crate) fn untraceable(tid: i32, error: &io::Error) -> Error {
    let scope = Facts::now().number::<u32>("proc/sys/kernel/yama/ptrace_scope");
    match (foreign(tid), scope) {
        (None, _) => Error::NoSuchTask { id: tid },
        (Some(Foreign { task, .. }), Some(scope @ 1..)) if sys::effective_uid() != 0 => {
            let why = format!(
                "kernel.yama.ptrace_scope is {scope} ({error}): record a command, run with sudo, or \
                 sudo sysctl kernel.yama.ptrace_scope=0"
            );
            Error::Foreign { task, why }
        }
        (Some(Foreign { task, .. }), _) if tracer_of(tid).is_some() => {
            let tracer = tracer_of(tid).unwrap_or(0);
            let why =
                format!("process {tracer} traces it already (a debugger, strace): end that first");
            Error::Foreign { task, why }
        }
        (Some(Foreign { task, why }), _) => Error::Foreign { task, why },
    }
}

/// What to do about a ring that could not be mapped.
pub(crate) fn map(error: &MapError) -> String {
    match error {
        MapError::MlockBudget { .. } => {
            format!(
                "other profilers of this user may use it up: smaller rings with -m; {}",
                refusal::rings()
            )
        }
        _ => "try another size with -m".to_owned(),
    }
}
