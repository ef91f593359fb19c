//! What a trace is of: its clocks, the system, and what was lost.

use super::messages::{
    CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, Clock, ClockSnapshot, PerfSample, SystemInfo,
    TracePacket, Utsname,
};
use super::packets::{PacketWriter, Sequence};
use super::samples::sequence_of;
use rprof_analysis::{Query, Recording, about};
use rprof_profile::Profile;
use std::io;

/// Writes what is known before any sample. The machine has a name if there are several.
pub(super) fn write(
    recording: &Recording<'_>,
    machine_name: Option<String>,
    packets: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let about = about(recording.reader);
    let begin_ns = recording.sample_times().map_or(0, |times| *times.start());
    let clock = |clock_id, timestamp| Clock {
        clock_id: Some(clock_id),
        timestamp: Some(timestamp),
    };
    // The clock of all events of the kernel is this one to readers, whichever it was.
    let mut clocks = vec![clock(CLOCK_BOOTTIME, begin_ns)];
    if about.clock.as_deref() == Some("monotonic") {
        clocks.push(clock(CLOCK_MONOTONIC, begin_ns));
    }
    let wall_ns = about.wall_clock.and_then(|wall| wall.at(begin_ns));
    clocks.extend(wall_ns.map(|wall_ns| clock(CLOCK_REALTIME, wall_ns)));
    packets.write(TracePacket {
        timestamp: Some(begin_ns),
        trusted_packet_sequence_id: Some(Sequence::FACTS),
        clock_snapshot: Some(ClockSnapshot {
            clocks,
            primary_trace_clock: Some(CLOCK_BOOTTIME),
        }),
        ..TracePacket::default()
    })?;
    packets.write(TracePacket {
        timestamp: Some(begin_ns),
        trusted_packet_sequence_id: Some(Sequence::FACTS),
        system_info: Some(SystemInfo {
            utsname: Some(Utsname {
                sysname: Some("Linux".to_owned()),
                release: about.os_release,
                machine: about.arch,
            }),
            num_cpus: about.n_cpus,
            machine_name,
        }),
        ..TracePacket::default()
    })
}

/// Writes how many samples were lost of each event that has any.
pub(super) fn write_losses(
    query: &Query<'_>,
    profile: &Profile,
    sequences: &[usize],
    packets: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let end = query.recording.sample_times();
    let end_ns = end.map_or(0, |times| *times.end());
    for event in profile.events.iter().filter(|event| event.loss.samples > 0) {
        let is_its = |number: &&usize| {
            let named = query.event(**number);
            named.is_some_and(|(name, _)| name.raw() == event.name.raw())
        };
        let number = sequences.iter().find(is_its).copied().unwrap_or(0);
        packets.write(TracePacket {
            timestamp: Some(end_ns),
            trusted_packet_sequence_id: Some(sequence_of(number)),
            perf_sample: Some(PerfSample {
                kernel_records_lost: Some(event.loss.samples),
                ..PerfSample::default()
            }),
            ..TracePacket::default()
        })?;
    }
    Ok(())
}
