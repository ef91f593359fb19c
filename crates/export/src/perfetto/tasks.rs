//! Tasks as the kernel's events of them.

use super::messages::{
    FtraceEvent, FtraceEventBundle, Process, ProcessTree, TaskNewtask, TaskRename, Thread,
    TracePacket,
};
use super::packets::{PacketWriter, Sequence};
use super::pass::TaskItem;
use std::io;

/// `CLONE_THREAD` of include/uapi/linux/sched.h (v6.18).
const CLONE_THREAD: u64 = 0x0001_0000;

/// Writes a task that was named or made; `begin_ns` is when the trace begins.
pub(super) fn write(
    task: &TaskItem<'_>,
    begin_ns: u64,
    packets: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let packet = TracePacket {
        trusted_packet_sequence_id: Some(Sequence::KERNEL),
        ..TracePacket::default()
    };
    // Who is named may not have been seen before.
    if task.time_ns.is_none() || task.parent.is_none() {
        packets.write(TracePacket {
            timestamp: Some(task.time_ns.unwrap_or(begin_ns)),
            process_tree: Some(tree(task)),
            ..packet.clone()
        })?;
    }
    let Some(time_ns) = task.time_ns else {
        return Ok(());
    };
    packets.write(TracePacket {
        ftrace_events: Some(FtraceEventBundle {
            cpu: Some(task.cpu.unwrap_or(0)),
            event: vec![event(task, time_ns)],
        }),
        ..packet
    })
}

/// The event of a task that is made, or renamed.
fn event(task: &TaskItem<'_>, time_ns: u64) -> FtraceEvent {
    let comm = Some(task.comm.to_owned());
    let event = FtraceEvent {
        timestamp: Some(time_ns),
        ..FtraceEvent::default()
    };
    match task.parent {
        Some((parent_pid, parent_tid)) => FtraceEvent {
            pid: Some(parent_tid.cast_unsigned()),
            task_newtask: Some(TaskNewtask {
                pid: Some(task.tid),
                comm,
                clone_flags: Some(if parent_pid == task.pid {
                    CLONE_THREAD
                } else {
                    0
                }),
            }),
            ..event
        },
        None => FtraceEvent {
            pid: Some(task.tid.cast_unsigned()),
            task_rename: Some(TaskRename {
                pid: Some(task.tid),
                newcomm: comm,
            }),
            ..event
        },
    }
}

/// A task by its name. Who made one that was there before is said by a record of its own, which has no name.
fn tree(task: &TaskItem<'_>) -> ProcessTree {
    let name = Some(task.comm.to_owned()).filter(|_| task.parent.is_none());
    let process = Process {
        pid: Some(task.pid),
        ppid: task.parent.map(|(parent_pid, _)| parent_pid),
        cmdline: name.clone().into_iter().collect(),
        cmdline_is_comm: name.is_some().then_some(true),
    };
    ProcessTree {
        processes: Some(process)
            .filter(|_| task.pid == task.tid)
            .into_iter()
            .collect(),
        threads: vec![Thread {
            tid: Some(task.tid),
            tgid: Some(task.pid),
            name,
        }],
    }
}
