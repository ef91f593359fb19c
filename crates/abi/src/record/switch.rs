//! SWITCH and `SWITCH_CPU_WIDE`: a context switch, seen from the task and from the CPU.

use crate::{Cursor, Encoder, Fields, Wire, WireError};

/// `PERF_RECORD_SWITCH`: has no body; the direction is in `misc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch;

impl Wire<'_> for Switch {
    const MIN_LEN: usize = 0;

    fn parse(_: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self)
    }

    fn visit(&self, _: &mut dyn Fields) {}

    fn encode(&self, _: &mut Encoder<'_>) {}
}

wire! {
    /// `PERF_RECORD_SWITCH_CPU_WIDE`.
    #[derive(Copy)]
    pub struct SwitchCpuWide in "switch" {
        /// Process switched to (with `SWITCH_OUT`) or from.
        pub next_prev_pid: i32,
        /// Thread switched to or from.
        pub next_prev_tid: i32,
    }
}
