//! Which stacks count: this process waits, and its stack is a list of numbers.

use super::*;
use crate::opening::stack_dump::{NO_STACK_BYTES, UserChain, ask_for};
use rprof_abi::registers::Registers;
use rprof_abi::sample::StackDump;
use rprof_abi::{Encoder, Endian, Misc, PerfEventAttr, RawRecord, RecordKind, Sample, SampleType};

const TID: i32 = 7;

/// Waits of this process, whose stack is `words`.
struct Waits {
    held: HeldSwitches,
    layout: SampleLayout,
    words: Vec<u64>,
}

impl Waits {
    fn new(threshold: Duration) -> Self {
        let mut attr = PerfEventAttr {
            sample_type: SampleType::IDENTIFIER.with(SampleType::TIME),
            ..PerfEventAttr::default()
        };
        ask_for(&mut attr, NO_STACK_BYTES, UserChain::Excluded);
        attr.sample_type = attr.sample_type.without(SampleType::CALLCHAIN);
        Self {
            held: HeldSwitches::new(threshold, Clock::Monotonic),
            layout: SampleLayout::new(&attr, Endian::NATIVE),
            words: (1000..1032).collect(),
        }
    }

    /// The thread is switched out; returns whether its sample is held back.
    fn switched_out(&mut self, time_ns: u64) -> bool {
        let table = RegisterTable::of(ARCH).unwrap();
        let sp = self.words.as_ptr().addr() as u64;
        let numbers = (0..64).filter(|number| table.user_mask >> number & 1 == 1);
        let values = numbers.map(|number| if number == table.stack_pointer { sp } else { 0 });
        let values: Vec<u8> = values.flat_map(u64::to_ne_bytes).collect();
        let registers = Registers::from_encoded(table.user_mask, &values, Endian::NATIVE);
        let sample = Sample {
            id: Some(1),
            time_ns: Some(time_ns),
            regs_user: Some(registers),
            stack_user: Some(StackDump {
                data: &[0; NO_STACK_BYTES as usize],
                dyn_size: NO_STACK_BYTES.into(),
            }),
            ..Sample::default()
        };
        let (mut body, mut record) = (Vec::new(), Vec::new());
        let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
        self.layout.encode_sample(&sample, &mut encoder);
        let raw = RawRecord {
            kind: RecordKind::SAMPLE,
            misc: Misc::KERNEL,
            body: &body,
        };
        raw.encode(&mut record, Endian::NATIVE).unwrap();
        let head = Head {
            id: 1,
            pid: std::process::id(),
            tid: TID,
            time_ns,
        };
        self.held.hold(&head, &record, (0, &self.layout))
    }

    /// The end of a pass that began then; returns the first words of the stacks of released samples.
    fn end_pass(&mut self, began_ns: u64) -> Vec<Option<u64>> {
        let layout = self.layout.clone();
        self.held.end_pass(began_ns, false, |_| Some(&layout));
        let released = self.held.take_released();
        let first_word = |released: Released| {
            let sample = layout
                .parse_sample(&released.record[RecordHeader::LEN..])
                .unwrap();
            let stack = sample.stack_user.unwrap().stack();
            let is_read = stack.len() > NO_STACK_BYTES as usize;
            is_read.then(|| u64::from_ne_bytes(*stack.first_chunk().unwrap()))
        };
        released.into_iter().map(first_word).collect()
    }

    /// Waits with a stack, short ones, and long ones without.
    fn counts(&self) -> [u64; 3] {
        let counts = self.held.counts;
        [counts.read, counts.short, counts.missed]
    }
}

fn now_ns() -> u64 {
    Clock::Monotonic.now_ns()
}

#[test]
fn a_stack_counts_once_a_later_pass_has_found_that_the_thread_is_still_off() {
    let mut waits = Waits::new(Duration::from_nanos(1));
    assert!(waits.switched_out(now_ns() - 10));
    // It is read at the end of this pass, which proves nothing of the time since it began.
    assert_eq!(waits.end_pass(now_ns()), []);
    assert_eq!(waits.end_pass(now_ns()), [Some(1000)]);
    assert_eq!(waits.counts(), [1, 0, 0]);
}

#[test]
fn a_stack_of_a_thread_that_ran_before_it_was_read_is_dropped() {
    let mut waits = Waits::new(Duration::from_nanos(1));
    assert!(waits.switched_out(now_ns() - 10));
    let runs_ns = now_ns();
    assert_eq!(waits.end_pass(now_ns()), []);
    // What it did later, on another CPU, may come first.
    waits.held.switched_in(TID, now_ns());
    waits.held.switched_in(TID, runs_ns);
    assert_eq!(waits.end_pass(now_ns()), [None]);
    assert_eq!(waits.counts(), [0, 0, 1]);
}

#[test]
fn a_stack_of_a_thread_that_ran_after_it_was_read_counts() {
    let mut waits = Waits::new(Duration::from_nanos(1));
    assert!(waits.switched_out(now_ns() - 10));
    assert_eq!(waits.end_pass(now_ns()), []);
    waits.held.switched_in(TID, now_ns() + 1);
    assert_eq!(waits.end_pass(0), [Some(1000)]);
}

#[test]
fn nothing_counts_where_records_may_be_lost() {
    let mut waits = Waits::new(Duration::from_nanos(1));
    assert!(waits.switched_out(now_ns() - 10));
    assert_eq!(waits.end_pass(now_ns()), []);
    waits.held.doubt();
    assert_eq!(waits.end_pass(now_ns()), [None]);
    assert_eq!(waits.counts(), [0, 0, 1]);
}

#[test]
fn short_waits_are_not_held_back() {
    let mut waits = Waits::new(Duration::from_secs(1 << 30));
    for time_ns in [200, 400, 300] {
        waits.held.switched_in(TID, time_ns);
    }
    // Each lasts until the first time after it.
    assert!(!waits.switched_out(100));
    assert!(!waits.switched_out(399));
    assert_eq!(waits.counts(), [0, 2, 0]);
    assert!(waits.switched_out(500));
    assert_eq!(waits.held.oldest_ns(), Some(500));
    assert_eq!(waits.end_pass(600), []);
    // A sample that was late, before a switch of the last pass.
    assert!(!waits.switched_out(399));
    waits.held.switched_in(TID, 700);
    assert_eq!(waits.end_pass(800), [None]);
    assert_eq!(waits.counts(), [0, 4, 0]);
}

#[test]
fn the_last_switch_of_a_thread_is_no_wait() {
    let mut waits = Waits::new(Duration::from_nanos(1));
    waits.held.switched_in(TID, 100);
    waits.held.ended(TID, 150);
    assert!(!waits.switched_out(200));
    assert_eq!(waits.counts(), [0; 3]);
    // Its id is used again, and what another CPU tells of the time before comes later.
    waits.held.begins(TID, 250);
    waits.held.ended(TID, 150);
    assert!(waits.switched_out(300));
}

#[test]
fn what_is_left_at_the_end_goes_without_a_stack() {
    let mut waits = Waits::new(Duration::from_nanos(1));
    assert!(waits.switched_out(now_ns() - 10));
    waits.held.end_reading();
    assert_eq!(waits.end_pass(now_ns()), []);
    waits.held.release_all();
    assert_eq!(waits.end_pass(now_ns()), [None]);
    let counts = waits.held.counts;
    assert_eq!((counts.missed, counts.unfinished), (0, 1));
}
