//! What already runs, as the records that perf would synthesize: FORK, COMM, MMAP2, time 0.

use crate::{comm_of, parent_of, threads_of};
use rprof_abi::record::{Comm, FileIdentity, Mmap2, Record, Task};
use rprof_abi::{MapsLine, Misc, SampleId, parse_maps};

/// One synthesized record, lent to the caller.
#[derive(Debug)]
pub struct Synthesized<'a> {
    /// Its header bits.
    pub misc: Misc,
    /// The record.
    pub record: Record<'a>,
    /// Its process and thread; no time, so it sorts before everything.
    pub id: SampleId,
}

impl<'a> Synthesized<'a> {
    /// A thread began, with this name. Not as a clone: what it has mapped is described, not inherited.
    pub fn thread(pid: i32, tid: i32, parent: i32, comm: &'a [u8]) -> [Self; 2] {
        let task = Task {
            pid,
            ppid: parent,
            tid,
            ptid: parent,
            time_ns: 0,
        };
        let (misc, id) = (Misc::FORK_EXEC, id_of(pid, tid));
        let (fork, comm) = (Record::Fork(task), Record::Comm(Comm { pid, tid, comm }));
        [(misc, fork), (Misc(0), comm)].map(|(misc, record)| Self { misc, record, id })
    }

    /// A process has mapped something.
    pub fn mapping(misc: Misc, map: Mmap2<'a>) -> Self {
        Self {
            misc,
            id: id_of(map.pid, map.pid),
            record: Record::Mmap2(map),
        }
    }
}

/// Describes a process: its threads with names, and its mappings, those of data marked as such.
/// Whatever is gone by the time it is looked at is left out. Returns whether we may see what it has
/// mapped: of another user's process we may not.
pub fn describe_process(pid: i32, emit: &mut impl FnMut(Synthesized<'_>)) -> bool {
    for tid in threads_of(pid).unwrap_or_default() {
        describe_thread(pid, tid, emit);
    }
    let maps = match std::fs::read(format!("/proc/{pid}/maps")) {
        Ok(maps) => maps,
        Err(error) => return error.kind() != std::io::ErrorKind::PermissionDenied,
    };
    for map in parse_maps(&maps) {
        emit(mapping(pid, &map));
    }
    true
}

/// A mapping as a record, by its line in `/proc/PID/maps`.
pub fn mapping(pid: i32, map: &MapsLine) -> Synthesized<'_> {
    let name: &[u8] = if map.name.is_empty() {
        b"//anon"
    } else {
        &map.name
    };
    let misc = if map.is_code() {
        Misc::USER
    } else {
        Misc(Misc::USER.0 | Misc::MMAP_DATA.0)
    };
    Synthesized::mapping(
        misc,
        Mmap2 {
            pid,
            tid: pid,
            addr: map.start,
            len: map.end - map.start,
            pgoff: map.pgoff,
            identity: FileIdentity::Inode(map.inode),
            prot: map.prot,
            flags: map.flags,
            filename: name,
        },
    )
}

fn describe_thread(pid: i32, tid: i32, emit: &mut impl FnMut(Synthesized<'_>)) {
    let Ok(comm) = comm_of(pid, tid) else {
        return;
    };
    let parent = if tid == pid {
        parent_of(pid).unwrap_or(0)
    } else {
        pid
    };
    Synthesized::thread(pid, tid, parent, &comm)
        .into_iter()
        .for_each(emit);
}

fn id_of(pid: i32, tid: i32) -> SampleId {
    SampleId {
        pid: Some(pid),
        tid: Some(tid),
        ..SampleId::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_ourselves_are_described() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let (mut forks, mut comms, mut maps) = (0, 0, 0);
        describe_process(pid, &mut |one| match one.record {
            Record::Fork(task) => forks += i32::from(task.pid == pid),
            Record::Comm(_) => comms += 1,
            Record::Mmap2(map) => maps += i32::from(map.filename.starts_with(b"/")),
            other => panic!("{other:?}"),
        });
        assert!(forks > 0 && comms == forks && maps > 0);
    }
}
