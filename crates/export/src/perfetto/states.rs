//! What threads did becomes the kernel's events of it: switches and wake-ups.

use super::cpus::{CpuEvents, Run, Switched};
use super::messages::{FtraceEvent, GenericKernelTaskStateEvent, SchedWaking, TracePacket};
use super::packets::{PacketWriter, Sequence};
use rprof_analysis::{Query, TaskName, ThreadActivity, ThreadEvent, about, comm_text};
use rprof_scheduling::{SwitchState, WakeUp, Waker};
use std::io;

/// Makes events of what threads do.
pub(super) struct ThreadStates<'a> {
    query: &'a Query<'a>,
    bits: StateBits,
    cpus: CpuEvents,
    is_everybody: bool,
    /// Whether runs were left out, since nothing says on which CPU they were.
    lacks_cpus: bool,
}

/// Stands for threads that are not in the trace: not recorded, or hidden by a filter. The kernel's ids are below
/// 4,194,304 (`PID_MAX_LIMIT`); each CPU has its own.
const OTHER: &str = "[not in this trace]";
const FIRST_OTHER: i32 = i32::MAX - (1 << 16);

/// Stands for who woke a thread, where that is not known.
const UNKNOWN: i32 = i32::MAX;

/// `TRACE_FLAG_HARDIRQ` and `TRACE_FLAG_SOFTIRQ` of `common_flags`; include/linux/trace_events.h.
const IN_INTERRUPT: u32 = 0x08;
const IN_SOFT_INTERRUPT: u32 = 0x10;

impl<'a> ThreadStates<'a> {
    pub(super) fn new(query: &'a Query<'a>, cpus: CpuEvents) -> Self {
        let release = about(query.recording.reader).os_release;
        Self {
            query,
            bits: StateBits::of_release(release.as_deref()),
            cpus,
            is_everybody: false,
            lacks_cpus: false,
        }
    }

    /// Takes the next thing that a thread did.
    pub(super) fn take(
        &mut self,
        is_everybody: bool,
        event: ThreadEvent,
        packets: &mut PacketWriter<'_>,
    ) -> io::Result<()> {
        self.is_everybody = is_everybody;
        match event.activity {
            ThreadActivity::Ran {
                cpu,
                start_ns,
                end_ns,
                left,
            } => {
                let Some(cpu) = cpu else {
                    self.lacks_cpus = true;
                    return Ok(());
                };
                let thread = self.thread(event, end_ns);
                let run = Run {
                    thread: thread.unwrap_or_else(|| other(cpu)),
                    start_ns,
                    end_ns,
                    left: left.map(|left| self.bits.of(left)),
                };
                self.cpus.run(cpu, run, &self.nobody(cpu), packets)
            }
            ThreadActivity::Woken { cpu, woken } => match self.thread(event, woken.time_ns) {
                Some(thread) => {
                    let event = waking(thread, woken);
                    self.cpus.push(cpu.unwrap_or(0), event, packets)
                }
                None => Ok(()),
            },
            ThreadActivity::Waited { .. } => Ok(()),
            ThreadActivity::Lost { start_ns } => match self.thread(event, start_ns) {
                Some(thread) => packets.write(unknown(thread, start_ns)),
                None => Ok(()),
            },
        }
    }

    /// A thread by its name at a moment; `None` if it is not shown.
    fn thread(&self, event: ThreadEvent, time_ns: u64) -> Option<Switched> {
        let index = &self.query.recording.index;
        let key = index.key(Some(time_ns), u64::MAX);
        let name = TaskName::at(&index.history, event.tid, key);
        let comm = comm_text(&index.history, name).into_raw();
        let (samples, id) = (&self.query.samples, (event.pid, event.tid));
        samples.shows_thread(id, &comm, time_ns).then(|| Switched {
            tid: event.tid,
            comm: comm.into_owned(),
        })
    }

    /// Who is on a CPU when no thread that is recorded is there: if all are, it is idle.
    fn nobody(&self, cpu: u32) -> Switched {
        if self.is_everybody {
            Switched {
                tid: 0,
                comm: format!("swapper/{cpu}"),
            }
        } else {
            other(cpu)
        }
    }

