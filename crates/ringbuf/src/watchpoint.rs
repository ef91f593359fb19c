//! A word of memory that is watched by the CPU for being written to.

use crate::{Counter, Cpu, OpenError, Target, sys};
use rprof_abi::{AttrFlags, PerfEventAttr, ReadFormat, event_type};
use std::io;
use std::os::fd::AsFd;

/// `HW_BREAKPOINT_W` of `include/uapi/linux/hw_breakpoint.h` (v6.12).
const WRITE: u32 = 2;

/// Eight bytes of one thread's memory, until that thread first writes to them. CPUs have four of
/// these, for debuggers, too.
#[derive(Debug)]
pub struct Watchpoint {
    counter: Counter,
}

impl Watchpoint {
    /// Watches the word at an address (AVMA, a multiple of 8) from now on. What is written takes
    /// the thread a microsecond, once: then the kernel stops watching.
    ///
    /// # Errors
    /// [`OpenError`]; the kernel's ENOSPC if others watch already.
    pub fn set(tid: i32, avma: u64) -> Result<Self, OpenError> {
        let attr = PerfEventAttr {
            kind: event_type::BREAKPOINT,
            bp_type: WRITE,
            config1: avma,
            config2: 8,
            sample_period: 1,
            read_format: ReadFormat::TOTAL_TIME_ENABLED.with(ReadFormat::TOTAL_TIME_RUNNING),
            flags: AttrFlags::DISABLED
                .with(AttrFlags::EXCLUDE_KERNEL)
                .with(AttrFlags::EXCLUDE_HV),
            ..PerfEventAttr::default()
        };
        let counter = Counter::open(&attr, Target::Thread(tid), Cpu::Any)?;
        sys::perf_ioctl(counter.as_fd(), sys::PerfIoctl::Refresh).map_err(OpenError::from_errno)?;
        Ok(Self { counter })
    }

    /// Whether the thread has not written there since.
    ///
    /// # Errors
    /// The kernel's.
    pub fn is_untouched(&self) -> io::Result<bool> {
        let value = self.counter.read()?;
        Ok(value.count == 0 && value.was_always_on)
    }
}
