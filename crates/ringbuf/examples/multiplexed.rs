//! Counts more events than a PMU has counters: they take turns, and each count is scaled by the share of time
//! that it was counted.
//!
//! ```text
//! cargo run -p rprof-ringbuf --example multiplexed
//! ```
//!
//! All events are the same here, branches, so scaled counts that differ show what scaling costs. Without a PMU it
//! counts page faults, which need no counters: nothing takes turns, and nothing is scaled.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rprof_abi::{AttrFlags, PerfEventAttr, event_type, hw, sw};
use rprof_ringbuf::count::{CounterGroup, KernelDoor, Values};
use rprof_ringbuf::{Cpu, OpenError, Target};
use std::error::Error;

const N: usize = 24;

fn main() -> Result<(), Box<dyn Error>> {
    let open = |kind, config| -> Result<Vec<CounterGroup>, _> {
        let event = PerfEventAttr {
            kind,
            config,
            flags: AttrFlags::EXCLUDE_KERNEL.with(AttrFlags::EXCLUDE_HV),
            ..PerfEventAttr::default()
        };
        let one = || {
            CounterGroup::open(
                KernelDoor,
                std::slice::from_ref(&event),
                Target::Thread(0),
                Cpu::Any,
            )
        };
        (0..N).map(|_| one()).collect()
    };
    let groups = match open(event_type::HARDWARE, hw::BRANCH_INSTRUCTIONS) {
        Err(error) if matches!(error.source, OpenError::NoSuchEvent) => {
            open(event_type::SOFTWARE, sw::PAGE_FAULTS)?
        }
        groups => groups?,
    };
    for round in 0..2000u32 {
        std::hint::black_box(vec![round.to_ne_bytes(); 1 << 16]);
    }
    for group in &groups {
        let Values::Read(readings) = group.read()? else {
            continue;
        };
        for reading in readings {
            let counted = reading.count;
            let [enabled, running] = [reading.enabled_ns, reading.running_ns];
            match reading.scaled() {
                Some(scaled) => println!(
                    "{scaled:>12}, from {counted} in {} % of the time",
                    100 * running / enabled.max(1)
                ),
                None => println!("{:>12}: never on the PMU", "?"),
            }
        }
    }
    Ok(())
}
