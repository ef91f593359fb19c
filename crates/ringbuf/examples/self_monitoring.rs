//! A program counts a region of its own code, reading the counter without a system call where the machine
//! allows it.
//!
//! ```text
//! cargo run -p rprof-ringbuf --example self_monitoring
//! ```
//!
//! [`SelfCounter`] maps the counter's page: it says which register of the CPU counts, and what to add. Software
//! events have no register, so without a PMU each reading is a `read(2)`; the last line says which it was, and what
//! one reading costs.
//!
//! On Intel CPUs since Ice Lake, a group of `slots` (raw event 0x400) and one of its metrics (0x8000) says
//! where the pipeline's slots of the region went: [`SelfCounter::topdown`] before and after, and
//! [`TopdownSample::since`](rprof_ringbuf::count::TopdownSample::since).

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rprof_abi::{AttrFlags, PerfEventAttr, event_type, sw};
use rprof_ringbuf::OpenError;
use rprof_ringbuf::count::{SelfCounter, SelfCounterError};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    topdown()?;
    let (counter, what) = match SelfCounter::open(&event(event_type::HARDWARE, 1)) {
        Err(SelfCounterError::Open(OpenError::NoSuchEvent)) => {
            let clock = event(event_type::SOFTWARE, sw::TASK_CLOCK);
            (SelfCounter::open(&clock)?, "nanoseconds")
        }
        counter => (counter?, "instructions"),
    };
    for size in [1_000u64, 10_000, 100_000] {
        let before = counter.read()?.reading.count;
        let sum: u64 = (0..size).map(std::hint::black_box).sum();
        let after = counter.read()?.reading.count;
        println!("sum to {size} is {sum}: {} {what}", after - before);
    }
    const N: u32 = 10_000;
    let start = Instant::now();
    let mut is_from_page = true;
    for _ in 0..N {
        is_from_page &= counter.read()?.is_from_page;
    }
    let how = if is_from_page {
        "the page"
    } else {
        "system calls"
    };
    println!("read by {how}: {:?} each", start.elapsed() / N);
    Ok(())
}

/// Where the slots of a region went, on CPUs that say so.
fn topdown() -> Result<(), Box<dyn Error>> {
    let group = [0x400, 0x8000].map(|config| event(event_type::RAW, config));
    let Ok(counter) = SelfCounter::open_group(&group) else {
        return Ok(());
    };
    counter.group().reset()?;
    let before = counter.topdown();
    let sum: u64 = (0..1_000_000u64).map(std::hint::black_box).sum();
    if let (Some(before), Some(after)) = (before, counter.topdown())
        && let Some(topdown) = after.since(&before)
    {
        println!(
            "sum is {sum}: {:.1} % of the slots retired",
            100.0 * topdown.retiring
        );
    }
    Ok(())
}

fn event(kind: u32, config: u64) -> PerfEventAttr {
    PerfEventAttr {
        kind,
        config,
        flags: AttrFlags::EXCLUDE_KERNEL.with(AttrFlags::EXCLUDE_HV),
        ..PerfEventAttr::default()
    }
}
