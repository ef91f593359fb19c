//! The counterpart of libperf's sampling example: sample all CPUs at 10 Hz for 3 seconds and
//! print where they were.
//!
//! ```text
//! cargo run -p rprof-ringbuf --example sampling
//! ```
//!
//! It needs `perf_event_paranoid` below 1 or `CAP_PERFMON`, as it looks at all CPUs. The steps are
//! those of every sampling tool:
//!
//! 1. Say what to count and what each sample holds: a [`PerfEventAttr`].
//! 2. Open it on each CPU: a [`Counter`]. Without a PMU there are no cycles; a clock will do.
//! 3. Map the memory that the kernel writes samples to: a [`Ring`] of 2^n pages.
//! 4. Enable, let time pass, disable.
//! 5. Read: a [`rprof_ringbuf::Batch`] lends one record after the other and gives the space back
//!    to the kernel when it is dropped.
//! 6. Decode with the [`SampleLayout`] of the attr.

#![expect(clippy::print_stdout, reason = "an example prints its result")]

use rprof_abi::{
    AttrFlags, Endian, PerfEventAttr, RawRecord, Record, SampleLayout, SampleType, event_type, hw,
    sw,
};
use rprof_ringbuf::{Counter, Cpu, OpenError, Ring, Target};
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let mut attr = PerfEventAttr {
        kind: event_type::HARDWARE,
        config: hw::CPU_CYCLES,
        sample_period: 10,
        sample_type: SampleType::IP
            .with(SampleType::TID)
            .with(SampleType::CPU)
            .with(SampleType::PERIOD),
        flags: AttrFlags::DISABLED.with(AttrFlags::FREQ),
        ..PerfEventAttr::default()
    };

    let cpus = std::fs::read_to_string("/sys/devices/system/cpu/online")?;
    let mut opened = Vec::new();
    for cpu in parse_cpus(&cpus) {
        let counter = match Counter::open(&attr, Target::All, Cpu::On(cpu)) {
            Err(OpenError::NoSuchEvent) => {
                attr.kind = event_type::SOFTWARE;
                attr.config = sw::CPU_CLOCK;
                Counter::open(&attr, Target::All, Cpu::On(cpu))?
            }
            other => other?,
        };
        let ring = Ring::map(&counter, 8)?;
        opened.push((counter, ring));
    }

    for (counter, _) in &opened {
        counter.enable()?;
    }
    std::thread::sleep(Duration::from_secs(3));
    for (counter, _) in &opened {
        counter.disable()?;
    }

    let layout = SampleLayout::new(&attr, Endian::NATIVE);
    for (_, ring) in &mut opened {
        let mut batch = ring.batch();
        while let Some(bytes) = batch.next()? {
            let raw = RawRecord::parse(bytes, Endian::NATIVE)?;
            if let (Record::Sample(sample), _) = Record::parse(raw, &layout)? {
                println!(
                    "cpu {:3}, pid {:6}, tid {:6}, ip {:20x}, period {:20}",
                    sample.cpu.unwrap_or(0),
                    sample.pid.unwrap_or(0),
                    sample.tid.unwrap_or(0),
                    sample.ip.unwrap_or(0),
                    sample.period.unwrap_or(0),
                );
            }
        }
    }
    Ok(())
}

/// `0-3,8` as single numbers.
fn parse_cpus(list: &str) -> impl Iterator<Item = u32> {
    list.trim().split(',').flat_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse().unwrap_or(0);
        number(first)..=number(last)
    })
}
