//! The jitdumps of all processes that have one.

use super::jitdump::{JitDumpFile, LiveJitDump, SampleMoment};
use foldhash::HashMap;
use rprof_abi::Machine;
use rprof_abi::record::{FileIdentity, Record};
use rprof_abi::{Misc, SampleId};
use rprof_machine::{Epoch, Live, is_path_of_code_log};
use rprof_untrusted::{Budget, Limits};

/// Jitdumps that are followed at most: each is an open file.
const MAX_JITDUMPS: usize = 64;

/// Numbers below this are those of epochs.
const FIRST_NUMBER: u32 = 1 << 31;

/// include/uapi/asm-generic/mman-common.h (v6.12).
const PROT_EXEC: u32 = 4;

/// All jitdumps that are mapped.
#[derive(Debug)]
pub(crate) struct LiveJitDumps {
    machine: Machine,
    budget: Budget,
    of: HashMap<i32, Followed>,
    round: u64,
    next_number: u32,
}

#[derive(Debug)]
struct Followed {
    jitdump: LiveJitDump,
    /// When it was mapped.
    mapped_ns: u64,
    /// The number that was last given, and for what.
    number: Option<(CodeState, u32)>,
    /// The process had no threads when it was last checked.
    is_ending: bool,
}

/// What a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CodeState {
    epoch: u32,
    round: u64,
    jitdump_version: u64,
}

/// A jitdump at the moment of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JitDumpNow<'d> {
    pub(crate) jitdump: &'d LiveJitDump,
    pub(crate) at: SampleMoment,
    /// Stands for the mappings and the code in them.
    pub(crate) number: u32,
}

