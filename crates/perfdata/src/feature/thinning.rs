//! THINNING, rprof's own: how many samples were kept of those that were taken. Each stands for others, too: its period
//! is larger by that.

use super::section::DescribedObject;
use rprof_abi::wire;

wire! {
    /// How many there were of all events; what was lost is in neither number.
    #[derive(Copy, Default)]
    pub struct SampleThinning in "thinning" {
        /// About how many samples an hour were to be kept.
        pub samples_per_hour: u64,
        /// Samples that were taken.
        pub taken: u64,
        /// Samples that were kept.
        pub kept: u64,
    }
}

impl DescribedObject for SampleThinning {}
