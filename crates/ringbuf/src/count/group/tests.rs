//! A kernel played by the test: it answers opens and reads as `kernel/events/core.c` (v6.12) does.

use super::*;
use rprof_abi::{AttrFlags, event_type, hw, sw};
use std::cell::RefCell;
use std::rc::Rc;

/// What it was asked, and what it answers.
#[derive(Debug, Default)]
struct Played {
    opened: Vec<PerfEventAttr>,
    calls: Vec<String>,
    /// What a read of an event writes.
    bytes: Vec<u64>,
    takes_inherited_groups: bool,
}

#[derive(Clone, Debug, Default)]
struct TestKernel(Rc<RefCell<Played>>);

impl Door for TestKernel {
    /// Its number.
    type Event = u64;

    fn open(
        &self,
        attr: &PerfEventAttr,
        _: Target,
        _: Cpu,
        leader: Option<&u64>,
    ) -> Result<u64, OpenError> {
        let mut played = self.0.borrow_mut();
        let is_group = attr.read_format.has(ReadFormat::GROUP);
        if is_group && attr.flags.has(AttrFlags::INHERIT) && !played.takes_inherited_groups {
            return Err(OpenError::Invalid);
        }
        if leader.is_some() && attr.flags.has(AttrFlags::PINNED) {
            return Err(OpenError::Invalid);
        }
        played.opened.push(attr.clone());
        Ok(played.opened.len() as u64)
    }

    fn id(&self, event: &u64) -> io::Result<u64> {
        Ok(100 + event)
    }

