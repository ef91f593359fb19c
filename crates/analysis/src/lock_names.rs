//! What locks are called: those in static data by the symbol of that.

use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{TaskCache, distinct};
use crate::pass::{Options, query_of_all};
use crate::recording::Recording;
use crate::symbolize::KernelData;
use rprof_base::Avma;
use rprof_perfdata::Reader;
use rprof_untrusted::printable;
use std::cell::OnceCell;

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
    let locations: Vec<_> = locks
        .iter()
        .map(|lock| {
            let key = recording.index.key(Some(lock.time_ns), u64::MAX);
            let (mappings, _) = tasks.at(history, (lock.pid, lock.pid), key);
            mappings.branch_location(history, Avma(lock.address))
        })
        .collect();
    let (query, request) = query_of_all(&recording, options)?;
    let symbols = query.symbolize(distinct(locations.iter()), request)?;
    let kernel = OnceCell::new();
    let names = locks.iter().zip(&locations).map(|(lock, &location)| {
        if lock.is_kernel {
            let data = kernel.get_or_init(|| KernelData::of(&recording));
            return data.name(lock.address);
        }
        let number = symbols.number(location);
        let frame = symbols
            .functions
            .function_of(*symbols.frames(number).last()?);
        let name = symbols.functions.of(frame).name?;
        let name = printable(symbols.strings.of(name).raw()).into_owned();
        Some(match symbols.offset(number) {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        })
    });
    Ok(names.collect())
}
