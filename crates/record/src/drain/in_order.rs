//! Sideband of all CPUs in order of time.

use super::{Drain, MOST_SIDEBAND_BYTES, sideband_time_ns};
use crate::interrupts::WriterStalled;
use crate::opening::Opened;
use crate::sink::Sink;
use rprof_abi::RecordKind;

/// A record of sideband that is not taken yet.
#[derive(Debug)]
pub(super) struct WaitingRecord {
    time_ns: u64,
    kind: RecordKind,
    bytes: Vec<u8>,
}

impl Drain {
    /// Takes the sideband of all CPUs in order of time, up to a moment before which all of it is in the
    /// rings. Who is watched depends on what happened before, on any CPU.
    pub(super) fn sideband_in_order(
        &mut self,
        opened: &mut Opened,
        sink: &mut Sink,
        until_ns: u64,
    ) -> Result<bool, WriterStalled> {
        for ring in &mut opened.sideband.rings {
            let before = ring.tail();
            self.drain(ring.batch(), sink, |drain, kind, record, _| {
                drain.waiting.push(WaitingRecord {
                    time_ns: sideband_time_ns(record),
                    kind,
                    bytes: record.to_vec(),
                });
                Ok(())
            })?;
            self.check_room(ring, before, MOST_SIDEBAND_BYTES);
        }
        self.waiting.sort_by_key(|record| record.time_ns);
        let n_ready = self
            .waiting
            .partition_point(|record| record.time_ns <= until_ns);
        let ready: Vec<_> = self.waiting.drain(..n_ready).collect();
        for record in &ready {
            self.sideband(record.kind, &record.bytes, sink)?;
        }
        Ok(!ready.is_empty() || !self.waiting.is_empty())
    }
}
