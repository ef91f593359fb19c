//! The test plays the kernel, which changes the page between any two loads.

use super::*;
use std::cell::{Cell, RefCell};

/// A page as it stands between two changes, and the CPU's counters with it.
#[derive(Clone, Copy)]
struct State {
    index: u32,
    offset: u64,
    enabled: u64,
    running: u64,
    pmc: u64,
}

const BEFORE: State = State {
    index: 1,
    offset: 1000,
    enabled: 100,
    running: 60,
    pmc: 50,
};
const AFTER: State = State {
    index: 3,
    offset: 777,
    enabled: 900,
    running: 500,
    pmc: 5,
};
const WIDTH: u16 = 48;
/// 1 cycle is 2 ns.
const SHIFT: u16 = 10;
const MULT: u32 = 2048;

/// Words of a page, which steps of the kernel change before certain loads.
struct TestPage {
    words: RefCell<[u64; 12]>,
    pmcs: RefCell<[u64; 4]>,
    n_loads: Cell<usize>,
    /// What the kernel does, and before which load; in order.
    steps: RefCell<Vec<(usize, Step)>>,
    cycles: u64,
}

#[derive(Clone, Copy)]
enum Step {
    Lock,
    Index(u32),
    Offset(u64),
    Enabled(u64),
    Running(u64),
    /// Another counter is programmed, to start from there.
    Pmc(u32, u64),
}

impl TestPage {
    fn new(state: State, capabilities: u64) -> Self {
        let mut words = [0; 12];
        words[1] = joined([10, state.index]);
        words[2] = state.offset;
        words[3] = state.enabled;
        words[4] = state.running;
        words[5] = capabilities;
        let mut shift = [0; 4];
        shift[..2].copy_from_slice(&WIDTH.to_ne_bytes());
        shift[2..].copy_from_slice(&SHIFT.to_ne_bytes());
        words[6] = joined([u32::from_ne_bytes(shift), MULT]);
        let mut pmcs = [0; 4];
        if state.index > 0 {
            pmcs[state.index as usize - 1] = state.pmc;
        }
        Self {
            words: RefCell::new(words),
            pmcs: RefCell::new(pmcs),
            n_loads: Cell::new(0),
            steps: RefCell::default(),
            cycles: 0,
        }
    }

    fn tick(&self) {
        let now = self.n_loads.get();
        self.n_loads.set(now + 1);
        self.steps.borrow_mut().retain(|&(at, step)| {
            let is_due = at <= now;
            if is_due {
                self.apply(step);
            }
            !is_due
        });
    }

    fn apply(&self, step: Step) {
        let mut words = self.words.borrow_mut();
        let [lock, index] = halves(words[1]);
        match step {
            Step::Lock => words[1] = joined([lock + 1, index]),
            Step::Index(index) => words[1] = joined([lock, index]),
            Step::Offset(offset) => words[2] = offset,
            Step::Enabled(time) => words[3] = time,
            Step::Running(time) => words[4] = time,
            Step::Pmc(at, value) => self.pmcs.borrow_mut()[at as usize] = value,
        }
    }
}

impl PageLoads for TestPage {
    fn load(&self, offset: usize) -> u64 {
        self.tick();
        self.words.borrow()[offset / 8]
    }

    fn performance_counter(&self, index: u32) -> u64 {
        self.tick();
        self.pmcs.borrow()[index as usize]
    }

    fn cycles(&self) -> u64 {
        self.tick();
        self.cycles
    }
}

