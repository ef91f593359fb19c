//! `rprof lock`: which locks threads waited for, how long, and who held them.

mod follower;
mod kind;
mod table;
mod totals;

pub use table::{LockOptions, LockSort};

use crate::Error;
use crate::stacks::CallStacks;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use follower::{LockEvent, LockFollower, LockId, Who};
use kind::LockKind;
use rprof_analysis::{LockPlace, Options, Progress, for_each_lock_event, lock_names, machine_name};
use rprof_base::Interner;
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use rprof_syscalls::{SyscallAbi, SyscallNames};
use std::io::Write;
use table::write_table;
use totals::{Locks, OTHER_LOCKS};

/// What a recording says of locks.
#[derive(Debug)]
pub(crate) struct LockReading {
    /// Names of threads.
    pub(crate) comms: Interner<u32, String, RandomState>,
    pub(crate) stacks: CallStacks,
    pub(crate) locks: Locks,
    /// Of those that are in an object with a name.
    pub(crate) names: HashMap<LockId, String>,
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
        names: HashMap::default(),
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
    reading.names = names_of(&reading.locks, reader, &all)?;
    write_table(&reading, lock, out)?;
    Ok(profile)
}

/// What locks are called.
fn names_of(
    locks: &Locks,
    reader: &Reader,
    options: &Options,
) -> Result<HashMap<LockId, String>, Error> {
    let known = locks.all.iter().filter(|(lock, _)| **lock != OTHER_LOCKS);
    let (ids, places): (Vec<LockId>, Vec<LockPlace>) = known
        .map(|(lock, waits)| {
            let place = LockPlace {
                pid: lock.pid,
                time_ns: waits.times.max_end_ns,
                address: lock.address,
                is_kernel: matches!(lock.kind, LockKind::Kernel(_)),
            };
            (*lock, place)
        })
        .unzip();
    let names = lock_names(reader, options, &places)?;
    let named = ids.into_iter().zip(names);
    Ok(named
        .filter_map(|(lock, name)| Some((lock, name?)))
        .collect())
}
