//! What counting needs of the kernel and the CPU, beside descriptors.

use super::calls::check;
use std::io;

/// Starts (or stops) every counter that this process has opened, of whomever they count, except those
/// that it inherited.
///
/// # Errors
/// The kernel's.
pub fn enable_own_counters(is_on: bool) -> io::Result<()> {
    const PR_TASK_PERF_EVENTS_DISABLE: libc::c_int = 31;
    const PR_TASK_PERF_EVENTS_ENABLE: libc::c_int = 32;
    let option = if is_on {
        PR_TASK_PERF_EVENTS_ENABLE
    } else {
        PR_TASK_PERF_EVENTS_DISABLE
    };
    // SAFETY: numbers alone.
    check(unsafe { libc::prctl(option, 0, 0, 0, 0) }).map(drop)
}

/// Whether [`performance_counter`] reads counters here.
pub(crate) const READS_COUNTERS: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// A counter of this CPU, as the instruction `rdpmc` reads it; 0 on other machines. Only where a page of the
/// kernel says that it may be read (`cap_user_rdpmc`, and an index): elsewhere the CPU ends the process.
pub(crate) fn performance_counter(index: u32) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let (low, high): (u32, u32);
        // SAFETY: reads a register of the CPU; where that is forbidden, a signal comes. It is not said to leave
        // memory alone, so that loads of the page stay before or behind it.
        unsafe {
            std::arch::asm!(
                "rdpmc", in("ecx") index, out("eax") low, out("edx") high,
                options(nostack, preserves_flags)
            );
        }
        u64::from(high) << 32 | u64::from(low)
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        let _ = index;
        0
    }
}

/// The clock of this CPU that a page's times are computed from; 0 on machines without.
pub(crate) fn cycles() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: every x86-64 CPU has this instruction, and Linux lets programs use it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    0
}
