//! The parts of a sample that have a shape of their own.

use super::ReadFormat;
use crate::{Cursor, Encoder, Endian, WireError};

/// One counter of a [`ReadValues`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadValue {
    /// The count.
    pub value: u64,
    /// Event, with `PERF_FORMAT_ID`.
    pub id: Option<u64>,
    /// Records lost, with `PERF_FORMAT_LOST`.
    pub lost: Option<u64>,
}

/// Counter values: `struct read_format`, of one event or of a group.
///
/// Layouts (v6.19), `[x]` if its bit is set:
/// not GROUP: `value, [enabled], [running], [id], [lost]`;
/// GROUP: `nr, [enabled], [running], nr times (value, [id], [lost])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadValues<'a> {
    /// Nanoseconds enabled.
    pub enabled_ns: Option<u64>,
    /// Nanoseconds on the PMU.
    pub running_ns: Option<u64>,
    format: ReadFormat,
    endian: Endian,
    values: &'a [u8],
}

impl<'a> ReadValues<'a> {
    /// Reads what `read(2)` on a counter, a sample or a READ record holds.
    ///
    /// # Errors
    /// [`WireError::Short`] if it ends early.
    pub fn parse(cursor: &mut Cursor<'a>, format: ReadFormat) -> Result<Self, WireError> {
        let what = "read values";
        let if_set =
            |bit, cursor: &mut Cursor<'a>| format.has(bit).then(|| cursor.u64(what)).transpose();
        let extra = u64::from(format.has(ReadFormat::ID)) + u64::from(format.has(ReadFormat::LOST));
        if format.has(ReadFormat::GROUP) {
            let nr = cursor.u64(what)?;
            return Ok(Self {
                enabled_ns: if_set(ReadFormat::TOTAL_TIME_ENABLED, cursor)?,
                running_ns: if_set(ReadFormat::TOTAL_TIME_RUNNING, cursor)?,
                format,
                endian: cursor.endian(),
                values: cursor.bytes(nr.saturating_mul(8 * (1 + extra)), what)?,
            });
        }
        // The value stands before the times and its id after them: read twice over.
        let start = *cursor;
        cursor.u64(what)?;
        let enabled_ns = if_set(ReadFormat::TOTAL_TIME_ENABLED, cursor)?;
        let running_ns = if_set(ReadFormat::TOTAL_TIME_RUNNING, cursor)?;
        cursor.bytes(8 * extra, what)?;
        let len = start.rest().len() - cursor.rest().len();
        Ok(Self {
            enabled_ns,
            running_ns,
            format,
            endian: cursor.endian(),
            values: start.rest().get(..len).unwrap_or_default(),
        })
    }

    /// The counters, leader first.
    pub fn values(&self) -> impl Iterator<Item = ReadValue> + 'a {
        let format = self.format;
        let mut cursor = Cursor::new(self.values, self.endian);
        let times = u64::from(format.has(ReadFormat::TOTAL_TIME_ENABLED))
            + u64::from(format.has(ReadFormat::TOTAL_TIME_RUNNING));
        std::iter::from_fn(move || {
            let value = cursor.u64("value").ok()?;
            if !format.has(ReadFormat::GROUP) {
                cursor.bytes(8 * times, "times").ok()?;
            }
            let mut if_set = |bit| format.has(bit).then(|| cursor.u64("value").ok()).flatten();
            Some(ReadValue {
                value,
                id: if_set(ReadFormat::ID),
                lost: if_set(ReadFormat::LOST),
            })
        })
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>, format: ReadFormat) {
        let group = format.has(ReadFormat::GROUP);
        let times = |encoder: &mut Encoder<'_>| {
            for (bit, time) in [
                (ReadFormat::TOTAL_TIME_ENABLED, self.enabled_ns),
                (ReadFormat::TOTAL_TIME_RUNNING, self.running_ns),
            ] {
                if format.has(bit) {
                    encoder.u64(time.unwrap_or(0));
                }
            }
        };
        if group {
            encoder.u64(self.values().count() as u64);
            times(encoder);
        }
        for value in self.values() {
            encoder.u64(value.value);
            if !group {
                times(encoder);
            }
            if format.has(ReadFormat::ID) {
                encoder.u64(value.id.unwrap_or(0));
            }
            if format.has(ReadFormat::LOST) {
                encoder.u64(value.lost.unwrap_or(0));
            }
        }
    }
}

/// A copy of the user stack, lowest address (the stack pointer's) first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackDump<'a> {
    /// All recorded bytes: only the first `dyn_size` of them are stack.
    pub data: &'a [u8],
    /// Bytes that really are stack; absent if `data` is empty.
    pub dyn_size: u64,
}

impl<'a> StackDump<'a> {
    pub(crate) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let what = "stack dump";
        let size = cursor.u64(what)?;
        let data = cursor.bytes(size, what)?;
        let dyn_size = if size == 0 { 0 } else { cursor.u64(what)? };
        Ok(Self { data, dyn_size })
    }

    /// The bytes that are stack; a `dyn_size` beyond `data` counts as all of it.
    pub fn stack(&self) -> &'a [u8] {
        usize::try_from(self.dyn_size)
            .ok()
            .and_then(|len| self.data.get(..len))
            .unwrap_or(self.data)
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.data.len() as u64);
        encoder.bytes(self.data);
        if !self.data.is_empty() {
            encoder.u64(self.dyn_size);
        }
    }
}

/// Hardware-given weight of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// `PERF_SAMPLE_WEIGHT`.
    Whole(u64),
    /// `PERF_SAMPLE_WEIGHT_STRUCT`: 32, 16 and 16 bits of one word (`union perf_sample_weight`).
    Parts {
        /// `var1_dw`.
        var1: u32,
        /// `var2_w`.
        var2: u16,
        /// `var3_w`.
        var3: u16,
    },
}
