//! Logs of code made at run time, of all processes that have one.

use super::log::{Log, Place};
use foldhash::HashMap;
use rprof_abi::record::{FileIdentity, Record};
use rprof_abi::{Misc, SampleId};
use rprof_machine::{Epoch, Live, is_path_of_code_log};
use rprof_untrusted::{Budget, Limits};
use rprof_unwind::Machine;

/// Logs that are followed at most: each is an open file.
const MAX_LOGS: usize = 64;

/// Numbers below this are those of epochs.
const FIRST_NUMBER: u32 = 1 << 31;

/// include/uapi/asm-generic/mman-common.h (v6.12).
const PROT_EXEC: u32 = 4;

/// All logs that are mapped.
#[derive(Debug)]
pub(crate) struct Logs {
    machine: Machine,
    budget: Budget,
    of: HashMap<i32, Followed>,
    round: u64,
    next_number: u32,
}

#[derive(Debug)]
struct Followed {
    log: Log,
    /// When it was mapped.
    mapped_ns: u64,
    /// The number of an epoch, in a round, with a version of the log.
    number: Option<((u32, u64, u64), u32)>,
    /// The process had no threads when it was last looked.
    is_ending: bool,
}

impl Logs {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            budget: Budget::new(Limits::CODE_LOGS),
            of: HashMap::default(),
            round: 0,
            next_number: FIRST_NUMBER,
        }
    }

    /// Takes note of a record: logs are mapped as code, by who keeps them.
    pub(crate) fn see(&mut self, misc: Misc, record: &Record<'_>, id: &SampleId) {
        let time_ns = id.time_ns.unwrap_or(0);
        match record {
            Record::Mmap2(map)
                if map.prot & PROT_EXEC != 0 && is_path_of_code_log(map.filename) =>
            {
                if let (Ok(path), FileIdentity::Inode(inode)) =
                    (str::from_utf8(map.filename), &map.identity)
                {
                    let place = Place {
                        pid: map.pid,
                        path: path.to_owned(),
                        inode: inode.ino,
                    };
                    self.follow(place, time_ns);
                }
            }
            Record::Fork(task) if task.pid != task.ppid => self.forget(task.pid, time_ns),
            Record::Comm(comm) if misc.has(Misc::COMM_EXEC) => self.forget(comm.pid, time_ns),
            _ => {}
        }
    }

    fn follow(&mut self, place: Place, mapped_ns: u64) {
        let pid = place.pid;
        if self
            .of
            .get(&pid)
            .is_some_and(|one| *one.log.place() == place)
        {
            return;
        }
        if self.of.len() >= MAX_LOGS {
            let all = self.of.iter();
            let oldest = all.min_by_key(|(pid, one)| (one.log.looked_ns(), **pid));
            if let Some(oldest) = oldest.map(|(&pid, _)| pid) {
                self.of.remove(&oldest);
            }
        }
        let followed = Followed {
            mapped_ns,
            number: None,
            is_ending: false,
            log: Log::new(place, self.machine, &self.budget),
        };
        self.of.insert(pid, followed);
    }

    /// A process begins, or executes another program.
    fn forget(&mut self, pid: i32, time_ns: u64) {
        if let Some(followed) = self.of.get(&pid)
            && followed.mapped_ns <= time_ns
        {
            self.of.remove(&pid);
        }
    }

    /// A round of recording is over: code may be other code by now. Whether numbers of address spaces begin
    /// anew.
    pub(crate) fn end_round(&mut self, live: &Live) -> bool {
        self.round += 1;
        self.of.retain(|&pid, one| {
            let is_ending = !live.is_alive(pid);
            // Samples of its last moments may come one round later.
            !(is_ending && std::mem::replace(&mut one.is_ending, is_ending))
        });
        let is_worn_out = self.next_number > u32::MAX / 4 * 3;
        if is_worn_out {
            self.next_number = FIRST_NUMBER;
            self.of.values_mut().for_each(|one| one.number = None);
        }
        is_worn_out
    }

    /// Reads what a process's log has by the time of a sample; returns a number that stands for the mappings
    /// and the code in them, if there is a log.
    pub(crate) fn look(&mut self, pid: i32, time_ns: u64, epoch: Epoch) -> Option<u32> {
        let followed = self.of.get_mut(&pid)?;
        followed.log.look(time_ns);
        let state = (epoch.number(), self.round, followed.log.version());
        // A sample from before the newest code does not see all that later ones do.
        let sees_all = time_ns >= followed.log.newest_ns();
        if sees_all
            && let Some((known, number)) = followed.number
            && known == state
        {
            return Some(number);
        }
        let number = self.next_number;
        self.next_number = self.next_number.saturating_add(1);
        if sees_all {
            followed.number = Some((state, number));
        }
        Some(number)
    }

    /// The log of a process.
    pub(crate) fn of(&self, pid: i32) -> Option<(&Log, u64)> {
        let followed = self.of.get(&pid)?;
        Some((&followed.log, self.round))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::record::{Comm, Inode, Mmap2, Task};

    fn at(time_ns: u64) -> SampleId {
        SampleId {
            time_ns: Some(time_ns),
            ..SampleId::default()
        }
    }

    fn map(logs: &mut Logs, pid: i32, prot: u32, filename: &[u8], time_ns: u64) {
        let map = Record::Mmap2(Mmap2 {
            pid,
            tid: pid,
            addr: 0x5000,
            len: 0x1000,
            pgoff: 0,
            identity: FileIdentity::Inode(Inode::default()),
            prot,
            flags: 2,
            filename,
        });
        logs.see(Misc::USER, &map, &at(time_ns));
    }

    fn logs_of(pids: std::ops::Range<i32>) -> Logs {
        let mut logs = Logs::new(Machine::X86_64);
        for pid in pids {
            map(&mut logs, pid, 5, b"/nowhere/jit-7.dump", 100);
        }
        logs
    }

    #[test]
    fn logs_are_files_of_that_name_that_are_mapped_as_code() {
        let mut logs = logs_of(7..8);
        map(&mut logs, 8, 1, b"/nowhere/jit-8.dump", 100);
        map(&mut logs, 9, 5, b"/nowhere/libjit-8.so", 100);
        assert!(logs.of(7).is_some() && logs.of(8).is_none() && logs.of(9).is_none());
        let many = logs_of(1000..2000);
        assert_eq!(many.of.len(), MAX_LOGS);
    }

    #[test]
    fn a_process_that_begins_or_executes_has_no_log() {
        let exec = |time_ns| {
            let mut logs = logs_of(7..8);
            let comm = Record::Comm(Comm {
                pid: 7,
                tid: 7,
                comm: b"",
            });
            logs.see(Misc::COMM_EXEC, &comm, &at(time_ns));
            logs.of(7).is_some()
        };
        assert_eq!((exec(99), exec(100)), (true, false));
        let fork = |ppid| {
            let mut logs = logs_of(7..8);
            let task = Task {
                pid: 7,
                ppid,
                tid: 8,
                ptid: ppid,
                time_ns: 200,
            };
            logs.see(Misc(0), &Record::Fork(task), &at(200));
            logs.of(7).is_some()
        };
        assert_eq!((fork(7), fork(6)), (true, false), "a thread, a process");
        let mut logs = logs_of(7..8);
        let live = Live::default();
        assert!(!logs.end_round(&live) && logs.of(7).is_some());
        assert!(
            !logs.end_round(&live) && logs.of(7).is_none(),
            "it has ended"
        );
    }

    #[test]
    fn numbers_stand_for_what_is_known_at_a_moment() {
        let live = Live::default();
        let epoch = live.epoch(7, 100);
        let mut logs = logs_of(7..9);
        let first = logs.look(7, 100, epoch);
        assert!(first.is_some() && logs.look(6, 100, epoch).is_none());
        assert_eq!(logs.look(7, 110, epoch), first);
        assert_ne!(logs.look(8, 100, epoch), first);
        logs.end_round(&live);
        assert_ne!(logs.look(7, 120, epoch), first);
        logs.next_number = u32::MAX;
        assert!(logs.end_round(&live));
    }
}
