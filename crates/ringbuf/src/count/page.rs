//! The page that the kernel keeps for each counter: what it counts can be computed from it, without a
//! system call.
//!
//! The kernel changes the page on the CPU that the thread runs on, in interrupts: its lock counts up before and
//! after. All words are read between two loads of the same even lock.
//!
//! Source: `struct perf_event_mmap_page` in `include/uapi/linux/perf_event.h` (v6.12).

use super::reading::Reading;

/// Loads of the page and of the CPU's registers, one at a time: tests play the kernel between them.
pub trait PageLoads {
    /// The 8 bytes of the page at an offset that is a multiple of 8, loaded at once, before all later loads.
    fn load(&self, offset: usize) -> u64;

    /// A counter of the CPU (`rdpmc`).
    fn performance_counter(&self, index: u32) -> u64;

    /// The clock of the CPU (`rdtsc`).
    fn cycles(&self) -> u64;
}

const LOCK_AND_INDEX: usize = 8;
const OFFSET: usize = 16;
const TIME_ENABLED: usize = 24;
const TIME_RUNNING: usize = 32;
const CAPABILITIES: usize = 40;
const WIDTH_SHIFT_MULT: usize = 48;
const TIME_OFFSET: usize = 56;
const TIME_ZERO: usize = 64;
const TIME_CYCLES: usize = 80;
const TIME_MASK: usize = 88;

const CAP_USER_RDPMC: u64 = 1 << 2;
const CAP_USER_TIME: u64 = 1 << 3;
const CAP_USER_TIME_ZERO: u64 = 1 << 4;
const CAP_USER_TIME_SHORT: u64 = 1 << 5;

/// A page that is never quiet says nothing: `read(2)` does. The kernel's changes are some hundred
/// instructions apart at least.
const MOST_TRIES: usize = 1000;

/// What a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageReading {
    /// Count and times.
    pub reading: Reading,
    /// Whether the times are of this moment; else of the last change of the page, which are the same
    /// for both of them, as it was always on the PMU.
    pub has_times: bool,
}

/// Reads a counter of the calling thread from its page.
///
/// `None` if only `read(2)` can tell: the CPU or the kernel does not let programs read the counter, it is not on
/// the PMU at the moment, or it took turns and the page has no clock.
pub fn read_page(page: &impl PageLoads) -> Option<PageReading> {
    let (words, cycles) = (0..MOST_TRIES).find_map(|_| load_all(page))??;
    words.reading(cycles)
}

/// What `read` says of the CPU's registers while the page's counter is the one of that number, between two
/// changes of the page; `None` if it is not.
pub(super) fn read_registers<T>(
    page: &impl PageLoads,
    number: u32,
    read: impl Fn() -> T,
) -> Option<T> {
    let once = |_| {
        let [lock, index] = halves(page.load(LOCK_AND_INDEX));
        let is_readable = page.load(CAPABILITIES) & CAP_USER_RDPMC != 0;
        let is_it = is_readable && index.checked_sub(1) == Some(number);
        let value = is_it.then(&read);
        let [lock_after, _] = halves(page.load(LOCK_AND_INDEX));
        (lock == lock_after && lock % 2 == 0).then_some(value)
    };
    (0..MOST_TRIES).find_map(once)?
}

/// What stands in a page between two changes.
#[derive(Clone, Copy, Debug)]
struct Words {
    offset: u64,
    pmc: u64,
    enabled_ns: u64,
    running_ns: u64,
    pmc_width: u16,
    time: Option<TimeConversion>,
}

/// `None` if the page was changed meanwhile; `Some(None)` if the counter cannot be read.
fn load_all(page: &impl PageLoads) -> Option<Option<(Words, u64)>> {
    let [lock, index] = halves(page.load(LOCK_AND_INDEX));
    let capabilities = page.load(CAPABILITIES);
    let [width_and_shift, _] = halves(page.load(WIDTH_SHIFT_MULT));
    let is_readable = index != 0 && capabilities & CAP_USER_RDPMC != 0;
    let words = Words {
        enabled_ns: page.load(TIME_ENABLED),
        running_ns: page.load(TIME_RUNNING),
        time: TimeConversion::load(page, capabilities),
        offset: page.load(OFFSET),
        pmc: if is_readable {
            page.performance_counter(index - 1)
        } else {
            0
        },
        pmc_width: quarters(width_and_shift)[0],
    };
    let cycles = words.time.map_or(0, |_| page.cycles());
    let [lock_after, _] = halves(page.load(LOCK_AND_INDEX));
    let is_quiet = lock == lock_after && lock % 2 == 0;
    is_quiet.then_some(is_readable.then_some((words, cycles)))
}

