//! The rules of History, each as a fact.

use super::*;
use crate::{AddressLocation, Epoch};
use rprof_abi::record::{Comm, Inode, Mmap2, Task};
use rprof_base::{Avma, FileOffset};

mod guest;
mod jit_code;
mod kernel;
mod reuse;

/// Builds sideband by hand; the offset counts up by itself.
struct Script(HistoryBuilder, u64);

impl Script {
    fn new() -> Self {
        Self(HistoryBuilder::new(true, HashMap::default()), 100)
    }

    fn add(&mut self, time: u64, misc: Misc, record: Record<'_>) -> &mut Self {
        self.1 += 8;
        let id = SampleId {
            time_ns: Some(time),
            ..SampleId::default()
        };
        self.0.add(self.1, misc, &record, &id);
        self
    }

    fn map(&mut self, time: u64, pid: i32, addr: u64, name: &[u8]) -> &mut Self {
        let identity = FileIdentity::Inode(Inode::default());
        self.add(
            time,
            Misc::USER,
            Record::Mmap2(Mmap2 {
                pid,
                tid: pid,
                addr,
                len: 0x1000,
                pgoff: 0x5000,
                identity,
                prot: 5,
                flags: 2,
                filename: name,
            }),
        )
    }

    fn comm(&mut self, time: u64, pid: i32, name: &[u8], exec: bool) -> &mut Self {
        let misc = if exec { Misc::COMM_EXEC } else { Misc(0) };
        self.add(
            time,
            misc,
            Record::Comm(Comm {
                pid,
                tid: pid,
                comm: name,
            }),
        )
    }

    fn fork(&mut self, time: u64, ppid: i32, pid: i32, tid: i32) -> &mut Self {
        self.add(
            time,
            Misc(0),
            Record::Fork(Task {
                pid,
                ppid,
                tid,
                ptid: ppid,
                time_ns: time,
            }),
        )
    }

    fn build(&mut self) -> History {
        std::mem::replace(self, Self::new()).0.build()
    }
}

fn at(time_ns: u64) -> Key {
    Key {
        time_ns,
        offset: u64::MAX,
    }
}

fn name_at(history: &History, pid: i32, time: u64, addr: u64) -> Option<Vec<u8>> {
    match history.resolve(history.epoch(pid, at(time)), Avma(addr)) {
        AddressLocation::User { image, .. } => Some(history.images().of(image)?.path.clone()),
        _ => None,
    }
}

fn comm_at(history: &History, tid: i32, time: u64) -> Option<&[u8]> {
    history
        .comm(tid, at(time))
        .map(|comm| history.comm_name(comm))
}

#[test]
fn an_address_points_to_what_was_mapped_then() {
    let history = Script::new()
        .map(10, 1, 0x1000, b"/a")
        .map(20, 1, 0x1000, b"/b")
        .build();
    assert_eq!(
        name_at(&history, 1, 15, 0x1800).as_deref(),
        Some(&b"/a"[..])
    );
    assert_eq!(
        name_at(&history, 1, 20, 0x1800).as_deref(),
        Some(&b"/b"[..])
    );
    assert_eq!(name_at(&history, 1, 20, 0x2000), None);
    assert_eq!(name_at(&history, 2, 20, 0x1800), None);
    let location = history.resolve(history.epoch(1, at(20)), Avma(0x1800));
    assert!(matches!(
        location,
        AddressLocation::User {
            offset: FileOffset(0x5800),
            ..
        }
    ));
}

