//! Which process a process id meant: files that are named by it may be another one's by now.

use super::descent::Fork;
use foldhash::HashMap;
use rprof_abi::Misc;
use rprof_abi::record::Record;
use rprof_locate::LiveProcess;
use rprof_perfdata::feature::ClockData;
use rprof_perfdata::{Feature, FeatureId, Reader};
use std::time::{Duration, SystemTime};

/// When processes began and ended, as far as that was recorded.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    lives: HashMap<i32, Life>,
    /// Who made whom, in the file's order.
    pub(crate) forks: Vec<Fork>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Life {
    n_forks: u32,
    forked_ns: Option<u64>,
    /// When it began to execute the program that it executed last.
    executed_ns: Option<u64>,
    /// When its last thread ended.
    ended_ns: Option<u64>,
}

impl Lives {
    /// Takes note of a record of this time.
    pub(crate) fn see(&mut self, misc: Misc, record: &Record<'_>, time_ns: Option<u64>) {
        match record {
            Record::Fork(task) if task.pid != task.ppid => {
                // Those made up for what runs already say nothing of its beginning.
                let is_made_up = misc.has(Misc::FORK_EXEC);
                self.forks.push(Fork {
                    time_ns: if is_made_up { 0 } else { task.time_ns },
                    pid: task.pid,
                    parent: task.ppid,
                });
                if !is_made_up {
                    let life = self.lives.entry(task.pid).or_default();
                    life.n_forks += 1;
                    life.forked_ns = Some(task.time_ns);
                }
            }
            Record::Comm(comm) if misc.has(Misc::COMM_EXEC) && time_ns.is_some() => {
                self.lives.entry(comm.pid).or_default().executed_ns = time_ns;
            }
            Record::Exit(task) => {
                let life = self.lives.entry(task.pid).or_default();
                life.ended_ns = life.ended_ns.max(Some(task.time_ns));
            }
            _ => {}
        }
    }

    /// When a process began and when it ended, as far as that is known; of an id that several
    /// had, nothing.
    pub(crate) fn span_ns(&self, pid: i32) -> (Option<u64>, Option<u64>) {
        match self.lives.get(&pid) {
            Some(life) if life.n_forks <= 1 => (life.forked_ns, life.ended_ns),
            _ => (None, None),
        }
    }
}

/// The recording's clock against that of files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    clock: ClockData,
    /// When the last sample was taken.
    last_ns: Option<u64>,
}

impl WallClock {
    /// `None` if the recording does not say.
    pub(crate) fn of(reader: &Reader) -> Option<Self> {
        let feature = |id| {
            let section = reader.feature(id).ok()??;
            Feature::parse(id, &section, reader.endian()).ok()
        };
        let Feature::ClockData(clock) = feature(FeatureId::CLOCK_DATA)? else {
            return None;
        };
        let last_ns = match feature(FeatureId::SAMPLE_TIME) {
            Some(Feature::SampleTime(times)) => Some(times.last_ns),
            _ => None,
        };
        Some(Self { clock, last_ns })
    }

    fn wall(self, time_ns: u64) -> Option<SystemTime> {
        let ClockData {
            wall_ns, clock_ns, ..
        } = self.clock;
        let wall_ns = i128::from(wall_ns) + i128::from(time_ns) - i128::from(clock_ns);
        let since = Duration::from_nanos(u64::try_from(wall_ns).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }
}

/// When a recording was over at the latest, by the clock of files: what is in files that were written to
/// later was not recorded.
pub(crate) fn ended(reader: &Reader, clock: Option<WallClock>) -> Option<SystemTime> {
    let written = std::fs::metadata(reader.path()).ok();
    let written = written.filter(std::fs::Metadata::is_file);
    let written = written.and_then(|meta| meta.modified().ok());
    let last = clock.and_then(|clock| clock.wall(clock.last_ns?));
    let last = last.and_then(|last| last.checked_add(SLACK));
    written.into_iter().chain(last).min()
}

/// Clocks are set, and files' times are those of the last timer tick.
const SLACK: Duration = Duration::from_secs(1);

/// A process of a recording, and what has its id now.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Process {
    n_forks: u32,
    /// Since when it has executed its program.
    begun: Option<SystemTime>,
    ended: Option<SystemTime>,
    /// The same process, if it lives.
    pub(crate) living: Option<LiveProcess>,
    /// Another process that has its id.
    other: Option<LiveProcess>,
}

impl Process {
    /// All that is known of a process. Without times that can be compared, one that lives is taken
    /// for the one that was recorded, as perf does.
    pub(crate) fn of(pid: i32, lives: &Lives, clock: Option<WallClock>) -> Self {
        Self::with(LiveProcess::of(pid), pid, lives, clock)
    }

    fn with(
        living: Option<LiveProcess>,
        pid: i32,
        lives: &Lives,
        clock: Option<WallClock>,
    ) -> Self {
        let life = lives.lives.get(&pid).copied().unwrap_or_default();
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
    use rprof_abi::record::{Comm, Task};

    const CLOCK: WallClock = WallClock {
        clock: ClockData {
            clockid: 1,
            wall_ns: 1_000_000_000_000,
            clock_ns: 50_000_000_000,
        },
        last_ns: Some(90_000_000_000),
    };

    /// So many seconds of the recording's clock, by the wall clock.
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
        let mut lives = Lives::default();
        lives.see(Misc(0), &Record::Fork(task(60)), None);
        lives.see(Misc(0), &Record::Exit(task(80)), None);
        let process = Process::with(None, 7, &lives, Some(CLOCK));
        let strange = [40, 58, 60, 70, 80, 82, 99].map(|time| process.is_stranger(Some(at(time))));
        assert_eq!(strange, [true, true, false, false, false, true, true]);
        assert!(!process.is_stranger(None));
        // Nothing is known without a clock.
        let process = Process::with(None, 7, &lives, None);
        assert!(!process.is_stranger(Some(at(40))));
        lives.see(Misc(0), &Record::Fork(task(85)), None);
        let process = Process::with(None, 7, &lives, Some(CLOCK));
        assert!(
            process.is_stranger(Some(at(70))),
            "two processes had this id"
        );
    }

    #[test]
    fn a_process_that_ran_already_may_have_written_long_before() {
        let mut lives = Lives::default();
        lives.see(Misc::FORK_EXEC, &Record::Fork(task(60)), None);
        let process = Process::with(living(10), 7, &lives, Some(CLOCK));
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
        let mut lives = Lives::default();
        lives.see(Misc::COMM_EXEC, &exec, Some(60_000_000_000));
        let process = Process::with(living(20), 7, &lives, Some(CLOCK));
        assert!(process.living.is_some());
        assert!(process.is_stranger(Some(at(50))));
        assert!(!process.is_stranger(Some(at(61))));
    }

    #[test]
    fn who_began_later_is_another() {
        let lives = Lives::default();
        let process = Process::with(living(100), 7, &lives, Some(CLOCK));
        assert!(process.living.is_none());
        assert!(process.is_stranger(Some(at(101))));
        assert!(!process.is_stranger(Some(at(70))));
        // Or who lives although the recorded one ended.
        let mut lives = Lives::default();
        lives.see(Misc(0), &Record::Exit(task(60)), None);
        let process = Process::with(living(75), 7, &lives, Some(CLOCK));
        assert!(process.living.is_none());
        assert!(Process::with(living(75), 7, &lives, None).living.is_some());
    }
}
