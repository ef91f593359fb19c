//! What a recording is written to: compressed, in several files, and what is there when it breaks off.

mod broken;
mod chained;
mod compressed;
mod disks;
mod flight;
mod flight_recorder;
mod gaps;
mod latency;
pub(crate) mod switched;
mod triggered;
