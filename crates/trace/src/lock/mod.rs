//! `rprof lock`: which locks threads waited for, how long, and who held them.

mod follower;
mod kind;
mod table;
mod totals;

pub use table::{LockOptions, LockSort};

use crate::Error;
use crate::stacks::CallStacks;
use foldhash::fast::RandomState;
use follower::{LockEvent, LockFollower, Who};
use rprof_analysis::{Options, Progress, for_each_lock_event, machine_name};
use rprof_base::Interner;
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use rprof_syscalls::{SyscallAbi, SyscallNames};
use std::io::Write;
use table::write_table;
use totals::Locks;

/// What a recording says of locks.
#[derive(Debug)]
pub(crate) struct LockReading {
    /// Names of threads.
    pub(crate) comms: Interner<u32, String, RandomState>,
    pub(crate) stacks: CallStacks,
    pub(crate) locks: Locks,
}

/// Writes a row for each lock, with who waited and who let them wait. Returns how good the recording is.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or has no waits for locks; or of `out`.
pub fn write_locks(
    reader: &Reader,
    options: &Options,
    lock: &LockOptions,
    progress: &mut Progress<'_>,
    out: &mut dyn Write,
) -> Result<Profile, Error> {
    let native = SyscallAbi::of_machine(&machine_name(reader));
    let mut reading = LockReading {
        comms: Interner::default(),
        stacks: CallStacks::default(),
        locks: Locks::default(),
    };
    let mut follower = LockFollower::new(
        SyscallNames::of(native),
        SyscallNames::of(native.of_32_bit_tasks()),
    );
    // Who lets others wait may be any thread: which waits are shown is a matter of the end.
    let all = Options {
        filter: rprof_profile::Filter::default(),
        ..options.clone()
    };
    let mut profile = for_each_lock_event(reader, &all, progress, &mut |event| {
        let comm = event.comm.raw();
        let event = LockEvent {
            time_ns: event.time_ns,
            who: Who {
                pid: event.pid,
                tid: event.tid,
                comm: reading.comms.intern_ref(comm),
            },
            step: event.step,
            stack: reading.stacks.number(event.stack),
        };
        let is_shown = options
            .filter
            .accepts_task(event.who.pid, event.who.tid, comm);
        follower.take(&event, &mut |wait| {
            if is_shown {
                reading.locks.add(&wait);
            }
        });
        true
    })?;
    profile.warnings.extend(follower.warnings());
    write_table(&reading, lock, out)?;
    Ok(profile)
}
