//! Orders of sideband, and what is known of tasks after them.

use super::*;
use rprof_abi::record::FileIdentity;
use rprof_abi::{AttrFlags, PerfEventAttr, SampleId, SampleType};

fn layout() -> SampleLayout {
    let attr = PerfEventAttr {
        sample_type: SampleType::TID.with(SampleType::TIME),
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..PerfEventAttr::default()
    };
    SampleLayout::new(&attr, Endian::NATIVE)
}

fn alive() -> Alive {
    Alive::new(layout())
}

fn see(alive: &mut Alive, misc: Misc, record: &Record<'_>, time_ns: u64) {
    let mut bytes = Vec::new();
    let id = SampleId::default();
    record.encode(misc, &id, &layout(), &mut bytes).unwrap();
    alive.see(&bytes, time_ns);
}

fn task(ids: (i32, i32), parent: (i32, i32)) -> Task {
    Task {
        pid: ids.0,
        tid: ids.1,
        ppid: parent.0,
        ptid: parent.1,
        time_ns: 0,
    }
}

fn fork(ids: (i32, i32), parent: (i32, i32)) -> Record<'static> {
    Record::Fork(task(ids, parent))
}

fn exit(pid: i32, tid: i32) -> Record<'static> {
    Record::Exit(task((pid, tid), (pid, tid)))
}

fn comm(pid: i32, tid: i32, comm: &str) -> Record<'_> {
    let comm = comm.as_bytes();
    Record::Comm(Comm { pid, tid, comm })
}

fn map(pid: i32, addr: u64, len: u64, name: &str) -> Record<'_> {
    Record::Mmap2(Mmap2 {
        pid,
        tid: pid,
        addr,
        len,
        pgoff: 0,
        identity: FileIdentity::Inode(Default::default()),
        prot: 5,
        flags: 2,
        filename: name.as_bytes(),
    })
}

/// What it describes, one word each.
fn described(alive: &Alive) -> String {
    let mut words = Vec::new();
    alive.describe(&mut |one| {
        words.push(match one.record {
            Record::Fork(task) => format!("{}<{}", task.tid, task.ptid),
            Record::Comm(comm) => String::from_utf8(comm.comm.to_vec()).unwrap(),
            Record::Mmap2(map) => {
                let name = String::from_utf8(map.filename.to_vec()).unwrap();
                format!("{}:{:x}={name}", map.pid, map.addr)
            }
            other => panic!("{other:?}"),
        });
    });
    words.join(" ")
}

const USER: Misc = Misc::USER;

#[test]
fn a_child_has_what_its_parent_had_whoever_ends_first() {
    let mut alive = alive();
    alive.apply(Misc(0), &fork((10, 10), (1, 1)));
    alive.apply(Misc(0), &comm(10, 10, "sh"));
    alive.apply(USER, &map(10, 0x1000, 0x1000, "/sh"));
    // As rings are drained: the parent's end comes before its child's beginning.
    see(&mut alive, Misc(0), &exit(10, 10), 30);
    see(&mut alive, Misc(0), &fork((11, 11), (10, 10)), 20);
    see(&mut alive, Misc(0), &fork((12, 12), (11, 11)), 40);
    alive.settle(10);
    assert_eq!(described(&alive), "10<1 sh 10:1000=/sh");
    assert_eq!(alive.newer().count(), 3);
    alive.settle(30);
    let both = "10<1 sh 10:1000=/sh 11<10 sh 11:1000=/sh";
    assert_eq!(described(&alive), both);
    assert_eq!(alive.newer().count(), 1);
    // What has ended is forgotten only then: the kernel may still work for it.
    alive.settle(40);
    let both = "11<10 sh 11:1000=/sh 12<11 sh 12:1000=/sh";
    assert_eq!(described(&alive), both);
}

#[test]
fn an_exec_leaves_one_thread_and_no_mappings() {
    let mut alive = alive();
    alive.apply(Misc(0), &comm(10, 10, "sh"));
    alive.apply(USER, &map(10, 0x1000, 0x1000, "/sh"));
    alive.apply(Misc(0), &fork((10, 11), (10, 10)));
    alive.apply(Misc(0), &comm(10, 11, "other"));
    assert_eq!(described(&alive), "10<0 sh 11<10 other 10:1000=/sh");
    alive.apply(Misc::COMM_EXEC, &comm(10, 10, "new"));
    alive.apply(USER, &map(10, 0x2000, 0x1000, "/new"));
    assert_eq!(described(&alive), "10<0 new 10:2000=/new");
    see(&mut alive, Misc(0), &exit(10, 10), 5);
    alive.settle(5);
    alive.settle(6);
    assert_eq!(described(&alive), "");
    assert_eq!(alive.left, MAX_MAP_BYTES);
}

#[test]
fn a_mapping_replaces_those_that_it_covers() {
    let mut alive = alive();
    alive.apply(Misc(0), &comm(10, 10, "x"));
    for (addr, len, name) in [
        (0x1000, 0x1000, "/a"),
        (0x2000, 0x2000, "/b"),
        (0x1000, 0x2000, "/c"),
    ] {
        alive.apply(USER, &map(10, addr, len, name));
    }
    assert_eq!(described(&alive), "10<0 x 10:2000=/b 10:1000=/c");
    // The kernel's are not the process's.
    alive.apply(Misc::KERNEL, &map(10, 0x9000, 0x1000, "module"));
    assert!(!described(&alive).contains("module"));
}

#[test]
fn memory_is_bounded_and_given_back() {
    let mut alive = alive();
    let name = format!("/{}", "x".repeat(4000));
    alive.apply(Misc(0), &comm(10, 10, "x"));
    for n in 0..MAX_MAPS as u64 {
        alive.apply(USER, &map(10, n * 0x1000, 0x1000, &name));
    }
    assert!(alive.processes[&10].is_overfull || alive.left < MAX_MAP_BYTES);
    for pid in 11..20 {
        alive.apply(Misc(0), &fork((pid, pid), (10, 10)));
        for n in 0..MAX_MAPS as u64 {
            alive.apply(USER, &map(pid, n * 0x1000, 0x800, &name));
        }
        assert!(alive.processes[&pid].is_overfull);
    }
    for pid in 10..20 {
        see(&mut alive, Misc(0), &exit(pid, pid), 1);
    }
    alive.settle(1);
    alive.settle(2);
    assert!(alive.threads.is_empty() && alive.processes.is_empty());
    assert_eq!(alive.left, MAX_MAP_BYTES);
}
