//! A sample of a thread that is stopped.

use super::registers::Registers;
use super::session::{EVENT_ID, Session};
use crate::interrupts::WriterStalled;
use rprof_abi::registers;
use rprof_abi::sample::StackDump;
use rprof_abi::{Callchain, Encoder, Endian, Misc, RawRecord, RecordKind, Sample};

impl Session {
    /// Samples a stopped thread, if it was stopped for that, or would have been.
    pub(super) fn sample_if_due(&mut self, tid: i32) -> Result<(), WriterStalled> {
        let Some(thread) = self.tasks.threads.get_mut(&tid) else {
            return Ok(());
        };
        if !std::mem::take(&mut thread.is_due) {
            return Ok(());
        }
        let Some(registers) = Registers::read(tid, self.machine) else {
            return Ok(());
        };
        let (pid, cpu, period) = (thread.pid, thread.cpu, thread.take_cpu_time(tid));
        if period == 0 {
            return Ok(());
        }
        self.tell_mappings(pid)?;
        let time_ns = self.recorder.settings.clock.now_ns();
        self.recorder.sink.complete_until(time_ns);
        let mut stack = std::mem::take(&mut self.stack);
        let n_read = self.memory.read(pid, registers.sp, &mut stack);
        let n_read = n_read.unwrap_or(0) & !7;
        // What does not fill its room is whole.
        let room = stack.len().min(n_read + 8);
        stack[n_read..room].fill(0);
        let dump = StackDump {
            data: &stack[..room],
            dyn_size: n_read as u64,
        };
        let table = self.machine.registers();
        let values = registers.values.as_deref();
        let sample = Sample {
            id: Some(EVENT_ID),
            ip: Some(registers.ip),
            pid: Some(pid),
            tid: Some(tid),
            time_ns: Some(time_ns),
            cpu: Some(cpu),
            period: Some(period),
            ..Sample::default()
        };
        let of_user = values.map_or(registers::Registers::NONE, |values| {
            registers::Registers::from_encoded(table.user_mask, values, Endian::NATIVE)
        });
        let pushed = self.push(&match room {
            0 => sample,
            _ => Sample {
                callchain: Some(Callchain::from_encoded(&[], Endian::NATIVE)),
                regs_user: Some(of_user),
                stack_user: Some(dump),
                ..sample
            },
        });
        self.stack = stack;
        pushed
    }

    fn push(&mut self, sample: &Sample<'_>) -> Result<(), WriterStalled> {
        self.has_news = true;
        let mut body = Vec::new();
        let mut encoder = Encoder::new(&mut body, Endian::NATIVE);
        self.layout.encode_sample(sample, &mut encoder);
        let raw = RawRecord {
            kind: RecordKind::SAMPLE,
            misc: Misc::USER,
            body: &body,
        };
        let mut record = Vec::new();
        match raw.encode(&mut record, Endian::NATIVE) {
            Ok(()) => {
                (self.recorder.drain).sample(RecordKind::SAMPLE, &record, &mut self.recorder.sink)
            }
            // Dumps are small enough for that.
            Err(_) => Ok(()),
        }
    }
}
