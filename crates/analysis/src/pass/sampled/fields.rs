//! What tracepoints wrote, of one sample after the other.

use crate::Error;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use crate::tracepoints::TracepointFormats;
use rprof_abi::{Fields, Shape, Value};
use rprof_profile::{FieldValue, StrId, Strings, TraceValue};

/// Reads the fields of samples by where they are in the file.
pub(super) struct FieldReader<'a> {
    recording: &'a Recording<'a>,
    formats: TracepointFormats,
    /// How many more samples are read, and how many bytes of them.
    left: usize,
    left_bytes: usize,
    scratch: Vec<u8>,
}

/// Bytes of fields that are read where not all samples are.
const MOST_BYTES: usize = 8 << 20;

impl<'a> FieldReader<'a> {
    /// For a recording's events, unless none of them has fields; also says which formats cannot be used. No more than
    /// `most` samples are read.
    pub(super) fn new(recording: &'a Recording<'a>, most: usize) -> (Option<Self>, Option<String>) {
        let (formats, warning) = TracepointFormats::of(recording.reader);
        let reader = (!formats.is_empty()).then(|| Self {
            recording,
            formats,
            left: most,
            left_bytes: match most {
                usize::MAX => usize::MAX,
                _ => MOST_BYTES,
            },
            scratch: Vec::new(),
        });
        (reader, warning.map(|warning| warning.to_string()))
    }

    /// The fields of an event's sample at an offset; `None` if the event has none, or no more are read.
    pub(super) fn read(
        &mut self,
        event: usize,
        offset: u64,
        strings: &mut Strings,
    ) -> Result<Option<Vec<TraceValue>>, Error> {
        if self.left == 0 || !self.formats.has(event) {
            return Ok(None);
        }
        let reader = self.recording.reader;
        let Some(raw) = reader.record_at(offset, &mut self.scratch)? else {
            return Ok(None);
        };
        // The members of a group share a record, which has what the leader wrote.
        let decoded = DecodedSample::of(self.recording, offset, raw);
        let decoded = decoded.filter(|decoded| decoded.event == event);
        let sample = decoded.and_then(|decoded| decoded.all_fields(reader));
        let Some(bytes) = sample.and_then(|sample| sample.raw) else {
            return Ok(None);
        };
        self.left_bytes = self.left_bytes.saturating_sub(bytes.len());
        self.left = match self.left_bytes {
            0 => 0,
            _ => self.left - 1,
        };
        let mut collector = Collector {
            strings,
            fields: Vec::new(),
            list: None,
        };
        self.formats
            .visit(event, bytes, reader.endian(), &mut collector);
        Ok(Some(collector.fields))
    }
}

/// Takes fields; lists become text.
struct Collector<'s> {
    strings: &'s mut Strings,
    fields: Vec<TraceValue>,
    /// The list at hand: its name and its items so far.
    list: Option<(StrId, String)>,
}

impl Fields for Collector<'_> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        if let Some((_, items)) = &mut self.list {
            if !items.is_empty() {
                items.push_str(", ");
            }
            items.push_str(&text_of(value));
            return;
        }
        let value = match value {
            Value::Unsigned(number) => FieldValue::Unsigned(number),
            Value::Signed(number) => FieldValue::Signed(number),
            Value::Hex(number) => FieldValue::Hex(number),
            other => FieldValue::Text(self.strings.intern(&text_of(other))),
        };
        let name = self.strings.intern(name);
        self.fields.push(TraceValue { name, value });
    }

    fn open(&mut self, name: &str, _shape: Shape) {
        self.list = Some((self.strings.intern(name), String::new()));
    }

    fn close(&mut self) {
        if let Some((name, items)) = self.list.take() {
            let value = FieldValue::Text(self.strings.intern(&items));
            self.fields.push(TraceValue { name, value });
        }
    }
}

fn text_of(value: Value<'_>) -> String {
    match value {
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Hex(number) | Value::Bits { value: number, .. } => format!("{number:#x}"),
        Value::Float(number) => number.to_string(),
        Value::Bool(is_so) => is_so.to_string(),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_become_text_and_numbers_stay_numbers() {
        let mut strings = Strings::default();
        let mut collector = Collector {
            strings: &mut strings,
            fields: Vec::new(),
            list: None,
        };
        collector.field("n", Value::Signed(-3));
        collector.open("set", Shape::List);
        collector.field("", Value::Unsigned(1));
        collector.field("", Value::Hex(16));
        collector.close();
        collector.field("text", Value::Text(b"a\xff"));
        let fields = collector.fields;
        let text = |at: usize| match fields[at].value {
            FieldValue::Text(id) => strings.of(id).into_raw(),
            _ => panic!("{:?}", fields[at]),
        };
        assert_eq!(fields[0].value, FieldValue::Signed(-3));
        assert_eq!(text(1), "1, 0x10");
        assert_eq!(text(2), "a\u{fffd}");
        assert_eq!(strings.of(fields[1].name).into_raw(), "set");
    }
}
