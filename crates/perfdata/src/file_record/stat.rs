//! `STAT` records: counts of `perf stat record`.

use super::body::{BodyItem, PlainBody};
use rprof_abi::{Cursor, Fields, Value, WireError};

/// One item of `PERF_RECORD_STAT_CONFIG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatConfigTerm {
    /// 0 how counts are added up (`enum aggr_mode`), 1 interval in milliseconds, 2 whether counts
    /// are scaled, 3 level of aggregation.
    pub tag: u64,
    /// Its value.
    pub value: u64,
}

impl BodyItem<'_> for StatConfigTerm {
    const LIST: &'static str = "terms";

    fn parse_all(cursor: &mut Cursor<'_>) -> Result<Vec<Self>, WireError> {
        let what = "stat configuration";
        let n = cursor.u64(what)?;
        let term = |_| {
            Ok(Self {
                tag: cursor.u64(what)?,
                value: cursor.u64(what)?,
            })
        };
        (0..n).map(term).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("tag", Value::Unsigned(self.tag));
        fields.field("value", Value::Unsigned(self.value));
    }
}

/// `PERF_RECORD_STAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Id of the event.
    pub id: u64,
    /// CPU, or -1.
    pub cpu: i32,
    /// Which thread, counted from 0 in the thread map.
    pub thread: u32,
    /// The count.
    pub value: u64,
    /// Time enabled, nanoseconds.
    pub enabled_ns: u64,
    /// Time on the PMU, nanoseconds.
    pub running_ns: u64,
}

impl PlainBody<'_> for Stat {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let what = "stat";
        Ok(Self {
            id: cursor.u64(what)?,
            cpu: cursor.i32(what)?,
            thread: cursor.u32(what)?,
            value: cursor.u64(what)?,
            enabled_ns: cursor.u64(what)?,
            running_ns: cursor.u64(what)?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("id", Value::Unsigned(self.id));
        fields.field("cpu", Value::Signed(self.cpu.into()));
        fields.field("thread", Value::Unsigned(self.thread.into()));
        fields.field("value", Value::Unsigned(self.value));
        fields.field("enabled_ns", Value::Unsigned(self.enabled_ns));
        fields.field("running_ns", Value::Unsigned(self.running_ns));
    }
}

/// `PERF_RECORD_STAT_ROUND`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatRound {
    /// 0 an interval, 1 the end.
    pub kind: u64,
    /// Since the start, nanoseconds.
    pub time_ns: u64,
}

impl PlainBody<'_> for StatRound {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            kind: cursor.u64("stat round")?,
            time_ns: cursor.u64("stat round")?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("type", Value::Unsigned(self.kind));
        fields.field("time_ns", Value::Unsigned(self.time_ns));
    }
}
