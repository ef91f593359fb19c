//! Which process a process id meant: files that are named by it may be another one's by now.

use crate::index::{ProcessLifetimes, SLACK, WallClock};
use rprof_locate::LiveProcess;
use std::time::SystemTime;

/// A process of a recording, and what has its id now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordedProcess {
    n_forks: u32,
    /// Since when it has executed its program.
    begun: Option<SystemTime>,
    ended: Option<SystemTime>,
    /// The same process, if it still runs.
    pub(crate) living: Option<LiveProcess>,
    /// Another process that has its id.
    other: Option<LiveProcess>,
}

impl RecordedProcess {
    /// All that is known of a process. Without times that can be compared, one that still runs is taken
    /// for the one that was recorded, as perf does.
    pub(crate) fn of(pid: i32, lifetimes: &ProcessLifetimes, clock: Option<WallClock>) -> Self {
        Self::with(LiveProcess::of(pid), pid, lifetimes, clock)
    }

    fn with(
        living: Option<LiveProcess>,
        pid: i32,
        lifetimes: &ProcessLifetimes,
        clock: Option<WallClock>,
    ) -> Self {
        let life = lifetimes.of(pid);
        let wall = |time_ns| clock.and_then(|clock| clock.wall(time_ns));
        let forked = life.forked_ns.and_then(wall);
        let ended = life.ended_ns.and_then(wall);
        let last = clock.and_then(|clock| clock.last_ns).and_then(wall);
        let is_other = |living: &LiveProcess| match (forked, ended.or(last)) {
            (Some(forked), _) if living.started + SLACK < forked => true,
            (_, Some(last)) => living.started > last + SLACK,
            _ => false,
        };
        Self {
            n_forks: life.n_forks,
            begun: forked.max(life.executed_ns.and_then(wall)),
            ended,
            living: living.filter(|living| !is_other(living)),
            other: living.filter(is_other),
        }
    }

    /// Whether a file that was written to last at this moment, and is named by the id, can only
    /// be another process's.
    pub(crate) fn is_stranger(&self, modified: Option<SystemTime>) -> bool {
        if self.n_forks > 1 {
            return true;
        }
        let Some(modified) = modified else {
            return false;
        };
        let before = self.begun.is_some_and(|begun| modified + SLACK < begun);
        let after = self.ended.is_some_and(|ended| modified > ended + SLACK);
        let others = self
            .other
            .is_some_and(|other| modified + SLACK >= other.started);
        before || after || others
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::Misc;
    use rprof_abi::record::Record;
    use rprof_abi::record::{Comm, Task};
    use rprof_perfdata::feature::ClockData;
    use std::time::Duration;

    const CLOCK: WallClock = WallClock {
        clock: ClockData {
            clockid: 1,
            wall_ns: 1_000_000_000_000,
            clock_ns: 50_000_000_000,
        },
        last_ns: Some(90_000_000_000),
    };

    /// A number of seconds of the recording's clock, by the wall clock.
    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(950 + seconds)
    }

    fn task(seconds: u64) -> Task {
        Task {
            pid: 7,
            ppid: 1,
            tid: 7,
            ptid: 1,
            time_ns: seconds * 1_000_000_000,
        }
    }

    fn living(seconds: u64) -> Option<LiveProcess> {
        Some(LiveProcess {
            pid: 7,
            namespace_pid: 7,
            owner: 0,
            started: at(seconds),
        })
    }

    #[test]
    fn a_file_from_before_a_process_began_or_after_it_ended_is_not_its_own() {
        let mut lifetimes = ProcessLifetimes::default();
        lifetimes.add(Misc(0), &Record::Fork(task(60)), None);
        lifetimes.add(Misc(0), &Record::Exit(task(80)), None);
        let process = RecordedProcess::with(None, 7, &lifetimes, Some(CLOCK));
        let strange = [40, 58, 60, 70, 80, 82, 99].map(|time| process.is_stranger(Some(at(time))));
        assert_eq!(strange, [true, true, false, false, false, true, true]);
        assert!(!process.is_stranger(None));
        // Nothing is known without a clock.
        let process = RecordedProcess::with(None, 7, &lifetimes, None);
        assert!(!process.is_stranger(Some(at(40))));
        lifetimes.add(Misc(0), &Record::Fork(task(85)), None);
        let process = RecordedProcess::with(None, 7, &lifetimes, Some(CLOCK));
        assert!(
            process.is_stranger(Some(at(70))),
            "two processes had this id"
        );
    }

    #[test]
    fn a_process_that_ran_already_may_have_written_long_before() {
        let mut lifetimes = ProcessLifetimes::default();
        lifetimes.add(Misc::FORK_EXEC, &Record::Fork(task(60)), None);
        let process = RecordedProcess::with(living(10), 7, &lifetimes, Some(CLOCK));
        assert!(process.living.is_some() && !process.is_stranger(Some(at(20))));
        assert!(!process.is_stranger(Some(at(200))));
    }

    #[test]
    fn a_program_begins_when_it_is_executed() {
        let exec = Record::Comm(Comm {
            pid: 7,
            tid: 7,
            comm: b"node",
        });
        let mut lifetimes = ProcessLifetimes::default();
        lifetimes.add(Misc::COMM_EXEC, &exec, Some(60_000_000_000));
        let process = RecordedProcess::with(living(20), 7, &lifetimes, Some(CLOCK));
        assert!(process.living.is_some());
        assert!(process.is_stranger(Some(at(50))));
        assert!(!process.is_stranger(Some(at(61))));
    }

    #[test]
    fn who_began_later_is_another() {
        let lifetimes = ProcessLifetimes::default();
        let process = RecordedProcess::with(living(100), 7, &lifetimes, Some(CLOCK));
        assert!(process.living.is_none());
        assert!(process.is_stranger(Some(at(101))));
        assert!(!process.is_stranger(Some(at(70))));
        // Or one that still runs although the recorded one ended.
        let mut lifetimes = ProcessLifetimes::default();
        lifetimes.add(Misc(0), &Record::Exit(task(60)), None);
        let process = RecordedProcess::with(living(75), 7, &lifetimes, Some(CLOCK));
        assert!(process.living.is_none());
        assert!(
            RecordedProcess::with(living(75), 7, &lifetimes, None)
                .living
                .is_some()
        );
    }
}
