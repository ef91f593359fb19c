//! The kernel's door: opening events, mapping their rings, reading them, and every other
//! system call that rprof makes ([`sys`]).
//!
//! An event that is open is a [`Counter`]; its memory is a [`Ring`]; one drain of it is a
//! [`Batch`], which publishes `data_tail` when it is dropped. What the records mean is not known
//! here: they are bytes with a checked length; `rprof-abi` has their layout. `examples/sampling.rs`
//! samples all CPUs.
//!
//! # Sampling a process
//!
//! ```no_run
//! use rprof_abi::{
//!     AttrFlags, Endian, PerfEventAttr, RawRecord, Record, SampleLayout, SampleType, event_type, sw,
//! };
//! use rprof_ringbuf::{Counter, Cpu, Poller, Ring, Target};
//!
//! let pid = 4711;
//! let attr = PerfEventAttr {
//!     kind: event_type::SOFTWARE,
//!     config: sw::CPU_CLOCK,
//!     sample_period: 99,
//!     sample_type: SampleType::IP.with(SampleType::TID).with(SampleType::CALLCHAIN),
//!     flags: AttrFlags::DISABLED.with(AttrFlags::FREQ),
//!     ..PerfEventAttr::default()
//! };
//! let layout = SampleLayout::new(&attr, Endian::NATIVE);
//! let (mut threads, mut poller) = (Vec::new(), Poller::default());
//! for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
//!     let tid = task?.file_name().to_string_lossy().parse()?;
//!     let counter = Counter::open(&attr, Target::Thread(tid), Cpu::Any)?;
//!     let ring = Ring::map(&counter, 64)?;
//!     counter.enable()?;
//!     poller.add(&counter);
//!     threads.push((counter, ring));
//! }
//! for _ in 0..10 {
//!     poller.wait(std::time::Duration::from_secs(1))?.for_each(drop);
//!     for (_, ring) in &mut threads {
//!         let mut batch = ring.batch();
//!         while let Some(bytes) = batch.next()? {
//!             let raw = RawRecord::parse(bytes, Endian::NATIVE)?;
//!             if let (Record::Sample(sample), _) = Record::parse(raw, &layout)? {
//!                 let (tid, ip) = (sample.tid.unwrap_or(0), sample.ip.unwrap_or(0));
//!                 let n_callers = sample.callchain.map_or(0, |chain| chain.len());
//!                 println!("thread {tid} at {ip:#x}, {n_callers} callers");
//!             }
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What only counts is a [`count::CounterGroup`]: several events, read at once. A program that counts itself may
//! read a [`count::SelfCounter`] without a system call.
//!
//! Barriers: the kernel stores `data_head` after the records it covers (release), so it is
//! loaded with acquire; we store `data_tail` with release after the last read of them. See
//! "A pairs with D, B with C" in `kernel/events/ring_buffer.c` (v6.12).

pub mod count;
mod counter;
mod error;
mod fit;
mod poll;
mod region;
mod ring;
pub mod sys;
mod watchpoint;

pub use counter::{Counter, CounterValue, Cpu, OpenWith, Target};
pub use error::{MapError, OpenError, RingError};
pub use fit::{Fitted, INHERITED_VALUES, fit};
pub use poll::{Poller, Ready};
pub use ring::{Batch, Ring};
pub use watchpoint::Watchpoint;
