//! LEFT_OUT, rprof's own: samples that the kernel took and the recorder did not keep.

use super::section::DescribedObject;
use rprof_abi::wire;

wire! {
    /// How many there were.
    #[derive(Copy, Default)]
    pub struct LeftOut in "samples left out" {
        /// Of the recorder itself.
        pub own: u64,
        /// Of others than those who were to be recorded.
        pub others: u64,
    }
}

impl DescribedObject for LeftOut {}
