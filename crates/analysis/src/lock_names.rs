//! What the locks of a recording are called.

use crate::Error;
use crate::index::SampleOrder;
use crate::locations::TaskCache;
use crate::lock_sites::{LockNames, LockSite};
use crate::pass::Options;
use crate::recording::Recording;
use rprof_perfdata::Reader;

/// Where a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockPlace {
    /// The process whose address it is; any for those of the kernel.
    pub pid: i32,
    /// A moment at which it was waited for, nanoseconds.
    pub time_ns: u64,
    /// Its address.
    pub address: u64,
    /// Whether it is one of the kernel's.
    pub is_kernel: bool,
}

/// The names of locks, in their order; `None` for those that are in no object with a name. The kernel's have names only
/// if the list of symbols is that of the recorded kernel and boot.
///
/// # Errors
/// [`Error`] if the recording cannot be read.
pub fn lock_names(
    reader: &Reader,
    options: &Options,
    locks: &[LockPlace],
) -> Result<Vec<Option<String>>, Error> {
    let recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    let history = &recording.index.history;
    let mut tasks = TaskCache::new();
    let sites = locks.iter().map(|lock| {
        if lock.is_kernel {
            return LockSite::of_kernel(lock.address);
        }
        let key = recording.index.key(Some(lock.time_ns), u64::MAX);
        let (mappings, _) = tasks.at(history, (lock.pid, lock.pid), key);
        LockSite::of(history, mappings, lock.address)
    });
    let sites: Vec<LockSite> = sites.collect();
    let names = LockNames::of(&recording, &sites, options.demangling);
    Ok(sites
        .iter()
        .map(|&site| names.name(site).map(str::to_owned))
        .collect())
}