fn joined([low, high]: [u32; 2]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&low.to_ne_bytes());
    bytes[4..].copy_from_slice(&high.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

fn expected(state: State) -> PageReading {
    PageReading {
        reading: Reading {
            count: state.offset + state.pmc,
            enabled_ns: state.enabled,
            running_ns: state.running,
        },
        has_times: true,
    }
}

/// All ways in which `n` steps can fall before loads, in order.
fn placements(n: usize, n_loads: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |one: &Vec<usize>| {
            let first = one.last().copied().unwrap_or(0);
            let one = one.clone();
            (first..=n_loads).map(move |at| [&one[..], &[at]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn whatever_loads_the_kernel_comes_between_the_reading_is_of_one_moment() {
    let capabilities = CAP_USER_RDPMC | CAP_USER_TIME;
    let quiet = TestPage::new(BEFORE, capabilities);
    assert_eq!(read_page(&quiet), Some(expected(BEFORE)));
    let n_loads = quiet.n_loads.get();
    let change = [
        Step::Lock,
        Step::Pmc(AFTER.index - 1, AFTER.pmc),
        Step::Index(AFTER.index),
        Step::Offset(AFTER.offset),
        Step::Enabled(AFTER.enabled),
        Step::Running(AFTER.running),
        Step::Lock,
    ];
    let (mut n_before, mut n_after) = (0, 0);
    // Two ways in which the change can be cut suffice to have each pair of words from both sides; the
    // whole is in the lock.
    for places in placements(change.len(), n_loads) {
        let page = TestPage::new(BEFORE, capabilities);
        let steps = places.into_iter().zip(change).collect();
        *page.steps.borrow_mut() = steps;
        let read = read_page(&page).unwrap();
        if read == expected(BEFORE) {
            n_before += 1;
        } else {
            assert_eq!(read, expected(AFTER));
            n_after += 1;
        }
    }
    assert!(n_before > 0 && n_after > 0);
}

#[test]
fn a_page_that_is_never_quiet_leaves_it_to_the_kernel() {
    let page = TestPage::new(BEFORE, CAP_USER_RDPMC);
    page.apply(Step::Lock);
    assert_eq!(read_page(&page), None);
}

#[test]
fn what_the_page_does_not_allow_is_left_to_the_kernel() {
    let off = State { index: 0, ..BEFORE };
    for (state, capabilities) in [
        (BEFORE, 0),
        (BEFORE, CAP_USER_TIME),
        (off, CAP_USER_RDPMC | CAP_USER_TIME),
        // It took turns, and there is no clock.
        (BEFORE, CAP_USER_RDPMC),
    ] {
        assert_eq!(read_page(&TestPage::new(state, capabilities)), None);
    }
    let always = State {
        running: BEFORE.enabled,
        ..BEFORE
    };
    let read = read_page(&TestPage::new(always, CAP_USER_RDPMC)).unwrap();
    assert_eq!((read.reading.count, read.has_times), (1050, false));
}

#[test]
fn both_times_go_on_with_the_clock() {
    let mut page = TestPage::new(BEFORE, CAP_USER_RDPMC | CAP_USER_TIME);
    page.cycles = 5000;
    // The kernel's offset is minus the clock at the change, here 4000 cycles: 8000 ns.
    page.words.borrow_mut()[7] = 0u64.wrapping_sub(8000);
    let reading = read_page(&page).unwrap().reading;
    assert_eq!((reading.enabled_ns, reading.running_ns), (2100, 2060));
}

#[test]
fn counters_are_signed_numbers_of_their_width() {
    for (pmc, width, expected) in [
        (0, 48, 0),
        (5, 48, 5),
        ((1 << 48) - 1, 48, -1),
        (1 << 47, 48, -(1 << 47)),
        ((1 << 47) - 1, 48, (1 << 47) - 1),
        // What stands above the counter's bits is not its.
        (0xffff_0000_0000_0007, 48, 7),
        (u64::MAX, 64, -1),
        (1, 1, -1),
    ] {
        let value = sign_extended(pmc, width).map(u64::cast_signed);
        assert_eq!(value, Some(expected), "{pmc:#x} of {width} bits");
    }
    assert_eq!(sign_extended(1, 0), None);
    assert_eq!(sign_extended(1, 65), None);
    // Programmed to overflow after 1000 events, and 10 of them counted: offset + 2^48 - 990.
    let state = State {
        offset: 1000,
        pmc: (1 << 48) - 990,
        ..BEFORE
    };
    let page = TestPage::new(state, CAP_USER_RDPMC | CAP_USER_TIME);
    assert_eq!(read_page(&page).unwrap().reading.count, 10);
}

const CLOCK: TimeConversion = TimeConversion {
    mult: MULT,
    shift: SHIFT,
    offset: 0,
    zero: Some(1_000_000),
    short: None,
};

/// The formulas of the kernel's header, in its own types.
fn by_the_header(clock: &TimeConversion, cycles: u64) -> u64 {
    let quot = cycles >> clock.shift;
    let rem = cycles & ((1 << clock.shift) - 1);
    let mult = u64::from(clock.mult);
    quot.wrapping_mul(mult)
        .wrapping_add(rem.wrapping_mul(mult) >> clock.shift)
}

#[test]
fn times_are_those_of_the_kernels_header() {
    // A clock of 2.1 GHz, as the kernel converts it: mult / 2^shift is 1 / 2.1.
    let real = TimeConversion {
        mult: 1_022_611_260,
        shift: 31,
        ..CLOCK
    };
    for clock in [CLOCK, real] {
        for cycles in [
            0,
            1,
            1023,
            1024,
            123_456_789,
            1 << 40,
            u64::MAX >> 12,
            u64::MAX,
        ] {
            let expected = by_the_header(&clock, cycles);
            assert_eq!(clock.since_change_ns(cycles), expected);
            let sample = clock.sample_time_ns(cycles).unwrap();
            assert_eq!(sample, expected.wrapping_add(1_000_000));
        }
    }
    // An hour and a second: no product of all cycles is ever made.
    let cycles = 2_100_000_000 * 3601;
    let ns = real.since_change_ns(cycles);
    assert!(ns.abs_diff(3_601_000_000_000) < 3601 * 2, "{ns}");
}

#[test]
fn sample_times_and_cycles_are_converted_both_ways() {
    for cycles in [0, 1, 1023, 1024, 99_999_999, 1 << 45] {
        let time = CLOCK.sample_time_ns(cycles).unwrap();
        assert_eq!(CLOCK.cycles_at(time), Some(cycles));
    }
    let without = TimeConversion {
        zero: None,
        ..CLOCK
    };
    assert_eq!(without.sample_time_ns(1), None);
    assert_eq!(without.cycles_at(1), None);
    let stopped = TimeConversion { mult: 0, ..CLOCK };
    assert_eq!(stopped.cycles_at(1), None);
}

#[test]
fn products_beyond_64_bits_do_not_overflow() {
    let wide = TimeConversion {
        mult: u32::MAX,
        shift: 63,
        ..CLOCK
    };
    assert_eq!(wide.since_change_ns((1 << 63) - 1), u64::from(u32::MAX) - 1);
    assert!(wide.cycles_at(u64::MAX).is_some());
}

#[test]
fn short_clocks_are_completed_from_the_last_change() {
    let clock = TimeConversion {
        short: Some((0xffff_fff0, 0xffff_ffff)),
        ..CLOCK
    };
    // The 32 bits have wrapped around: 0x20 cycles later.
    let (before, after) = (
        clock.since_change_ns(0xffff_fff0),
        clock.since_change_ns(0x10),
    );
    assert_eq!(after - before, 0x40);
}
