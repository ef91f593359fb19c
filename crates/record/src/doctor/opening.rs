//! Checks: which events can be opened.

use super::check::{Check, State};
use super::examined::Examined;
use rprof_ringbuf::OpenError;
use rprof_targets::rights::refusal::{self, Wanted};

/// Without this there is no profile.
pub(super) fn own_user(examined: &Examined<'_>) -> Option<Check> {
    let name = "own programs";
    let Err(error) = &examined.tried.user else {
        return Check::fine(name, "user space can be sampled");
    };
    let (found, fix) = refused(examined, error, Wanted::OwnUser);
    if examined.tried.by_ptrace {
        Check::new(name, State::Less, found)?.but(
            "no events: falls back to coarse sampling by ptrace, user stacks only",
            fix,
        )
    } else {
        Check::new(name, State::Blocked, found)?.but("nothing can be recorded", fix)
    }
}

pub(super) fn own_kernel(examined: &Examined<'_>) -> Option<Check> {
    let name = "kernel";
    // Else it is said already.
    examined.tried.user.as_ref().ok()?;
    let Err(error) = &examined.tried.kernel else {
        return Check::fine(name, "can be sampled");
    };
    let (found, fix) = refused(examined, error, Wanted::OwnKernel);
    Check::new(name, State::Less, found)?.but("user space only", fix)
}

pub(super) fn all_cpus(examined: &Examined<'_>) -> Option<Check> {
    let name = "system-wide (-a)";
    examined.tried.user.as_ref().ok()?;
    let Err(error) = &examined.tried.all else {
        return Check::fine(name, "can be sampled");
    };
    let (found, fix) = refused(examined, error, Wanted::AllCpus);
    Check::new(name, State::Note, found)?
        .but("only commands and your own processes can be recorded", fix)
}

pub(super) fn hardware(examined: &Examined<'_>) -> Option<Check> {
    let name = "hardware PMU";
    match &examined.tried.hardware {
        Ok(()) => Check::fine(name, "counts cycles"),
        Err(OpenError::NoSuchEvent) => Check::new(name, State::Note, "none")?.but(
            "cpu-clock is sampled instead of cycles; code that runs with interrupts off gets no samples",
            "in a virtual machine, enable a virtual PMU on the host",
        ),
        // Said already.
        Err(_) => None,
    }
}

pub(super) fn paranoid(examined: &Examined<'_>) -> Option<Check> {
    let level = examined.facts.paranoid?;
    let means = match level {
        i32::MIN..=-1 => "everything is allowed for all users",
        0 => "everything except tracepoints is allowed for all users",
        1 => "all users may sample their own programs, kernel included",
        2 => "all users may sample their own programs, user space only",
        _ => "nothing is allowed without CAP_PERFMON",
    };
    Check::new(
        "perf_event_paranoid",
        State::Note,
        format!("{level}: {means}"),
    )
}

/// What the kernel says, and what would help, in the words of `record`.
fn refused(examined: &Examined<'_>, error: &OpenError, wanted: Wanted) -> (String, String) {
    let fix = refusal::of(error, wanted, examined.facts);
    (error.to_string(), fix)
}
