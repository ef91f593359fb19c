//! Packets are written one after the other.

use super::messages::{PACKET, TracePacket};
use prost::Message;
use prost::encoding::{WireType, encode_key};
use std::io::{self, Write};

/// Writes packets.
pub(super) struct PacketWriter<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
}

/// The sequences of packets: only those of one share what was interned. Samples have one for each event, from
/// [`Self::SAMPLES`] on.
pub(super) struct Sequence;

impl Sequence {
    /// What the trace is of.
    pub(super) const FACTS: u32 = 1;
    /// What CPUs and tasks did.
    pub(super) const KERNEL: u32 = 2;
    pub(super) const SAMPLES: u32 = 16;
}

impl<'a> PacketWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            buffer: Vec::new(),
        }
    }

    pub(super) fn write(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.buffer.clear();
        encode_key(PACKET, WireType::LengthDelimited, &mut self.buffer);
        // A vector takes whatever comes.
        let _ = packet.encode_length_delimited(&mut self.buffer);
        self.out.write_all(&self.buffer)
    }
}
