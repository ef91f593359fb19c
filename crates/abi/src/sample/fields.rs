//! A sample's fields: all of them, those that every reader wants, those of any record.

use super::{BranchStack, Callchain, ReadValues, StackDump, Weight};
use crate::Registers;

/// The id fields after a non-sample record (`struct sample_id`), or the same of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SampleId {
    /// Process.
    pub pid: Option<i32>,
    /// Thread.
    pub tid: Option<i32>,
    /// Time.
    pub time_ns: Option<u64>,
    /// Event, from ID or IDENTIFIER.
    pub id: Option<u64>,
    /// Stream.
    pub stream_id: Option<u64>,
    /// CPU.
    pub cpu: Option<u32>,
}

/// One sample; a field is `None` if the event does not record it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sample<'a> {
    /// Event, from IDENTIFIER or ID.
    pub id: Option<u64>,
    /// Instruction pointer (AVMA).
    pub ip: Option<u64>,
    /// Process; -1 for a task that is already dead.
    pub pid: Option<i32>,
    /// Thread.
    pub tid: Option<i32>,
    /// Time, of the recording's clock.
    pub time_ns: Option<u64>,
    /// Data address (AVMA).
    pub addr: Option<u64>,
    /// Stream.
    pub stream_id: Option<u64>,
    /// CPU.
    pub cpu: Option<u32>,
    /// The second half of the CPU field, reserved.
    pub cpu_reserved: u32,
    /// Events since the last sample.
    pub period: Option<u64>,
    /// Counter values.
    pub read: Option<ReadValues<'a>>,
    /// Call chain.
    pub callchain: Option<Callchain<'a>>,
    /// Raw data, as a tracepoint wrote it.
    pub raw: Option<&'a [u8]>,
    /// Branches.
    pub branch_stack: Option<BranchStack<'a>>,
    /// User registers.
    pub regs_user: Option<Registers<'a>>,
    /// User stack.
    pub stack_user: Option<StackDump<'a>>,
    /// Weight.
    pub weight: Option<Weight>,
    /// Where data came from (`union perf_mem_data_src`).
    pub data_src: Option<u64>,
    /// Transaction flags.
    pub transaction: Option<u64>,
    /// Registers at the interrupt.
    pub regs_intr: Option<Registers<'a>>,
    /// Physical data address.
    pub phys_addr: Option<u64>,
    /// Control group id.
    pub cgroup: Option<u64>,
    /// Page size of the data address, bytes.
    pub data_page_size: Option<u64>,
    /// Page size of the instruction, bytes.
    pub code_page_size: Option<u64>,
    /// AUX data.
    pub aux: Option<&'a [u8]>,
}

impl Sample<'_> {
    /// The fields that every record of the event has.
    pub fn sample_id(&self) -> SampleId {
        SampleId {
            pid: self.pid,
            tid: self.tid,
            time_ns: self.time_ns,
            id: self.id,
            stream_id: self.stream_id,
            cpu: self.cpu,
        }
    }
}

/// The fields that every reader wants of a sample, found without decoding the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SampleHead<'a> {
    /// Instruction pointer (AVMA).
    pub ip: Option<u64>,
    /// Process and thread.
    pub task: Option<(i32, i32)>,
    /// Time, of the recording's clock.
    pub time_ns: Option<u64>,
    /// CPU.
    pub cpu: Option<u32>,
    /// Events since the last sample.
    pub period: Option<u64>,
    /// Call chain.
    pub callchain: Option<Callchain<'a>>,
}
