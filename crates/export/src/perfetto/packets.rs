//! Packets are written one after the other.

use super::messages::{PACKET, TracePacket};
use prost::Message;
use prost::encoding::{WireType, encode_key};
use std::io::{self, Write};

/// Writes packets.
pub(super) struct PacketWriter<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    machine: Machine,
}

/// Whose packets are written: recordings are machines to readers, each with its own CPUs, tasks and clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Machine {
    /// From 0 on.
    pub(super) number: u32,
    /// Sequences of those before.
    pub(super) first_sequence: u32,
}

/// The sequences of packets of a machine: only those of one share what was interned. Samples have one for each event,
/// from [`Self::SAMPLES`] on.
pub(super) struct Sequence;

impl Sequence {
    /// What the trace is of.
    pub(super) const FACTS: u32 = 1;
    /// What CPUs and tasks did.
    pub(super) const KERNEL: u32 = 2;
    pub(super) const SAMPLES: u32 = 16;
}

impl Machine {
    /// The next one, after one with this many events.
    pub(super) fn next(self, n_events: usize) -> Self {
        let n_events = u32::try_from(n_events).unwrap_or(u32::MAX);
        let n_sequences = Sequence::SAMPLES.saturating_add(n_events);
        Self {
            number: self.number.saturating_add(1),
            first_sequence: self.first_sequence.saturating_add(n_sequences),
        }
    }
}

impl<'a> PacketWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write, machine: Machine) -> Self {
        Self {
            out,
            buffer: Vec::new(),
            machine,
        }
    }

    pub(super) fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        let Machine {
            number,
            first_sequence,
        } = self.machine;
        let sequence = packet.trusted_packet_sequence_id;
        let packet = TracePacket {
            trusted_packet_sequence_id: sequence.map(|own| own.saturating_add(first_sequence)),
            machine_id: (number > 0).then_some(number),
            ..packet
        };
        self.buffer.clear();
        encode_key(PACKET, WireType::LengthDelimited, &mut self.buffer);
        // A vector takes whatever comes.
        let _ = packet.encode_length_delimited(&mut self.buffer);
        self.out.write_all(&self.buffer)
    }
}