impl LiveJitDumps {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            budget: Budget::new(Limits::CODE_LOGS),
            of: HashMap::default(),
            round: 0,
            next_number: FIRST_NUMBER,
        }
    }

    /// Follows what a record tells of: jitdumps are mapped as code, by the process that writes them.
    pub(crate) fn add(&mut self, misc: Misc, record: &Record<'_>, id: &SampleId) {
        let time_ns = id.time_ns.unwrap_or(0);
        match record {
            Record::Mmap2(map)
                if map.prot & PROT_EXEC != 0 && is_path_of_code_log(map.filename) =>
            {
                if let (Ok(path), FileIdentity::Inode(inode)) =
                    (str::from_utf8(map.filename), &map.identity)
                {
                    let file = JitDumpFile {
                        pid: map.pid,
                        path: path.to_owned(),
                        inode: inode.ino,
                    };
                    self.follow(file, time_ns);
                }
            }
            Record::Fork(task) if task.pid != task.ppid => self.forget(task.pid, time_ns),
            Record::Comm(comm) if misc.has(Misc::COMM_EXEC) => self.forget(comm.pid, time_ns),
            _ => {}
        }
    }

    fn follow(&mut self, file: JitDumpFile, mapped_ns: u64) {
        let pid = file.pid;
        if self
            .of
            .get(&pid)
            .is_some_and(|one| *one.jitdump.file() == file)
        {
            return;
        }
        if self.of.len() >= MAX_JITDUMPS {
            let all = self.of.iter();
            let oldest = all.min_by_key(|(pid, one)| (one.jitdump.read_ns(), **pid));
            if let Some(oldest) = oldest.map(|(&pid, _)| pid) {
                self.of.remove(&oldest);
            }
        }
        let followed = Followed {
            mapped_ns,
            number: None,
            is_ending: false,
            jitdump: LiveJitDump::new(file, self.machine, &self.budget),
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

    /// A round of recording is over: code may be other code by now. Returns whether numbers of address spaces
    /// start again.
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

    /// Epochs have other numbers from now on.
    pub(crate) fn forget_spaces(&mut self) {
        self.of.values_mut().for_each(|one| one.number = None);
    }

    /// Reads what a process's jitdump has by the time of a sample, if there is one.
    pub(crate) fn read_until(
        &mut self,
        pid: i32,
        time_ns: u64,
        epoch: Epoch,
    ) -> Option<JitDumpNow<'_>> {
        let round = self.round;
        let followed = self.of.get_mut(&pid)?;
        followed.jitdump.read_until(time_ns);
        let state = CodeState {
            epoch: epoch.number(),
            round,
            jitdump_version: followed.jitdump.version(),
        };
        // A sample that is older than the newest code has less than later samples.
        let sees_all = time_ns >= followed.jitdump.newest_ns();
        let known = followed
            .number
            .filter(|(known, _)| sees_all && *known == state);
        let number = known.map_or(self.next_number, |(_, number)| number);
        if known.is_none() {
            self.next_number = self.next_number.saturating_add(1);
            if sees_all {
                followed.number = Some((state, number));
            }
        }
        Some(JitDumpNow {
            jitdump: &followed.jitdump,
            at: SampleMoment { time_ns, round },
            number,
        })
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

    fn map(jitdumps: &mut LiveJitDumps, pid: i32, prot: u32, filename: &[u8], time_ns: u64) {
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
        jitdumps.add(Misc::USER, &map, &at(time_ns));
    }

    fn jitdumps_of(pids: std::ops::Range<i32>) -> LiveJitDumps {
        let mut jitdumps = LiveJitDumps::new(Machine::X86_64);
        for pid in pids {
            map(&mut jitdumps, pid, 5, b"/nowhere/jit-7.dump", 100);
        }
        jitdumps
    }

    #[test]
    fn jitdumps_are_files_of_that_name_that_are_mapped_as_code() {
        let mut jitdumps = jitdumps_of(7..8);
        map(&mut jitdumps, 8, 1, b"/nowhere/jit-8.dump", 100);
        map(&mut jitdumps, 9, 5, b"/nowhere/libjit-8.so", 100);
        assert!(
            jitdumps.of.contains_key(&7)
                && !jitdumps.of.contains_key(&8)
                && !jitdumps.of.contains_key(&9)
        );
        let many = jitdumps_of(1000..2000);
        assert_eq!(many.of.len(), MAX_JITDUMPS);
    }

    #[test]
    fn a_process_that_begins_or_executes_has_no_log() {
        let exec = |time_ns| {
            let mut jitdumps = jitdumps_of(7..8);
            let comm = Record::Comm(Comm {
                pid: 7,
                tid: 7,
                comm: b"",
            });
            jitdumps.add(Misc::COMM_EXEC, &comm, &at(time_ns));
            jitdumps.of.contains_key(&7)
        };
        assert_eq!((exec(99), exec(100)), (true, false));
        let fork = |ppid| {
            let mut jitdumps = jitdumps_of(7..8);
            let task = Task {
                pid: 7,
                ppid,
                tid: 8,
                ptid: ppid,
                time_ns: 200,
            };
            jitdumps.add(Misc(0), &Record::Fork(task), &at(200));
            jitdumps.of.contains_key(&7)
        };
        assert_eq!((fork(7), fork(6)), (true, false), "a thread, a process");
        let mut jitdumps = jitdumps_of(7..8);
        let live = Live::default();
        assert!(!jitdumps.end_round(&live) && jitdumps.of.contains_key(&7));
        assert!(
            !jitdumps.end_round(&live) && !jitdumps.of.contains_key(&7),
            "it has ended"
        );
    }

    #[test]
    fn numbers_stand_for_what_is_known_at_a_moment() {
        let live = Live::default();
        let epoch = live.epoch(7, 100);
        let mut jitdumps = jitdumps_of(7..9);
        let number = |jitdumps: &mut LiveJitDumps, pid, time_ns| {
            let now = jitdumps.read_until(pid, time_ns, epoch);
            now.map(|now| now.number)
        };
        let first = number(&mut jitdumps, 7, 100);
        assert!(first.is_some() && number(&mut jitdumps, 6, 100).is_none());
        assert_eq!(number(&mut jitdumps, 7, 110), first);
        assert_ne!(number(&mut jitdumps, 8, 100), first);
        jitdumps.end_round(&live);
        assert_ne!(number(&mut jitdumps, 7, 120), first);
        jitdumps.next_number = u32::MAX;
        assert!(jitdumps.end_round(&live));
    }
}
