//! `BPF_METADATA`: variables by which a BPF program describes itself.

use super::body::PlainBody;
use rprof_abi::{Cursor, Fields, Value, WireError};

/// `PERF_RECORD_BPF_METADATA` (v6.16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BpfMetadata<'a> {
    /// The program, as its symbol is named.
    pub program: &'a [u8],
    /// Its variables named `bpf_metadata_*`.
    pub variables: Vec<BpfVariable<'a>>,
}

/// One variable of a [`BpfMetadata`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfVariable<'a> {
    /// Its name, without `bpf_metadata_`.
    pub key: &'a [u8],
    /// Its value as text.
    pub value: &'a [u8],
}

/// Bytes of the texts: `KSYM_NAME_LEN` in tools/lib/perf, `BPF_METADATA_KEY_LEN` and
/// `BPF_METADATA_VALUE_LEN`.
const PROGRAM_LEN: u64 = 256;
const KEY_LEN: u64 = 64;
const VALUE_LEN: u64 = 256;

impl<'a> PlainBody<'a> for BpfMetadata<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let what = "BPF metadata";
        let program = take_text(cursor, PROGRAM_LEN)?;
        let n = cursor.u64(what)?;
        let variable = |_| {
            Ok(BpfVariable {
                key: take_text(cursor, KEY_LEN)?,
                value: take_text(cursor, VALUE_LEN)?,
            })
        };
        let variables = (0..n).map(variable).collect::<Result<_, WireError>>()?;
        Ok(Self { program, variables })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("program", Value::Text(self.program));
        fields.list("variables", &self.variables, |fields, variable| {
            fields.object("", |fields| {
                fields.field("key", Value::Text(variable.key));
                fields.field("value", Value::Text(variable.value));
            });
        });
    }
}

/// Takes a text in a field of fixed length.
fn take_text<'a>(cursor: &mut Cursor<'a>, len: u64) -> Result<&'a [u8], WireError> {
    let text = cursor.bytes(len, "BPF metadata")?;
    Ok(Cursor::new(text, cursor.endian()).c_str())
}
