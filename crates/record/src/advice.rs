//! What to do when the kernel refuses what only a recorder wants.

use crate::error::Error;
use rprof_process::tracer_of;
use rprof_ringbuf::{MapError, sys};
use rprof_targets::rights::advice::{Foreign, foreign};
use rprof_targets::rights::{Facts, refusal};
use std::io;

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
            let why = format!(
                "already traced by process {tracer} (a debugger or strace): stop that first"
            );
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
                "other profilers of this user may be using it: use smaller rings (-m), {}",
                refusal::rings()
            )
        }
        _ => "try another size with -m".to_owned(),
    }
}