impl Words {
    fn reading(&self, cycles: u64) -> Option<PageReading> {
        let count = self
            .offset
            .wrapping_add(sign_extended(self.pmc, self.pmc_width)?);
        let mut reading = Reading {
            count,
            enabled_ns: self.enabled_ns,
            running_ns: self.running_ns,
        };
        match self.time {
            Some(time) => {
                // It is on the PMU, so both go on.
                let delta = time.since_change_ns(cycles);
                reading.enabled_ns = reading.enabled_ns.wrapping_add(delta);
                reading.running_ns = reading.running_ns.wrapping_add(delta);
            }
            None if reading.enabled_ns != reading.running_ns => return None,
            None => {}
        }
        Some(PageReading {
            reading,
            has_times: self.time.is_some(),
        })
    }
}

/// The two halves of a word, the one at the lower address first.
fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    [[a, b, c, d], [e, f, g, h]].map(u32::from_ne_bytes)
}

fn quarters(word: u32) -> [u16; 2] {
    let [a, b, c, d] = word.to_ne_bytes();
    [[a, b], [c, d]].map(u16::from_ne_bytes)
}

/// A counter of `width` bits as a difference, which may be below zero; `None` if there are no such counters.
fn sign_extended(pmc: u64, width: u16) -> Option<u64> {
    let unused = 64u32.checked_sub(u32::from(width)).filter(|&n| n < 64)?;
    Some(((pmc << unused).cast_signed() >> unused).cast_unsigned())
}

/// How times in nanoseconds come from the CPU's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeConversion {
    /// Nanoseconds for 2^`shift` cycles.
    pub mult: u32,
    /// See `mult`; below 64.
    pub shift: u16,
    /// Added to get the time since the page was changed.
    pub offset: u64,
    /// Added to get times as in samples, where the page knows it.
    pub zero: Option<u64>,
    /// Clocks of fewer than 64 bits: what the clock was, and which bits it has.
    pub short: Option<(u64, u64)>,
}

impl TimeConversion {
    fn load(page: &impl PageLoads, capabilities: u64) -> Option<Self> {
        let has = |bit: u64| capabilities & bit != 0;
        let [width_and_shift, mult] = halves(page.load(WIDTH_SHIFT_MULT));
        let shift = quarters(width_and_shift)[1];
        (has(CAP_USER_TIME) && shift < 64).then(|| Self {
            mult,
            shift,
            offset: page.load(TIME_OFFSET),
            zero: has(CAP_USER_TIME_ZERO).then(|| page.load(TIME_ZERO)),
            short: has(CAP_USER_TIME_SHORT).then(|| (page.load(TIME_CYCLES), page.load(TIME_MASK))),
        })
    }

    /// Nanoseconds since the page's times were written. Sums wrap around, as the kernel's do: its offset is what
    /// makes them small again.
    pub fn since_change_ns(&self, cycles: u64) -> u64 {
        self.offset.wrapping_add(self.nanoseconds(cycles))
    }

    /// The time of a sample that would be taken at a moment of the CPU's clock.
    pub fn sample_time_ns(&self, cycles: u64) -> Option<u64> {
        Some(self.zero?.wrapping_add(self.nanoseconds(cycles)))
    }

    /// The CPU's clock at the time of a sample.
    pub fn cycles_at(&self, sample_time_ns: u64) -> Option<u64> {
        let time = sample_time_ns.wrapping_sub(self.zero?);
        let mult = u64::from(self.mult);
        let (quot, rem) = (time.checked_div(mult)?, time.checked_rem(mult)?);
        let rest = (u128::from(rem) << self.shift) / u128::from(mult);
        let rest = u64::try_from(rest).unwrap_or(u64::MAX);
        Some((quot << self.shift).wrapping_add(rest))
    }

    /// In two parts: cycles times `mult` need not fit into 64 bits.
    fn nanoseconds(&self, cycles: u64) -> u64 {
        let cycles = match self.short {
            Some((last, mask)) => last.wrapping_add(cycles.wrapping_sub(last) & mask),
            None => cycles,
        };
        let mult = u64::from(self.mult);
        let (quot, rem) = (cycles >> self.shift, cycles & ((1 << self.shift) - 1));
        let rest = (u128::from(rem) * u128::from(mult)) >> self.shift;
        // Below `mult`.
        let rest = u64::try_from(rest).unwrap_or(0);
        quot.wrapping_mul(mult).wrapping_add(rest)
    }
}

#[cfg(test)]
mod tests;