    fn read(&self, event: &u64, into: &mut [u8]) -> io::Result<usize> {
        let mut played = self.0.borrow_mut();
        played.calls.push(format!("read {event}"));
        let bytes: Vec<u8> = played
            .bytes
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        // A buffer that is too small is refused (ENOSPC), never filled in part.
        if bytes.len() > into.len() {
            return Err(io::Error::from_raw_os_error(28));
        }
        into[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn enable(&self, leader: &u64, is_on: bool) -> io::Result<()> {
        let call = format!("enable {leader} {is_on}");
        self.0.borrow_mut().calls.push(call);
        Ok(())
    }

    fn reset(&self, leader: &u64) -> io::Result<()> {
        self.0.borrow_mut().calls.push(format!("reset {leader}"));
        Ok(())
    }
}

fn attrs(n: usize, flags: AttrFlags) -> Vec<PerfEventAttr> {
    let attr = PerfEventAttr {
        kind: event_type::HARDWARE,
        config: hw::CPU_CYCLES,
        flags,
        ..PerfEventAttr::default()
    };
    vec![attr; n]
}

fn group(
    kernel: &TestKernel,
    attrs: &[PerfEventAttr],
) -> Result<CounterGroup<TestKernel>, GroupError> {
    CounterGroup::open(kernel.clone(), attrs, Target::Thread(0), Cpu::Any)
}

fn reading(count: u64, enabled_ns: u64, running_ns: u64) -> Reading {
    Reading {
        count,
        enabled_ns,
        running_ns,
    }
}

#[test]
fn a_group_is_read_at_once_and_told_apart_by_ids() {
    let kernel = TestKernel::default();
    let group = group(&kernel, &attrs(3, AttrFlags::default())).unwrap();
    // nr, enabled, running, then value and id: siblings may come in any order.
    kernel.0.borrow_mut().bytes = vec![3, 1000, 250, 10, 101, 30, 103, 20, 102];
    let values = group.read().unwrap();
    let expected = [10, 20, 30].map(|count| reading(count, 1000, 250));
    assert_eq!(values, Values::Read(expected.to_vec()));
    assert_eq!(expected[1].scaled(), Some(80));
    assert_eq!(kernel.0.borrow().calls, ["read 1"]);
}

#[test]
fn one_event_is_read_with_its_times_alone() {
    let kernel = TestKernel::default();
    let group = group(&kernel, &attrs(1, AttrFlags::INHERIT)).unwrap();
    kernel.0.borrow_mut().bytes = vec![7, 50, 50];
    assert_eq!(
        group.read().unwrap(),
        Values::Read(vec![reading(7, 50, 50)])
    );
    assert_eq!(kernel.0.borrow().opened[0].read_format, TIMES);
}

#[test]
fn kernels_that_do_not_read_inherited_groups_at_once_are_asked_one_by_one() {
    let kernel = TestKernel::default();
    let opened = group(&kernel, &attrs(2, AttrFlags::INHERIT)).unwrap();
    kernel.0.borrow_mut().bytes = vec![7, 50, 50];
    let Values::Read(readings) = opened.read().unwrap() else {
        panic!()
    };
    assert_eq!(readings.len(), 2);
    assert_eq!(kernel.0.borrow().calls, ["read 1", "read 2"]);

    let newer = TestKernel::default();
    newer.0.borrow_mut().takes_inherited_groups = true;
    group(&newer, &attrs(2, AttrFlags::INHERIT)).unwrap();
    assert!(
        newer.0.borrow().opened[0]
            .read_format
            .has(ReadFormat::GROUP)
    );
}

#[test]
fn the_end_of_the_file_is_the_error_state_of_what_is_pinned() {
    let kernel = TestKernel::default();
    let pinned = attrs(1, AttrFlags::PINNED);
    let alone = group(&kernel, &pinned).unwrap();
    assert_eq!(alone.read().unwrap(), Values::Failed);
    let mut two = attrs(2, AttrFlags::default());
    two[0].flags = AttrFlags::PINNED;
    let group = group(&kernel, &two).unwrap();
    assert_eq!(group.read().unwrap(), Values::Failed);
}

#[test]
fn the_event_that_does_not_go_with_its_leader_is_named() {
    let error = group(&TestKernel::default(), &attrs(2, AttrFlags::PINNED)).unwrap_err();
    assert_eq!(error.nth, 1);
    assert!(matches!(error.source, OpenError::Invalid));
}

#[test]
fn short_and_foreign_values_are_errors() {
    let kernel = TestKernel::default();
    let group = group(&kernel, &attrs(2, AttrFlags::default())).unwrap();
    for bytes in [
        vec![2, 1000, 250, 10, 101, 20],
        vec![2, 1000, 250, 10, 101, 20, 999],
        vec![u64::MAX, 1000, 250, 10, 101, 20, 102],
        vec![1],
    ] {
        kernel.0.borrow_mut().bytes = bytes;
        let error = group.read().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}

#[test]
fn a_group_is_switched_by_its_leader() {
    let kernel = TestKernel::default();
    let group = group(&kernel, &attrs(2, AttrFlags::default())).unwrap();
    group.enable(true).unwrap();
    group.reset().unwrap();
    group.enable(false).unwrap();
    let calls = ["enable 1 true", "reset 1", "enable 1 false"];
    assert_eq!(kernel.0.borrow().calls, calls);
}

#[test]
fn the_running_kernel_counts_page_faults_and_time_in_one_group() {
    let of = |config| PerfEventAttr {
        kind: event_type::SOFTWARE,
        config,
        flags: AttrFlags::DISABLED
            .with(AttrFlags::EXCLUDE_KERNEL)
            .with(AttrFlags::EXCLUDE_HV),
        ..PerfEventAttr::default()
    };
    let two = [of(sw::TASK_CLOCK), of(sw::PAGE_FAULTS)];
    // Where nothing may be counted at all, there is nothing to see.
    let Ok(group) = CounterGroup::open(KernelDoor, &two, Target::Thread(0), Cpu::Any) else {
        return;
    };
    assert_eq!(group.ids().unwrap().len(), 2);
    assert_eq!(
        group.read().unwrap(),
        Values::Read(vec![Reading::default(); 2])
    );
    group.enable(true).unwrap();
    // Its own pages, not yet touched.
    let memory = vec![1u8; 64 << 12];
    group.enable(false).unwrap();
    std::hint::black_box(&memory);
    let Values::Read(readings) = group.read().unwrap() else {
        panic!()
    };
    assert!(
        readings[0].count > 0 && readings[1].count > 0,
        "{readings:?}"
    );
    assert_eq!(readings[0].enabled_ns, readings[1].enabled_ns);
    assert_eq!(readings[1].scaled(), Some(readings[1].count));
    group.reset().unwrap();
    let Values::Read(again) = group.read().unwrap() else {
        panic!()
    };
    assert_eq!(again[1].count, 0);
    assert_eq!(again[1].enabled_ns, readings[1].enabled_ns);
}
