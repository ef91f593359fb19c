//! TRACING_DATA: formats of tracepoints, without which perf does not open a recording of them.

use rprof_abi::{Encoder, Endian};

/// What tracefs says of the tracepoints of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TracingData {
    /// `events/header_page`.
    pub header_page: Vec<u8>,
    /// `events/header_event`.
    pub header_event: Vec<u8>,
    /// By system, the `format` files of its tracepoints.
    pub systems: Vec<(String, Vec<Vec<u8>>)>,
    /// Bytes of a page.
    pub page_size: u32,
}

impl TracingData {
    /// Appends the section: trace-cmd's format, version 0.6 (tools/perf/util/trace-event-info.c,
    /// v6.1), without kallsyms, printk formats and command lines.
    pub fn encode(&self, encoder: &mut Encoder<'_>) {
        let len = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        encoder.bytes(b"\x17\x08\x44tracing0.6\0");
        encoder.u8(u8::from(encoder.endian() == Endian::Big));
        encoder.u8(8); // bytes of a long
        encoder.u32(self.page_size);
        for (name, text) in [
            (&b"header_page\0"[..], &self.header_page),
            (b"header_event\0", &self.header_event),
        ] {
            encoder.bytes(name);
            encoder.u64(text.len() as u64);
            encoder.bytes(text);
        }
        encoder.u32(0); // formats of ftrace's own events
        encoder.u32(len(self.systems.len()));
        for (system, formats) in &self.systems {
            encoder.bytes(system.as_bytes());
            encoder.u8(0);
            encoder.u32(len(formats.len()));
            for format in formats {
                encoder.u64(format.len() as u64);
                encoder.bytes(format);
            }
        }
        encoder.u32(0); // kallsyms
        encoder.u32(0); // printk formats
        encoder.u64(0); // command lines
    }
}
