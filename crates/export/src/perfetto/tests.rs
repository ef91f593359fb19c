//! Small traces.

use super::cpus::{CpuEvents, Run, Switched};
use super::messages::{SchedSwitch, TracePacket};
use super::packets::{Machine, PacketWriter, Sequence};
use super::states::StateBits;
use prost::Message;
use rprof_scheduling::SwitchState;

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<TracePacket>,
}

/// The switches of a CPU: when, who left in which state, who came.
fn switches(runs: &[(i32, Option<u64>, u64, Option<i64>)]) -> (Vec<(u64, i32, i64, i32)>, u64) {
    let mut bytes = Vec::new();
    let mut packets = PacketWriter::new(&mut bytes, Machine::default());
    let mut cpus = CpuEvents::default();
    let thread = |tid| Switched {
        tid,
        comm: format!("t{tid}"),
    };
    for &(tid, start_ns, end_ns, left) in runs {
        let run = Run {
            thread: thread(tid),
            start_ns,
            end_ns,
            left,
        };
        cpus.run(1, run, &thread(0), &mut packets).unwrap();
    }
    cpus.finish(|_| thread(0), &mut packets).unwrap();
    let n_crossing = cpus.n_crossing;
    let trace = Trace::decode(&*bytes).unwrap();
    let bundles = trace.packet.into_iter().filter_map(|one| one.ftrace_events);
    let events = bundles.flat_map(|bundle| {
        assert_eq!(bundle.cpu, Some(1));
        bundle.event
    });
    let switches = events.map(|event| {
        let SchedSwitch {
            prev_pid,
            prev_state,
            next_pid,
            ..
        } = event.sched_switch.unwrap();
        let (prev, next) = (prev_pid.unwrap(), next_pid.unwrap());
        (event.timestamp.unwrap(), prev, prev_state.unwrap(), next)
    });
    (switches.collect(), n_crossing)
}

#[test]
fn threads_that_follow_each_other_are_one_switch() {
    let runs = [
        (7, Some(10), 20, Some(1)),
        (8, Some(20), 30, Some(2)),
        (7, Some(40), 50, None),
    ];
    let expected = [(10, 0, 0, 7), (20, 7, 1, 8), (30, 8, 2, 0), (40, 0, 0, 7)];
    assert_eq!(switches(&runs), (expected.to_vec(), 0));
}

#[test]
fn a_run_whose_beginning_is_not_known_has_no_length() {
    let runs = [(7, Some(10), 20, Some(1)), (8, None, 30, Some(1))];
    let expected = [(10, 0, 0, 7), (20, 7, 1, 0), (30, 0, 0, 8), (30, 8, 1, 0)];
    assert_eq!(switches(&runs), (expected.to_vec(), 0));
}

#[test]
fn runs_that_cross_are_counted_and_time_goes_on() {
    let runs = [(7, Some(10), 30, Some(1)), (8, Some(20), 25, Some(1))];
    let (switches, n_crossing) = switches(&runs);
    assert_eq!(n_crossing, 1);
    assert!(switches.is_sorted_by_key(|one| one.0), "{switches:?}");
}

#[test]
fn states_are_the_bits_of_the_recorded_kernel() {
    let bits = |release, state| StateBits::of_release(release).of(state);
    let preempted = ["6.18.1-x", "4.14.0", "4.9.1", "4.4.302", "?"]
        .map(|release| bits(Some(release), SwitchState::Runnable));
    assert_eq!(preempted, [0x100, 0x100, 0x1000, 0x800, 0x800]);
    assert_eq!(bits(None, SwitchState::Idle), 0x402);
    assert_eq!(bits(Some("5.10.0"), SwitchState::Idle), 0x80);
}

#[test]
fn each_machine_has_sequences_of_its_own() {
    let mut bytes = Vec::new();
    let mut machine = Machine::default();
    for n_events in [2, 0, 1] {
        let mut packets = PacketWriter::new(&mut bytes, machine);
        let sequences = [Sequence::FACTS, Sequence::SAMPLES + n_events];
        for sequence in sequences {
            let packet = TracePacket {
                trusted_packet_sequence_id: Some(sequence),
                ..TracePacket::default()
            };
            packets.write(packet).unwrap();
        }
        // The last event is the one before that number.
        machine = machine.next(usize::try_from(n_events).unwrap() + 1);
    }
    let trace = Trace::decode(&*bytes).unwrap();
    let ids = trace.packet.iter();
    let ids = ids.map(|packet| {
        (
            packet.machine_id,
            packet.trusted_packet_sequence_id.unwrap(),
        )
    });
    let ids: Vec<_> = ids.collect();
    // Readers take packets without a number for those of the first machine.
    assert_eq!(
        ids,
        [
            (None, 1),
            (None, 18),
            (Some(1), 20),
            (Some(1), 35),
            (Some(2), 37),
            (Some(2), 53)
        ]
    );
}
