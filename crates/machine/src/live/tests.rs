//! What is known while a recording goes on, and how much of it.

use super::*;
use crate::ImageId;
use rprof_abi::record::{FileIdentity, Mmap2, Task};

fn map(live: &mut Live, pid: i32, addr: u64, name: &'static [u8], time_ns: u64) {
    let record = Record::Mmap2(Mmap2 {
        pid,
        tid: pid,
        addr,
        len: 0x1000,
        pgoff: 0,
        identity: FileIdentity::Inode(Default::default()),
        prot: 5,
        flags: 2,
        filename: name,
    });
    live.add(Misc::USER, &record, &at(pid, time_ns));
}

fn at(pid: i32, time_ns: u64) -> SampleId {
    SampleId {
        pid: Some(pid),
        tid: Some(pid),
        time_ns: Some(time_ns),
        ..SampleId::default()
    }
}

fn name(live: &Live, pid: i32, time_ns: u64) -> Option<Vec<u8>> {
    let epoch = live.epoch(pid, time_ns);
    match live.resolve(epoch, Avma(0x5010)) {
        AddressLocation::User { image, .. } => Some(live.images().of(image)?.path.clone()),
        _ => None,
    }
}

#[test]
fn what_comes_out_of_order_is_applied_in_order_and_asked_for_by_time() {
    let mut live = Live::default();
    map(&mut live, 1, 0x5000, b"/new", 200);
    map(&mut live, 1, 0x5000, b"/old", 100);
    live.settle(150);
    assert_eq!(name(&live, 1, 140).as_deref(), Some(&b"/old"[..]));
    live.settle(250);
    assert_eq!(name(&live, 1, 199).as_deref(), Some(&b"/old"[..]));
    assert_eq!(name(&live, 1, 200).as_deref(), Some(&b"/new"[..]));
    for before in [180, 185] {
        let _ = live.forget(before);
        assert_eq!(name(&live, 1, 190).as_deref(), Some(&b"/old"[..]));
    }
    let _ = live.forget(300);
    assert_eq!(name(&live, 1, 310).as_deref(), Some(&b"/new"[..]));
    let _ = live.forget(400);
    map(&mut live, 1, 0x5000, b"/newer", 500);
    live.settle(550);
    assert_eq!(name(&live, 1, 450).as_deref(), Some(&b"/new"[..]));
    assert_eq!(name(&live, 1, 500).as_deref(), Some(&b"/newer"[..]));
    assert_eq!(name(&live, 2, 310), None);
}

#[test]
fn a_process_lives_on_without_its_first_thread() {
    let mut live = Live::default();
    let task = |tid, time_ns| Task {
        pid: 7,
        ppid: 7,
        tid,
        ptid: 7,
        time_ns,
    };
    map(&mut live, 7, 0x5000, b"/x", 10);
    live.add(Misc(0), &Record::Fork(task(8, 20)), &at(7, 20));
    live.add(Misc(0), &Record::Exit(task(7, 30)), &at(7, 30));
    let later = 100_000_000_000;
    live.settle(later);
    let _ = live.forget(later);
    assert_eq!(name(&live, 7, later).as_deref(), Some(&b"/x"[..]));
    live.add(Misc(0), &Record::Exit(task(8, later)), &at(7, later));
    live.settle(2 * later);
    let _ = live.forget(2 * later);
    assert_eq!(name(&live, 7, 2 * later), None);
}

#[test]
fn those_that_have_too_many_mappings_are_forgotten_and_counted() {
    let mut live = Live::default();
    map(&mut live, 1, 0x5000, b"/x", 1);
    for n in 0..300_000u64 {
        for pid in [2, 3] {
            let addr = 0x10_0000 + (2 * n + u64::from(pid == 2)) * 0x2000;
            map(&mut live, pid, addr, b"/y", 2 + n);
        }
        if n % 10_000 == 0 {
            live.settle(2 + n);
            let _ = live.forget(2 + n);
        }
    }
    assert!(live.now.n_nodes() < 3 * MAX_NODES);
    assert_eq!(live.n_overfull(), 2);
    let later = 1 << 30;
    map(&mut live, 3, 0x5000, b"/z", later);
    live.settle(later);
    assert_eq!(name(&live, 1, later).as_deref(), Some(&b"/x"[..]));
    assert_eq!(name(&live, 3, later).as_deref(), Some(&b"/z"[..]));
}

