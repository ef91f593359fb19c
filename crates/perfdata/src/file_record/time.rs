//! `TIME_CONV`: the time stamp counter of the CPU against the clock of the recording.

use super::body::PlainBody;
use rprof_abi::{Cursor, Fields, Value, WireError};

/// `PERF_RECORD_TIME_CONV`; what the fields mean is said at `struct perf_event_mmap_page`,
/// `include/uapi/linux/perf_event.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeConv {
    /// `time_shift`.
    pub shift: u64,
    /// `time_mult`.
    pub mult: u64,
    /// `time_zero`, nanoseconds.
    pub zero: u64,
    /// For counters of few bits (5.10).
    pub short: Option<ShortCounter>,
}

/// How a counter of less than 64 bits is made long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCounter {
    /// `time_cycles`.
    pub cycles: u64,
    /// `time_mask`.
    pub mask: u64,
    /// `cap_user_time_zero`.
    pub has_zero: bool,
    /// `cap_user_time_short`.
    pub is_short: bool,
}

impl PlainBody<'_> for TimeConv {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let what = "time conversion";
        Ok(Self {
            shift: cursor.u64(what)?,
            mult: cursor.u64(what)?,
            zero: cursor.u64(what)?,
            short: match cursor.rest() {
                [] => None,
                _ => Some(ShortCounter {
                    cycles: cursor.u64(what)?,
                    mask: cursor.u64(what)?,
                    has_zero: cursor.u8(what)? != 0,
                    is_short: cursor.u8(what)? != 0,
                }),
            },
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("shift", Value::Unsigned(self.shift));
        fields.field("mult", Value::Unsigned(self.mult));
        fields.field("zero", Value::Unsigned(self.zero));
        if let Some(short) = self.short {
            fields.field("cycles", Value::Unsigned(short.cycles));
            fields.field("mask", Value::Hex(short.mask));
            fields.field("has_zero", Value::Bool(short.has_zero));
            fields.field("is_short", Value::Bool(short.is_short));
        }
    }
}
