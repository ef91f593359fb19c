//! AUXTRACE records: hardware traces.

use super::body::{Described, FileBody};
use rprof_abi::format::Hex;
use rprof_abi::{Cursor, Fields, Misc, Value, WireError, wire};

/// `PERF_RECORD_AUXTRACE_INFO`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuxtraceInfo {
    /// Which hardware: 1 Intel PT, 2 Intel BTS, 3 Arm `CoreSight`, 4 Arm SPE, 5 s390 (`enum
    /// auxtrace_type`, tools/perf/util/auxtrace.h).
    pub kind: u32,
    /// What its decoder needs.
    pub private: Vec<u64>,
}

impl FileBody<'_> for AuxtraceInfo {
    fn parse_body(cursor: &mut Cursor<'_>, _: Misc) -> Result<Self, WireError> {
        let kind = cursor.u32("AUX information")?;
        cursor.u32("AUX information")?;
        Ok(Self {
            kind,
            private: cursor.u64s(),
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("type", Value::Unsigned(self.kind.into()));
        fields.list("private", &self.private, |fields, &word| {
            fields.field("", Value::Hex(word));
        });
    }
}

wire! {
    /// `PERF_RECORD_AUXTRACE`.
    #[derive(Copy)]
    pub struct Auxtrace in "AUX data" {
        /// Bytes of data after the record.
        pub len_bytes: u64,
        /// Where they were in the AUX area, bytes.
        pub offset: u64 as Hex,
        /// A number that joins it to its records.
        pub reference: u64 as Hex,
        /// Which ring.
        pub idx: u32,
        /// Thread, or -1.
        pub tid: i32,
        /// CPU, or -1.
        pub cpu: i32,
    }
}

impl Described<'_> for Auxtrace {}

/// `PERF_RECORD_AUXTRACE_ERROR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuxtraceError<'a> {
    /// 1: instruction trace.
    pub kind: u32,
    /// The decoder's number for it.
    pub code: u32,
    /// CPU, or -1.
    pub cpu: i32,
    /// Process.
    pub pid: i32,
    /// Thread.
    pub tid: i32,
    /// Where in the program (AVMA).
    pub ip: u64,
    /// When, nanoseconds (since format 1, 5.1).
    pub time_ns: Option<u64>,
    /// What went wrong.
    pub message: &'a [u8],
    /// The guest's process on the host (since format 2, 6.1).
    pub machine_pid: Option<i32>,
    /// The guest's CPU (since format 2, 6.1).
    pub vcpu: Option<i32>,
}

impl<'a> AuxtraceError<'a> {
    /// Bytes of the message.
    const MESSAGE_LEN: u64 = 64;
}

impl<'a> FileBody<'a> for AuxtraceError<'a> {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        let what = "AUX error";
        let kind = cursor.u32(what)?;
        let code = cursor.u32(what)?;
        let cpu = cursor.i32(what)?;
        let pid = cursor.i32(what)?;
        let tid = cursor.i32(what)?;
        let format = cursor.u32(what)?;
        let ip = cursor.u64(what)?;
        let time_ns = (format >= 1).then(|| cursor.u64(what)).transpose()?;
        // The last field of formats 0 and 1, which may end with its text.
        let message = match cursor.bytes(Self::MESSAGE_LEN, what) {
            Ok(message) => Cursor::new(message, cursor.endian()).c_str(),
            Err(_) => cursor.c_str(),
        };
        let mut guest = || {
            let present = format >= 2 && !cursor.rest().is_empty();
            present.then(|| cursor.i32(what)).transpose()
        };
        Ok(Self {
            kind,
            code,
            cpu,
            pid,
            tid,
            ip,
            time_ns,
            message,
            machine_pid: guest()?,
            vcpu: guest()?,
        })
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.field("type", Value::Unsigned(self.kind.into()));
        fields.field("code", Value::Unsigned(self.code.into()));
        fields.field("cpu", Value::Signed(self.cpu.into()));
        fields.field("pid", Value::Signed(self.pid.into()));
        fields.field("tid", Value::Signed(self.tid.into()));
        fields.field("ip", Value::Hex(self.ip));
        fields.if_some("time_ns", self.time_ns, Value::Unsigned);
        fields.field("message", Value::Text(self.message));
        for (name, value) in [("machine_pid", self.machine_pid), ("vcpu", self.vcpu)] {
            if let Some(value) = value {
                fields.field(name, Value::Signed(value.into()));
            }
        }
    }
}
