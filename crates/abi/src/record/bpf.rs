//! KSYMBOL, `BPF_EVENT`, `TEXT_POKE`: kernel code that comes, goes and changes.

use super::body::PlainBody;
use crate::{Cursor, Encoder, Fields, Value, WireError};

/// `PERF_RECORD_KSYMBOL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ksymbol<'a> {
    /// First address (AVMA).
    pub addr: u64,
    /// Bytes.
    pub len: u32,
    /// 1 BPF, 2 out of line (ftrace, kprobe).
    pub ksym_type: u16,
    /// Bit 0: it went away.
    pub flags: u16,
    /// Its name.
    pub name: &'a [u8],
}

impl<'a> Ksymbol<'a> {
    /// Flag of a symbol that goes away.
    pub const UNREGISTER: u16 = 1;
}

impl<'a> PlainBody<'a> for Ksymbol<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let what = "ksymbol";
        Ok(Self {
            addr: cursor.u64(what)?,
            len: cursor.u32(what)?,
            ksym_type: cursor.u16(what)?,
            flags: cursor.u16(what)?,
            name: cursor.c_str(),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("addr", Value::Hex(self.addr));
        fields.field("len", Value::Unsigned(self.len.into()));
        fields.field("ksym_type", Value::Unsigned(self.ksym_type.into()));
        fields.field("flags", Value::Hex(self.flags.into()));
        fields.field("name", Value::Text(self.name));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u64(self.addr);
        encoder.u32(self.len);
        encoder.u16(self.ksym_type);
        encoder.u16(self.flags);
        encoder.c_str_padded(self.name);
    }
}

/// `PERF_RECORD_BPF_EVENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfEvent {
    /// 1 loaded, 2 unloaded.
    pub event_type: u16,
    /// Flags, none defined.
    pub flags: u16,
    /// Program id.
    pub id: u32,
    /// Program tag.
    pub tag: [u8; 8],
}

impl PlainBody<'_> for BpfEvent {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let what = "bpf event";
        Ok(Self {
            event_type: cursor.u16(what)?,
            flags: cursor.u16(what)?,
            id: cursor.u32(what)?,
            tag: {
                let mut tag = [0; 8];
                tag.copy_from_slice(cursor.bytes(8, what)?);
                tag
            },
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("type", Value::Unsigned(self.event_type.into()));
        fields.field("flags", Value::Hex(self.flags.into()));
        fields.field("id", Value::Unsigned(self.id.into()));
        fields.field("tag", Value::Bytes(&self.tag));
    }

    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.u16(self.event_type);
        encoder.u16(self.flags);
        encoder.u32(self.id);
        encoder.bytes(&self.tag);
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

impl<'a> PlainBody<'a> for TextPoke<'a> {
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