    /// Writes what is left. Returns what could not be used, one sentence each.
    pub(super) fn finish(mut self, packets: &mut PacketWriter<'_>) -> io::Result<Vec<String>> {
        let mut cpus = std::mem::take(&mut self.cpus);
        cpus.finish(|cpu| self.nobody(cpu), packets)?;
        let mut warnings = Vec::new();
        if self.lacks_cpus {
            let why = "the trace has no runs of threads: the recording does not say on which CPUs they were";
            warnings.push(why.to_owned());
        }
        if cpus.n_crossing > 0 {
            warnings.push(format!(
                "{} runs began before the one before on their CPU ended: in the trace they have no length",
                cpus.n_crossing
            ));
        }
        Ok(warnings)
    }
}

fn other(cpu: u32) -> Switched {
    Switched {
        tid: FIRST_OTHER.saturating_add(i32::try_from(cpu).unwrap_or(0) % (1 << 16)),
        comm: OTHER.to_owned(),
    }
}

/// What interrupts did is not the interrupted thread's doing: it has no waker but the flags.
fn waking(thread: Switched, woken: WakeUp) -> FtraceEvent {
    let (waker, flags) = match woken.waker {
        Waker::Thread(tid) => (tid, 0),
        Waker::Timer | Waker::Interrupt => (0, IN_INTERRUPT),
        Waker::SoftInterrupt => (0, IN_SOFT_INTERRUPT),
        Waker::Unknown => (UNKNOWN, 0),
    };
    FtraceEvent {
        timestamp: Some(woken.time_ns),
        pid: Some(waker.cast_unsigned()),
        common_flags: Some(flags),
        sched_waking: Some(SchedWaking {
            comm: Some(thread.comm),
            pid: Some(thread.tid),
        }),
        ..FtraceEvent::default()
    }
}

/// From a moment on, it is not known what a thread does.
fn unknown(thread: Switched, time_ns: u64) -> TracePacket {
    const TASK_STATE_UNKNOWN: u32 = 0;
    TracePacket {
        timestamp: Some(time_ns),
        trusted_packet_sequence_id: Some(Sequence::KERNEL),
        generic_kernel_task_state_event: Some(GenericKernelTaskStateEvent {
            cpu: Some(0),
            comm: Some(thread.comm),
            tid: Some(thread.tid.into()),
            state: Some(TASK_STATE_UNKNOWN),
        }),
        ..TracePacket::default()
    }
}

/// What bits of `prev_state` mean: readers look at the kernel's release.
///
/// Source: include/linux/sched.h and include/trace/events/sched.h (v4.4, v4.8, v4.14 to v6.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateBits {
    parked: i64,
    idle: i64,
    preempted: i64,
    /// No state has it, where there is such a bit.
    unknown: i64,
}

impl StateBits {
    const NEW: Self = Self {
        parked: 0x40,
        idle: 0x80,
        preempted: 0x100,
        unknown: 0x8000,
    };

    /// Without a release, readers take the oldest kernels' bits.
    pub(super) fn of_release(release: Option<&str>) -> Self {
        let mut numbers = release.unwrap_or_default().split(['.', '-']);
        let mut number = || numbers.next().and_then(|text| text.parse::<u32>().ok());
        let version = number().and_then(|major| Some((major, number()?)));
        let old = Self {
            parked: 0x200,
            idle: 0x402,
            preempted: 0x800,
            unknown: 0x3,
        };
        match version {
            Some(version) if version >= (4, 14) => Self::NEW,
            Some(version) if version >= (4, 8) => Self {
                preempted: 0x1000,
                ..old
            },
            _ => old,
        }
    }

    pub(super) fn of(self, state: SwitchState) -> i64 {
        match state {
            SwitchState::Runnable => self.preempted,
            SwitchState::Sleeping => 0x01,
            SwitchState::Uninterruptible => 0x02,
            SwitchState::Stopped => 0x04,
            SwitchState::Traced => 0x08,
            SwitchState::Dead => 0x10,
            SwitchState::Idle => self.idle,
            SwitchState::Parked => self.parked,
            SwitchState::Unknown => self.unknown,
        }
    }
}
