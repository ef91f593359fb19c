//! KSYMBOL, `BPF_EVENT`, `TEXT_POKE`: kernel code that comes, goes and changes.

use crate::format::{Hex, Raw, Text};
use crate::{Cursor, Encoder, Fields, Value, Wire, WireError};

wire! {
    /// `PERF_RECORD_KSYMBOL`.
    pub struct Ksymbol<'a> in "ksymbol" {
        /// First address (AVMA).
        pub addr: u64 as Hex,
        /// Bytes.
        pub len: u32,
        /// 0 unknown, 1 BPF, 2 out of line (ftrace, kprobe).
        pub ksym_type: u16,
        /// Bit 0: it went away.
        pub flags: u16 as Hex,
        /// Its name.
        pub name: &'a [u8] as Text,
    }
}

impl Ksymbol<'_> {
    /// `PERF_RECORD_KSYMBOL_TYPE_UNKNOWN`.
    pub const UNKNOWN: u16 = 0;

    /// Flag of a symbol that goes away.
    pub const UNREGISTER: u16 = 1;
}

wire! {
    /// `PERF_RECORD_BPF_EVENT`.
    #[derive(Copy)]
    pub struct BpfEvent in "bpf event" {
        /// 1 loaded, 2 unloaded.
        pub event_type: u16 as Number named "type",
        /// Flags, none defined.
        pub flags: u16 as Hex,
        /// Program id.
        pub id: u32,
        /// Program tag.
        pub tag: [u8; 8] as Raw,
    }
}

/// `PERF_RECORD_TEXT_POKE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPoke<'a> {
    /// Address of the change (AVMA).
    pub addr: u64,
    /// Code before.
    pub old: &'a [u8],
    /// Code after.
    pub new: &'a [u8],
}

impl<'a> Wire<'a> for TextPoke<'a> {
    const MIN_LEN: usize = 12;

    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let what = "text poke";
        let addr = cursor.u64(what)?;
        let old_len = cursor.u16(what)?;
        let new_len = cursor.u16(what)?;
        Ok(Self {
            addr,
            old: cursor.bytes(u64::from(old_len), what)?,
            new: cursor.bytes(u64::from(new_len), what)?,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("addr", Value::Hex(self.addr));
        fields.field("old", Value::Bytes(self.old));
        fields.field("new", Value::Bytes(self.new));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        let len = |code: &[u8]| u16::try_from(code.len()).unwrap_or(u16::MAX);
        encoder.u64(self.addr);
        encoder.u16(len(self.old));
        encoder.u16(len(self.new));
        encoder.bytes(self.old);
        encoder.bytes(self.new);
        let used = 12 + self.old.len() + self.new.len();
        for _ in used..used.next_multiple_of(8) {
            encoder.u8(0);
        }
    }
}
