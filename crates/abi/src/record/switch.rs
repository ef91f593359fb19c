//! SWITCH and `SWITCH_CPU_WIDE`: a context switch, seen from the task and from the CPU.

use super::body::PlainBody;
use crate::{Cursor, Encoder, Fields, Value, WireError};

/// `PERF_RECORD_SWITCH`: has no body; the direction is in `misc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch;

impl PlainBody<'_> for Switch {
    fn parse(_: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self)
    }

    fn visit(&self, _: &mut dyn Fields) {}

    fn encode(&self, _: &mut Encoder<'_>) {}
}

/// `PERF_RECORD_SWITCH_CPU_WIDE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCpuWide {
    /// Process switched to (with `SWITCH_OUT`) or from.
    pub next_prev_pid: i32,
    /// Thread switched to or from.
    pub next_prev_tid: i32,
}

impl PlainBody<'_> for SwitchCpuWide {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            next_prev_pid: cursor.i32("switch")?,
            next_prev_tid: cursor.i32("switch")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("next_prev_pid", Value::Signed(self.next_prev_pid.into()));
        fields.field("next_prev_tid", Value::Signed(self.next_prev_tid.into()));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.i32(self.next_prev_pid);
        encoder.i32(self.next_prev_tid);
    }
}
