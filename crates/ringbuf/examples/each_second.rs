//! Counts the instructions of this process, second by second, while it works.
//!
//! ```text
//! cargo run -p rprof-ringbuf --example each_second
//! ```
//!
//! Without a PMU there are no instructions: there it counts the time that it runs. It needs no rights, as it
//! leaves out the kernel. The steps are those of every counting tool:
//!
//! 1. Say what to count: a [`PerfEventAttr`]. `DISABLED` means: not before it is enabled.
//! 2. Open it for whom it counts: [`Counter::open`]; here this thread, wherever it runs. With `INHERIT`, threads
//!    that it starts later count, too.
//! 3. Enable, work, read; what was read before is subtracted. [`Counter::reset`] would do the same, but loses what
//!    happens between the read and the reset.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rprof_abi::{AttrFlags, PerfEventAttr, event_type, sw};
use rprof_ringbuf::{Counter, Cpu, OpenError, Target};
use std::error::Error;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let (counter, what) = open()?;
    counter.enable()?;
    let mut before = counter.read()?.count;
    for second in 1..=3 {
        let end = Instant::now() + Duration::from_secs(1);
        let mut work = 0u64;
        while Instant::now() < end {
            work = std::hint::black_box(work.wrapping_mul(3) + 1);
        }
        let count = counter.read()?.count;
        println!("second {second}: {} {what}", count - before);
        before = count;
    }
    Ok(())
}

/// Instructions, or where this machine has no such event, nanoseconds.
fn open() -> Result<(Counter, &'static str), OpenError> {
    let mut attr = PerfEventAttr {
        kind: event_type::HARDWARE,
        config: 1,
        flags: AttrFlags::DISABLED
            .with(AttrFlags::INHERIT)
            .with(AttrFlags::EXCLUDE_KERNEL)
            .with(AttrFlags::EXCLUDE_HV),
        ..PerfEventAttr::default()
    };
    match Counter::open(&attr, Target::Thread(0), Cpu::Any) {
        Err(OpenError::NoSuchEvent) => {
            attr.kind = event_type::SOFTWARE;
            attr.config = sw::TASK_CLOCK;
            let clock = Counter::open(&attr, Target::Thread(0), Cpu::Any)?;
            Ok((clock, "nanoseconds"))
        }
        counter => Ok((counter?, "instructions")),
    }
}
