//! Whom counters are opened for: threads by their number in a list, CPUs.

use crate::{Aggregation, Error, StatSettings, WhoseEvents};
use rprof_events::{Sources, online_cpus};
use rprof_ringbuf::{Cpu, Target};
use std::collections::BTreeSet;

/// A thread that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) tid: i32,
    /// Its name when it was looked at.
    pub(crate) comm: Vec<u8>,
}

/// One counter of each event is opened for each of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CounterTarget {
    pub(crate) target: Target,
    pub(crate) cpu: Cpu,
    /// Which thread; for what is of no thread, the first.
    pub(crate) thread: usize,
}

/// Whom it is about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    pub(crate) threads: Vec<Thread>,
    pub(crate) cpus: Vec<u32>,
}

impl Targets {
    /// Threads as they are now, or CPUs; `child` is the command's process.
    pub(crate) fn of(
        settings: &StatSettings,
        child: Option<i32>,
        online: &[u32],
    ) -> Result<Self, Error> {
        let threads = threads(settings, child)?;
        let cpus = match (&settings.cpus, is_of_cpus(settings)) {
            (Some(cpus), _) => cpus.clone(),
            (None, true) => online.to_vec(),
            (None, false) => Vec::new(),
        };
        Ok(Self { threads, cpus })
    }

    /// The places of an event that a PMU counts on these CPUs only.
    pub(crate) fn places(&self, of_pmu: Option<&[u32]>) -> Vec<CounterTarget> {
        let is_counted = |cpu: &&u32| of_pmu.is_none_or(|cpus| cpus.contains(cpu));
        let cpus: Vec<Cpu> = self
            .cpus
            .iter()
            .filter(is_counted)
            .map(|&cpu| Cpu::On(cpu))
            .collect();
        if self.threads.is_empty() {
            let everybody = |cpu| CounterTarget {
                target: Target::All,
                cpu,
                thread: 0,
            };
            return cpus.into_iter().map(everybody).collect();
        }
        let cpus = if self.cpus.is_empty() {
            vec![Cpu::Any]
        } else {
            cpus
        };
        let of = |(nth, thread): (usize, &Thread)| {
            let target = Target::Thread(thread.tid);
            let place = move |&cpu: &Cpu| CounterTarget {
                target,
                cpu,
                thread: nth,
            };
            cpus.iter().map(place).collect::<Vec<_>>()
        };
        self.threads.iter().enumerate().flat_map(of).collect()
    }
}

/// CPUs that are on line, with all that are to be counted; none where nobody needs to know.
pub(crate) fn online(
    wanted: Option<&[u32]>,
    is_of_cpus: bool,
    sources: &Sources,
) -> Result<Vec<u32>, Error> {
    let online = match online_cpus(sources) {
        Ok(online) => online,
        Err(error) if wanted.is_none() && is_of_cpus => return Err(error.into()),
        Err(_) => return Ok(Vec::new()),
    };
    let missing = wanted
        .into_iter()
        .flatten()
        .find(|cpu| !online.contains(cpu));
    match missing {
        Some(&cpu) => Err(Error::NoSuchCpu { cpu }),
        None => Ok(online),
    }
}

/// Whether CPUs are counted, not tasks.
pub(crate) fn is_of_cpus(settings: &StatSettings) -> bool {
    settings.watch == WhoseEvents::All && settings.aggregation != Aggregation::Thread
}

fn threads(settings: &StatSettings, child: Option<i32>) -> Result<Vec<Thread>, Error> {
    let tids = match &settings.watch {
        WhoseEvents::Command => child.into_iter().collect(),
        WhoseEvents::All if settings.aggregation == Aggregation::Thread => {
            let all = rprof_process::all_processes().map_err(Error::system("listing /proc"))?;
            let own = std::process::id().cast_signed();
            let threads = all.into_iter().filter(|&pid| pid != own);
            let threads = threads.filter_map(|pid| rprof_process::threads_of(pid).ok());
            threads.flatten().collect()
        }
        WhoseEvents::All => Vec::new(),
        WhoseEvents::Threads(tids) => {
            for &id in tids {
                rprof_process::process_of(id).map_err(|_| Error::NoSuchTask { id })?;
            }
            tids.clone()
        }
        WhoseEvents::Processes(pids) => {
            let threads = rprof_process::threads_of_all(pids, settings.children);
            threads.map_err(|id| Error::NoSuchTask { id })?
        }
    };
    let named = |tid| Thread {
        tid,
        comm: rprof_process::comm_of(tid, tid).unwrap_or_default(),
    };
    // Who is named twice is counted once.
    let mut seen = BTreeSet::new();
    let once = tids.into_iter().filter(|&tid| seen.insert(tid));
    Ok(once.map(named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_are_not_there_or_not_known_are_never_left_out_silently() {
        let dir = tempfile::tempdir().unwrap();
        let sources = Sources {
            sysfs: dir.path().to_owned(),
            ..Sources::default()
        };
        // Tasks are counted wherever they run.
        assert!(online(None, false, &sources).unwrap().is_empty());
        assert!(matches!(online(None, true, &sources), Err(Error::Cpus(_))));
        let cpus = dir.path().join("devices/system/cpu");
        std::fs::create_dir_all(&cpus).unwrap();
        std::fs::write(cpus.join("online"), "0,2-3\n").unwrap();
        assert_eq!(online(None, true, &sources).unwrap(), [0, 2, 3]);
        assert_eq!(online(Some(&[3]), true, &sources).unwrap(), [0, 2, 3]);
        let gone = online(Some(&[0, 1]), true, &sources);
        assert!(matches!(gone, Err(Error::NoSuchCpu { cpu: 1 })));
    }
}
