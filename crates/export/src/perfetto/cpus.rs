//! Which thread is on which CPU, as `sched_switch` says it: each switch names who leaves and who comes.

use super::messages::{FtraceEvent, FtraceEventBundle, SchedSwitch, TracePacket};
use super::packets::{PacketWriter, Sequence};
use foldhash::HashMap;
use std::collections::BTreeMap;
use std::io;

/// A thread at a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switched {
    pub(super) tid: i32,
    pub(super) comm: String,
}

/// A thread on a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) thread: Switched,
    /// `None` if it is not known since when.
    pub(super) start_ns: Option<u64>,
    pub(super) end_ns: u64,
    /// `prev_state` as it left; `None` if it stayed.
    pub(super) left: Option<i64>,
}

/// The switches of all CPUs, and other events of the kernel there.
#[derive(Debug, Default)]
pub(super) struct CpuEvents {
    cpus: BTreeMap<u32, Cpu>,
    /// Events of a CPU that are not written yet.
    waiting: HashMap<u32, Vec<FtraceEvent>>,
    /// Runs that began before another one on their CPU had ended.
    pub(super) n_crossing: u64,
}

/// Who left last, and nobody has come since, as far as is known.
#[derive(Debug, Default)]
struct Cpu {
    left: Option<(u64, Switched, i64)>,
    /// The last moment that is written.
    until_ns: u64,
}

/// Events that are written together.
const BUNDLE: usize = 128;

impl CpuEvents {
    /// Adds a run. Those of a CPU come in their order. `other` is who is there when none of the threads is.
    pub(super) fn run(
        &mut self,
        cpu: u32,
        run: Run,
        other: &Switched,
        packets: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        let state = self.cpus.entry(cpu).or_default();
        let known = run.start_ns.filter(|&start_ns| start_ns >= state.until_ns);
        self.n_crossing += u64::from(run.start_ns.is_some() && known.is_none());
        let until_ns = state.until_ns;
        // Without its beginning, it is only known that it was there at its end.
        let start_ns = known.unwrap_or(run.end_ns.max(until_ns));
        let before = state.left.take();
        state.until_ns = run.end_ns.max(start_ns);
        if let Some(left) = run.left {
            state.left = Some((state.until_ns, run.thread.clone(), left));
        }
        match before {
            Some((time_ns, prev, left)) if time_ns == start_ns => {
                let event = switch(start_ns, (&prev, left), &run.thread);
                self.push(cpu, event, packets)
            }
            Some((time_ns, prev, left)) => {
                self.push(cpu, switch(time_ns, (&prev, left), other), packets)?;
                self.push(
                    cpu,
                    switch(start_ns, (other, RUNNABLE), &run.thread),
                    packets,
                )
            }
            None => {
                let event = switch(start_ns, (other, RUNNABLE), &run.thread);
                self.push(cpu, event, packets)
            }
        }
    }

    /// Adds an event that is no switch.
    pub(super) fn push(
        &mut self,
        cpu: u32,
        event: FtraceEvent,
        packets: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        let waiting = self.waiting.entry(cpu).or_default();
        waiting.push(event);
        if waiting.len() < BUNDLE {
            return Ok(());
        }
        let events = std::mem::take(waiting);
        write(cpu, events, packets)
    }

    /// Writes all that is left; `other` says who is on a CPU when none of the threads is.
    pub(super) fn finish(
        &mut self,
        other: impl Fn(u32) -> Switched,
        packets: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        for (cpu, state) in std::mem::take(&mut self.cpus) {
            if let Some((time_ns, prev, left)) = state.left {
                let event = switch(time_ns, (&prev, left), &other(cpu));
                self.push(cpu, event, packets)?;
            }
        }
        let waiting = std::mem::take(&mut self.waiting);
        let waiting: BTreeMap<u32, Vec<FtraceEvent>> = waiting.into_iter().collect();
        for (cpu, events) in waiting {
            write(cpu, events, packets)?;
        }
        Ok(())
    }
}

/// `prev_state` of who could have gone on.
pub(super) const RUNNABLE: i64 = 0;

fn switch(time_ns: u64, (prev, left): (&Switched, i64), next: &Switched) -> FtraceEvent {
    FtraceEvent {
        timestamp: Some(time_ns),
        pid: Some(prev.tid.cast_unsigned()),
        sched_switch: Some(SchedSwitch {
            prev_comm: Some(prev.comm.clone()),
            prev_pid: Some(prev.tid),
            prev_state: Some(left),
            next_comm: Some(next.comm.clone()),
            next_pid: Some(next.tid),
        }),
        ..FtraceEvent::default()
    }
}

fn write(cpu: u32, events: Vec<FtraceEvent>, packets: &mut PacketWriter<'_>) -> io::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    packets.write(TracePacket {
        trusted_packet_sequence_id: Some(Sequence::KERNEL),
        ftrace_events: Some(FtraceEventBundle {
            cpu: Some(cpu),
            event: events,
        }),
        ..TracePacket::default()
    })
}
