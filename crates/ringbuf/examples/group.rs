//! Counts two events together and reads both with one `read(2)`: cycles and instructions, for the instructions
//! of a cycle; without a PMU, time and page faults.
//!
//! ```text
//! cargo run -p rprof-ringbuf --example group
//! ```
//!
//! Only in a group can two counts be divided: both are on the PMU at the same times. So a group with more
//! events than the PMU has counters is never counted at all, and its values say so: no time running.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rprof_abi::{AttrFlags, PerfEventAttr, event_type, hw, sw};
use rprof_ringbuf::count::{CounterGroup, KernelDoor, Values};
use rprof_ringbuf::{Cpu, OpenError, Target};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let hardware = [hw::CPU_CYCLES, 1].map(|config| event(event_type::HARDWARE, config));
    let software =
        [sw::TASK_CLOCK, sw::PAGE_FAULTS].map(|config| event(event_type::SOFTWARE, config));
    let open = |events: &[PerfEventAttr]| {
        CounterGroup::open(KernelDoor, events, Target::Thread(0), Cpu::Any)
    };
    let (group, names) = match open(&hardware) {
        Err(error) if matches!(error.source, OpenError::NoSuchEvent) => {
            (open(&software)?, ["nanoseconds", "page faults"])
        }
        group => (group?, ["cycles", "instructions"]),
    };

    group.enable(true)?;
    let pages = vec![1u8; 1000 << 12];
    let sum: u64 = pages.iter().map(|&byte| u64::from(byte)).sum();
    group.enable(false)?;

    println!("added up {sum} bytes");
    match group.read()? {
        Values::Read(readings) => {
            for (reading, name) in readings.iter().zip(names) {
                match reading.scaled() {
                    Some(count) => println!("{count} {name}"),
                    None => println!("not counted: {name}"),
                }
            }
        }
        Values::Failed => println!("the group was not scheduled on the PMU"),
    }
    Ok(())
}

/// A group is switched by its leader, so of the others it does not matter whether they are `DISABLED`.
fn event(kind: u32, config: u64) -> PerfEventAttr {
    PerfEventAttr {
        kind,
        config,
        flags: AttrFlags::DISABLED
            .with(AttrFlags::EXCLUDE_KERNEL)
            .with(AttrFlags::EXCLUDE_HV),
        ..PerfEventAttr::default()
    }
}