#[test]
fn a_fork_inherits_and_an_exec_clears() {
    let history = Script::new()
        .comm(1, 1, b"sh", true)
        .map(2, 1, 0x1000, b"/sh")
        .fork(10, 1, 2, 2)
        .comm(20, 2, b"true", true)
        .map(21, 2, 0x2000, b"/true")
        .map(22, 2, 0x4000, b"[vdso]")
        .map(30, 1, 0x3000, b"/late")
        .build();
    let name = |time, address| name_at(&history, 2, time, address);
    assert_eq!(name(15, 0x1000).as_deref(), Some(&b"/sh"[..]));
    // Until the program runs the old stack is still below the kernel's.
    let runs = 22 + 1_000_000;
    assert_eq!(name(21, 0x2000).as_deref(), Some(&b"/true"[..]));
    assert_eq!(name(runs - 1, 0x1000).as_deref(), Some(&b"/sh"[..]));
    assert_eq!(name(runs, 0x1000), None);
    assert_eq!(name(runs, 0x2000).as_deref(), Some(&b"/true"[..]));
    assert_eq!(name(runs, 0x3000), None);
    assert_eq!(comm_at(&history, 2, 15), Some(&b"sh"[..]));
    assert_eq!(comm_at(&history, 2, 25), Some(&b"true"[..]));
}

#[test]
fn a_forked_space_is_the_same_epoch_until_it_changes() {
    let history = Script::new()
        .map(1, 1, 0x1000, b"/a")
        .fork(5, 1, 2, 2)
        .map(9, 2, 0x2000, b"/b")
        .build();
    let epoch = |pid, time| -> Epoch { history.epoch(pid, at(time)) };
    assert_eq!(epoch(1, 6), epoch(2, 6));
    assert_ne!(epoch(1, 10), epoch(2, 10));
}

#[test]
fn a_synthesized_fork_inherits_no_mappings() {
    let history = Script::new()
        .map(0, 1, 0x1000, b"/a")
        .add(
            0,
            Misc::FORK_EXEC,
            Record::Fork(Task {
                pid: 2,
                ppid: 1,
                tid: 2,
                ptid: 1,
                time_ns: 0,
            }),
        )
        .build();
    assert_eq!(name_at(&history, 2, 1, 0x1000), None);
}

#[test]
fn sideband_that_came_late_into_the_file_counts_from_its_time() {
    let history = Script::new()
        .map(20, 1, 0x1000, b"/b")
        .map(10, 1, 0x1000, b"/a")
        .build();
    assert_eq!(
        name_at(&history, 1, 15, 0x1000).as_deref(),
        Some(&b"/a"[..])
    );
    assert_eq!(
        name_at(&history, 1, 25, 0x1000).as_deref(),
        Some(&b"/b"[..])
    );
}

#[test]
fn without_times_the_place_in_the_file_decides() {
    let mut builder = HistoryBuilder::new(false, HashMap::default());
    let comm = |name| {
        Record::Comm(Comm {
            pid: 1,
            tid: 1,
            comm: name,
        })
    };
    let id = |time| SampleId {
        time_ns: Some(time),
        ..SampleId::default()
    };
    builder.add(100, Misc(0), &comm(b"first"), &id(99));
    builder.add(200, Misc(0), &comm(b"second"), &id(1));
    let key = builder.key(Some(50), 150);
    let history = builder.build();
    assert_eq!(history.comm_name(history.comm(1, key).unwrap()), b"first");
}

#[test]
fn a_build_id_from_the_section_names_the_image() {
    let id = BuildId::new(&[7; 20]).unwrap();
    let ids = HashMap::from_iter([(b"/a".to_vec(), id.clone())]);
    let mut script = Script(HistoryBuilder::new(true, ids), 0);
    let history = script.map(1, 1, 0x1000, b"/a").build();
    let (_, image) = history.images().iter().next().unwrap();
    assert_eq!(
        (image.build_id.as_ref(), image.short_name()),
        (Some(&id), b"a".into())
    );
}

