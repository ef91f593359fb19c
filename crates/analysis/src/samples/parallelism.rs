//! How many threads of a recording run at a time, by its context switches.
//!
//! Source: tools/perf/Documentation/cpu-and-latency-overheads.txt (v6.15).

use crate::Error;
use crate::recording::Recording;
use foldhash::{HashSet, HashSetExt};
use rprof_abi::record::Record;
use rprof_abi::{AttrFlags, Misc, RecordKind};
use rprof_base::parallel;
use rprof_machine::Key;
use rprof_perfdata::{Reader, Step};

/// What happens to a thread; in this order if at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Begins,
    Ceases,
    /// It is gone: there is no switch out of it.
    Exits,
}

/// How many threads run, from moments on.
#[derive(Debug, Default)]
pub(crate) struct Parallelism {
    steps: Vec<(Key, u32)>,
    /// Before the first step.
    first: u32,
}

/// Whether a recording has context switches.
pub(crate) fn has_switches(reader: &Reader) -> bool {
    let mut events = reader.events().iter();
    events.any(|event| event.attr.flags.has(AttrFlags::CONTEXT_SWITCH))
}

impl Parallelism {
    /// That of a recording.
    ///
    /// # Errors
    /// [`Error`] if it cannot be read.
    pub(crate) fn of(recording: &Recording<'_>) -> Result<Self, Error> {
        let visit = |changes: &mut Vec<(Key, i32, Change)>, chunk: usize| -> Result<(), Error> {
            let Some(range) = recording.index.chunks.get(chunk) else {
                return Ok(());
            };
            let kinds = [
                RecordKind::SWITCH,
                RecordKind::SWITCH_CPU_WIDE,
                RecordKind::EXIT,
            ];
            recording.reader.walk_windows(range.clone(), |records| {
                for (offset, raw) in records.filter(|(_, raw)| kinds.contains(&raw.kind)) {
                    let events = recording.reader.events();
                    let event = recording.reader.event_of(raw);
                    let Some(event) = event.and_then(|event| events.get(event)) else {
                        continue;
                    };
                    let Ok((record, id)) = Record::parse(raw, &event.layout) else {
                        continue;
                    };
                    let (tid, change) = match record {
                        Record::Exit(task) => (Some(task.tid), Change::Exits),
                        _ if raw.misc.has(Misc::SWITCH_OUT) => (id.tid, Change::Ceases),
                        _ => (id.tid, Change::Begins),
                    };
                    // An idle CPU runs nobody.
                    if let Some(tid) = tid.filter(|&tid| tid > 0) {
                        let key = recording.index.key(id.time_ns, offset);
                        changes.push((key, tid, change));
                    }
                }
                Step::On
            })?;
            Ok(())
        };
        let work = (recording.index.chunks.len(), parallel::n_cpus());
        let mut changes = parallel::for_each(work, Vec::new, visit, &mut |_| {})?.concat();
        changes.sort_unstable();
        Ok(Self::by(&changes))
    }

    fn by(changes: &[(Key, i32, Change)]) -> Self {
        // What ceases to run without having begun ran when the recording began.
        let (mut seen, mut running) = (HashSet::new(), HashSet::new());
        for &(_, tid, change) in changes {
            if seen.insert(tid) && change == Change::Ceases {
                running.insert(tid);
            }
        }
        let count = |running: &HashSet<i32>| u32::try_from(running.len()).unwrap_or(u32::MAX);
        let first = count(&running);
        let mut steps: Vec<(Key, u32)> = Vec::new();
        for &(key, tid, change) in changes {
            let is_changed = match change {
                Change::Begins => running.insert(tid),
                Change::Ceases | Change::Exits => running.remove(&tid),
            };
            if is_changed {
                steps.push((key, count(&running)));
            }
        }
        Self { steps, first }
    }

    /// How many run at a moment: those that are sampled are among them, so it is 1 at least.
    pub(crate) fn at(&self, key: Key) -> u32 {
        let after = self.steps.partition_point(|(step, _)| *step <= key);
        let step = after.checked_sub(1).and_then(|at| self.steps.get(at));
        step.map_or(self.first, |&(_, n)| n).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_run_from_switch_to_switch() {
        let change = |time_ns: u64, tid: i32, change| (Key { time_ns, offset: 0 }, tid, change);
        let changes = [
            change(2, 11, Change::Begins),
            change(3, 12, Change::Begins),
            // It ran from the beginning on.
            change(4, 10, Change::Ceases),
            change(5, 12, Change::Exits),
            change(6, 11, Change::Ceases),
            change(7, 13, Change::Exits),
        ];
        let parallelism = Parallelism::by(&changes);
        let at = |time_ns| parallelism.at(Key { time_ns, offset: 1 });
        let all: Vec<u32> = (1..8).map(at).collect();
        assert_eq!(all, [1, 2, 3, 2, 1, 1, 1]);
        assert_eq!(Parallelism::default().at(Key::FIRST), 1);
    }
}
