//! COMM, FORK and EXIT: threads and their names.

use super::body::PlainBody;
use crate::{Cursor, Encoder, Fields, Value, WireError};

/// `PERF_RECORD_COMM`: a thread got a name, by exec if `misc` has `COMM_EXEC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comm<'a> {
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// The name: any bytes but NUL, at most 15 from the kernel.
    pub comm: &'a [u8],
}

impl<'a> PlainBody<'a> for Comm<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        Ok(Self {
            pid: cursor.i32("comm")?,
            tid: cursor.i32("comm")?,
            comm: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        fields.field("comm", Value::Text(self.comm));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.i32(self.pid);
        encoder.i32(self.tid);
        encoder.c_str_padded(self.comm);
    }
}

/// `PERF_RECORD_FORK` and `PERF_RECORD_EXIT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// Process that was made or ended.
    pub pid: i32,
    /// Its parent.
    pub ppid: i32,
    /// Thread that was made or ended.
    pub tid: i32,
    /// The thread that made it.
    pub ptid: i32,
    /// When.
    pub time_ns: u64,
}

impl PlainBody<'_> for Task {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let what = "fork or exit";
        Ok(Self {
            pid: cursor.i32(what)?,
            ppid: cursor.i32(what)?,
            tid: cursor.i32(what)?,
            ptid: cursor.i32(what)?,
            time_ns: cursor.u64(what)?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("ppid", Value::Signed(self.ppid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        fields.field("ptid", Value::Signed(self.ptid.into()));
        fields.field("time_ns", Value::Unsigned(self.time_ns));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.i32(self.pid);
        encoder.i32(self.ppid);
        encoder.i32(self.tid);
        encoder.i32(self.ptid);
        encoder.u64(self.time_ns);
    }
}
