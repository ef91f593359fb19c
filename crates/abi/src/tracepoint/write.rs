//! Writes samples: by the `print fmt`, field by field, or to a visitor.

use super::data::{TracepointData, TracepointNames, Writer, until_nul};
use super::field::{FieldPlace, TracepointField};
use super::format::TracepointFormat;
use super::pieces::Piece;
use super::printf::{Amount, Radix, Spec, decimal, hex_0x, hex_byte};
use super::text::printable;
use super::types::IntType;
use crate::{Fields, Shape, Value};

impl TracepointFormat {
    /// Appends what `perf script` prints after the event's name. Without a usable `print fmt`
    /// that is perf's mark of it and every field.
    pub fn print(&self, data: &TracepointData<'_>, names: &dyn TracepointNames, out: &mut Vec<u8>) {
        let Ok(pieces) = &self.pieces else {
            out.extend_from_slice(b"[FAILED TO PARSE]");
            return self.print_fields(data, out);
        };
        let writer = Writer { data, names };
        for piece in pieces {
            writer.piece(piece, out);
        }
    }

    /// Appends ` name=value` for each field of its own.
    pub fn print_fields(&self, data: &TracepointData<'_>, out: &mut Vec<u8>) {
        for field in &self.fields {
            out.push(b' ');
            out.extend_from_slice(field.name.as_bytes());
            out.push(b'=');
            print_field(data, field.place, out);
        }
    }

    /// Tells the fields of its own, with values, in the format's order.
    pub fn visit(&self, data: &TracepointData<'_>, fields: &mut dyn Fields) {
        for field in &self.fields {
            visit_field(data, field, fields);
        }
    }
}

impl Writer<'_> {
    fn piece(&self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Literal(text) => out.extend_from_slice(text),
            Piece::Number { spec, radix, value } => {
                spec.number(value.number(self.data).bits, *radix, self.data, out);
            }
            Piece::Character { spec, value } => {
                let start = out.len();
                let [byte, ..] = value.number(self.data).bits.to_le_bytes();
                out.push(byte);
                spec.layout(self.data).fit(start, out);
            }
            Piece::Text { spec, value } => {
                let start = out.len();
                self.text(value, out);
                spec.layout(self.data).fit(start, out);
            }
            Piece::Pointer { spec, kind, value } => self.pointer(*kind, spec, value, out),
        }
    }
}

/// A value without `print fmt`.
///
/// Source: print_field_raw() in libtraceevent's src/event-parse.c (commit 030cc9b55ca0).
fn print_field(data: &TracepointData<'_>, place: FieldPlace, out: &mut Vec<u8>) {
    if place.is_array {
        match printable(data, place) {
            Some(text) => out.extend_from_slice(text),
            None => print_bytes(data.region(place), out),
        }
        return;
    }
    let value = data.unsigned(place.offset, place.size).unwrap_or(0);
    if place.is_pointer || place.is_long && !(place.is_signed && place.size == 8) {
        return hex_0x(value, out);
    }
    if !place.is_signed {
        return decimal(value, out);
    }
    let mut spec = Spec {
        size: u8::try_from(place.size).unwrap_or(8),
        ..Spec::default()
    };
    if place.size == 2 {
        spec.width = Amount::Fixed(2);
    }
    spec.number(value, Radix::Signed, data, out);
}

fn print_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"ARRAY[");
    for (nth, &byte) in bytes.iter().enumerate() {
        if nth > 0 {
            out.extend_from_slice(b", ");
        }
        hex_byte(byte, out);
    }
    out.push(b']');
}

fn visit_field(data: &TracepointData<'_>, field: &TracepointField, fields: &mut dyn Fields) {
    let place = field.place;
    let name = &field.name;
    if !place.is_array {
        let value = number(data, place, place.offset, place.size);
        return fields.field(name, value.unwrap_or(Value::Bytes(data.region(place))));
    }
    let bytes = data.region(place);
    if place.is_text {
        return fields.field(name, Value::Text(until_nul(bytes)));
    }
    if !matches!(place.element_len, 2 | 4 | 8) {
        return fields.field(name, Value::Bytes(bytes));
    }
    let elements = TracepointData { bytes, ..*data };
    fields.open(name, Shape::List);
    for at in (0..bytes.len()).step_by(place.element_len) {
        if let Some(value) = number(&elements, place, at, place.element_len) {
            fields.field("", value);
        }
    }
    fields.close();
}

/// The number at an offset, as its field is meant to be read.
fn number(
    data: &TracepointData<'_>,
    place: FieldPlace,
    offset: usize,
    len: usize,
) -> Option<Value<'static>> {
    let bits = data.unsigned(offset, len)?;
    let size = u8::try_from(len).ok()?;
    Some(match place {
        FieldPlace {
            is_pointer: true, ..
        } => Value::Hex(bits),
        FieldPlace {
            is_signed: true, ..
        } => {
            let is_signed = true;
            let value = IntType { size, is_signed }.truncate(bits, size);
            Value::Signed(value.cast_signed())
        }
        _ => Value::Unsigned(bits),
    })
}