#[test]
fn memory_is_bounded_while_what_runs_before_is_described() {
    let mut live = Live::default();
    map(&mut live, 1, 0x5000, b"/x", 0);
    let mut most = (0, 0);
    for pid in 2..14i32 {
        for n in 0..65_000u64 {
            let addr = 0x10_0000 + (n * 16 + u64::from(pid.cast_unsigned())) * 0x2000;
            map(&mut live, pid, addr, b"/y", 0);
            most = (
                most.0.max(live.now.weight()),
                most.1.max(live.pending.len()),
            );
        }
    }
    // Of now, and not to be applied yet.
    for n in 0..3 * MAX_PENDING as u64 {
        map(&mut live, 1, 0x5000, b"/z", 100 + n);
    }
    assert_eq!(live.pending.len(), 3 * MAX_PENDING);
    assert!(most.0 <= 2 * MAX_NODES + 100, "{most:?}");
    assert!(most.1 <= MAX_PENDING, "{most:?}");
    live.settle(50);
    assert!(live.generation() > 0);
    assert!(live.n_overfull() >= 2);
    assert_eq!(name(&live, 1, 50).as_deref(), Some(&b"/x"[..]));
    assert!(live.steps().done() > 780_000);
    live.settle(1 << 30);
    assert_eq!(name(&live, 1, 100).as_deref(), Some(&b"/z"[..]));
}

#[test]
fn the_dead_are_forgotten_and_their_memory_given_back() {
    let mut live = Live::default();
    for round in 0..50i32 {
        let pid = 1000 + round;
        let start = u64::from(round.cast_unsigned()) * 10_000_000_000 + 1;
        for n in 0..2000u64 {
            // Elsewhere in each: equal sets would be kept once.
            let addr = 0x10_0000 + u64::from(pid.cast_unsigned()) * 0x1000_0000 + n * 0x2000;
            map(&mut live, pid, addr, b"/x", start + n);
        }
        let exit = Record::Exit(Task {
            pid,
            ppid: 1,
            tid: pid,
            ptid: 1,
            time_ns: start + 5000,
        });
        live.add(Misc(0), &exit, &at(pid, start + 5000));
        live.settle(start + 6000);
        let _ = live.forget(start + 6000);
    }
    assert!(
        live.now.n_nodes() <= 2 * FEW_NODES,
        "{}",
        live.now.n_nodes()
    );
    assert!(live.generation() > 0);
    assert_eq!(live.epoch(1000, u64::MAX).number(), 0);
    map(&mut live, 1049, 0x5000, b"/y", 1 << 60);
    live.settle(1 << 60);
    assert_eq!(name(&live, 1049, 1 << 60).as_deref(), Some(&b"/y"[..]));
}

#[test]
fn images_that_nobody_maps_any_more_are_forgotten_and_the_others_stay() {
    let mut live = Live::default();
    map(&mut live, 1, 0x5000, b"/stays", 1);
    let mut now = 1;
    let mut stays = ImageId(0);
    for pid in 1000..20_000i32 {
        now += LINGER_NS / 100;
        let name: &'static [u8] = format!("/tmp/prog{pid}").into_bytes().leak();
        map(&mut live, pid, 0x5000, name, now);
        let exit = Record::Exit(Task {
            pid,
            ppid: 1,
            tid: pid,
            ptid: 1,
            time_ns: now,
        });
        live.add(Misc(0), &exit, &at(pid, now));
        // What is newer is still pending when images get other numbers.
        live.settle(now - 1);
        if let Some(moved) = live.forget(now - 1) {
            stays = moved.of(stays).unwrap();
            assert_eq!(live.images().of(stays).unwrap().path, b"/stays");
        }
        assert_eq!(
            name_of(&live, pid - 1, now - 1),
            (pid > 1000).then(|| format!("/tmp/prog{}", pid - 1))
        );
        assert_eq!(name_of(&live, 1, now).as_deref(), Some("/stays"));
    }
    assert!(live.images().len() <= 2 * FEW_IMAGES);
    assert!(live.now.n_nodes() <= 2 * FEW_NODES);
    assert!(live.ended.len() < 200 && live.pending.len() < 10);
}

fn name_of(live: &Live, pid: i32, time_ns: u64) -> Option<String> {
    name(live, pid, time_ns).map(|name| String::from_utf8(name).unwrap())
}
