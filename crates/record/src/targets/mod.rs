//! Whom to open events for.

pub(crate) mod described;
pub(crate) mod matching;

use crate::error::Error;
use crate::settings::{Settings, Watch};
use rprof_ringbuf::Target;

/// The threads to open events for, as they are now. A thread is missed if one without open events makes it
/// meanwhile. So list again after opening, until nothing is new.
pub(crate) fn targets_of(settings: &Settings, child: Option<i32>) -> Result<Vec<Target>, Error> {
    let mut threads = match &settings.watch {
        Watch::All => return Ok(vec![Target::All]),
        Watch::Command => child.into_iter().collect(),
        Watch::Threads(tids) => {
            for &tid in tids {
                rprof_process::process_of(tid).map_err(|_| Error::NoSuchTask { id: tid })?;
            }
            tids.clone()
        }
        Watch::Matching(matching) => {
            let pids = matching.processes();
            if pids.is_empty() {
                return Err(Error::NoneMatch {
                    who: matching.to_string(),
                });
            }
            let threads = pids.into_iter().map(rprof_process::threads_of);
            threads.filter_map(Result::ok).flatten().collect()
        }
        Watch::Processes(pids) => {
            let threads = rprof_process::threads_of_all(pids, settings.children);
            threads.map_err(|id| Error::NoSuchTask { id })?
        }
    };
    threads.sort_unstable();
    threads.dedup();
    Ok(threads.into_iter().map(Target::Thread).collect())
}