#[test]
fn a_mapping_of_data_is_a_place_but_no_code() {
    let mut script = Script::new();
    script.map(1, 7, 0x1000, b"/lib/x");
    let misc = Misc(Misc::USER.0 | Misc::MMAP_DATA.0);
    let data = |addr| {
        Record::Mmap2(Mmap2 {
            pid: 7,
            tid: 7,
            addr,
            len: 0x1000,
            pgoff: 0x6000,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 1,
            flags: 2,
            filename: b"/lib/x",
        })
    };
    // It goes on where the code ends, in memory and in the file.
    script.add(2, misc, data(0x2000));
    let history = script.0.build();
    let epoch = history.epoch(7, Key::LAST);
    let location = |avma| history.resolve(epoch, Avma(avma));
    let code = |avma| history.resolve_code(epoch, Avma(avma));
    assert!(matches!(location(0x2010), AddressLocation::User { .. }));
    assert_eq!(code(0x2010), AddressLocation::Unmapped(Avma(0x2010)));
    assert_eq!(code(0x1010), location(0x1010));
}

#[test]
fn code_that_simpleperf_lists_by_address_is_placed_by_address() {
    let mut script = Script::new();
    let file = b"/data/perf.data_jit_app_cache:0-784";
    script.add(
        1,
        Misc::USER,
        Record::Mmap2(Mmap2 {
            pid: 7,
            tid: 7,
            addr: 0x9c9e_b7f0,
            len: 0x14c,
            pgoff: 0x3c78,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 0x4000,
            flags: 0,
            filename: file,
        }),
    );
    let history = script.build();
    let epoch = history.moment(7, 7, Key::LAST).user;
    let location = history.resolve(epoch, Avma(0x9c9e_b800));
    let AddressLocation::User { image, offset } = location else {
        panic!("{location:?}");
    };
    assert_eq!(offset, FileOffset(0x9c9e_b800));
    assert_eq!(history.images().of(image).unwrap().path, file);
}

/// Kernels before 3.16 gave a vdso's address as its offset.
#[test]
fn a_vdso_counts_from_its_own_start() {
    for pgoff in [0, 0x7ffc_1000] {
        let mut script = Script::new();
        let map = Record::Mmap2(Mmap2 {
            pid: 7,
            tid: 7,
            addr: 0x7ffc_1000,
            len: 0x2000,
            pgoff,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 0,
            filename: b"[vdso]",
        });
        let history = script.add(1, Misc::USER, map).build();
        let epoch = history.epoch(7, Key::LAST);
        let location = history.resolve(epoch, Avma(0x7ffc_1700));
        let AddressLocation::User { offset, .. } = location else {
            panic!("{location:?}");
        };
        assert_eq!(offset, FileOffset(0x700));
    }
}

#[test]
fn code_begins_at_the_lowest_offset_that_was_mapped() {
    let mut script = Script::new();
    let map = |addr, pgoff, filename| {
        Record::Mmap2(Mmap2 {
            pid: 7,
            tid: 7,
            addr,
            len: 0x1000,
            pgoff,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 2,
            filename,
        })
    };
    script.add(1, Misc::USER, map(0x8000, 0x3000, b"/lib/x"));
    script.add(2, Misc::USER, map(0x7000, 0x2000, b"/lib/x"));
    script.add(3, Misc::USER, map(0x7000, 0x9000, b"/lib/y"));
    script.add(4, Misc::USER, map(0x1000, 0x5000, b"//anon"));
    let data = Misc(Misc::USER.0 | Misc::MMAP_DATA.0);
    script.add(5, data, map(0x6000, 0x1000, b"/lib/x"));
    let history = script.build();
    let first = history.first_code();
    let of = |path: &[u8]| {
        let mut images = history.images().iter();
        let (id, _) = images.find(|(_, image)| image.path == path).unwrap();
        (first.get(&id).copied(), history.first_mapped_ns(id))
    };
    assert_eq!(of(b"/lib/x"), (Some(FileOffset(0x2000)), Some(1)));
    assert_eq!(of(b"/lib/y"), (Some(FileOffset(0x9000)), Some(3)));
    assert_eq!(of(b"/tmp/perf-7.map").0, None);
}
