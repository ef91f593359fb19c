//! JSON as a stream: commas, colons and escapes come by themselves, and what was written is not kept.
//!
//! Objects and lists are closures, so each one that is begun is ended:
//!
//! ```
//! use rprof_untrusted::{JsonWriter, JsonLayout};
//!
//! let mut json = JsonWriter::in_memory(JsonLayout::Compact);
//! json.object(|json| {
//!     json.field("name", "a \"b\"");
//!     json.column("counts", [1, 2], JsonWriter::number);
//! });
//! assert_eq!(json.into_text(), br#"{"name":"a \"b\"","counts":[1,2]}"#);
//! ```

mod layout;
mod scalar;

use crate::Untrusted;
use layout::Before;
pub use layout::{JsonContainer, JsonLayout};
pub use scalar::JsonScalar;
use std::io::{self, Write};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// A writer of JSON, one value after the other.
pub struct JsonWriter<'w> {
    /// Text that `out` has not got yet; all text, if there is no `out`.
    text: Vec<u8>,
    out: Option<&'w mut dyn Write>,
    failed: Option<io::Error>,
    layout: JsonLayout,
    before: Before,
    /// Objects and lists that are open.
    depth: usize,
}

impl std::fmt::Debug for JsonWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Json")
            .field("layout", &self.layout)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

impl<'w> JsonWriter<'w> {
    /// Writes to `out`, some 64 KiB at a time; [`JsonWriter::finish`] writes the rest.
    pub fn new(out: &'w mut dyn Write, layout: JsonLayout) -> Self {
        Self {
            out: Some(out),
            ..Self::after(Vec::with_capacity(2 * BUFFER), layout)
        }
    }

    /// Collects the text, for [`JsonWriter::into_text`].
    pub fn in_memory(layout: JsonLayout) -> Self {
        Self::after(Vec::new(), layout)
    }

    /// Appends to a text, for [`JsonWriter::into_text`].
    pub fn after(text: Vec<u8>, layout: JsonLayout) -> Self {
        Self {
            text,
            out: None,
            failed: None,
            layout,
            before: Before::Nothing,
            depth: 0,
        }
    }

    /// The text, as far as it has not been written.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// The first one of the writer. After it, nothing more was written.
    pub fn finish(mut self) -> io::Result<()> {
        self.pass_on();
        self.failed.map_or(Ok(()), Err)
    }

    fn pass_on(&mut self) {
        if let Some(out) = &mut self.out {
            if self.failed.is_none() {
                self.failed = out.write_all(&self.text).err();
            }
            self.text.clear();
        }
    }

    fn begin_value(&mut self) {
        let before = std::mem::replace(&mut self.before, Before::Value);
        if before == Before::Value {
            self.text.push(b',');
        }
        match (self.layout, before) {
            (JsonLayout::Spaced, Before::Value) => self.text.push(b' '),
            (JsonLayout::Indented, Before::Value | Before::Bracket) => self.indent(),
            _ => {}
        }
        if self.text.len() >= BUFFER {
            self.pass_on();
        }
    }

    fn indent(&mut self) {
        self.text.push(b'\n');
        self.text.extend(std::iter::repeat_n(b' ', 2 * self.depth));
    }

    /// Begins an object or a list, for [`JsonWriter::close`]. [`JsonWriter::object`] and [`JsonWriter::list`] do both.
    pub fn open(&mut self, container: JsonContainer) {
        self.begin_value();
        self.text.push(match container {
            JsonContainer::Object => b'{',
            JsonContainer::List => b'[',
        });
        self.before = Before::Bracket;
        self.depth += 1;
    }

    /// Ends what [`JsonWriter::open`] began last.
    pub fn close(&mut self, container: JsonContainer) {
        self.depth = self.depth.saturating_sub(1);
        if self.layout == JsonLayout::Indented && self.before == Before::Value {
            self.indent();
        }
        self.text.push(match container {
            JsonContainer::Object => b'}',
            JsonContainer::List => b']',
        });
        self.before = Before::Value;
    }

    /// Writes an object, whose fields `write` writes.
    pub fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.open(JsonContainer::Object);
        write(self);
        self.close(JsonContainer::Object);
    }

    /// Writes a list, whose items `write` writes.
    pub fn list(&mut self, write: impl FnOnce(&mut Self)) {
        self.open(JsonContainer::List);
        write(self);
        self.close(JsonContainer::List);
    }

    /// Writes the name of the field whose value comes next.
    pub fn key(&mut self, name: &str) -> &mut Self {
        self.text(name);
        self.text.extend_from_slice(match self.layout {
            JsonLayout::Compact => b":",
            JsonLayout::Spaced => b" : ",
            JsonLayout::Indented => b": ",
        });
        self.before = Before::Nothing;
        self
    }

    /// Writes a field.
    pub fn field<'v>(&mut self, name: &str, value: impl Into<JsonScalar<'v>>) {
        self.key(name).value(value);
    }

    /// Writes a field, if it has a value.
    pub fn field_if<'v>(&mut self, name: &str, value: Option<impl Into<JsonScalar<'v>>>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }

    /// Writes a field with a list of values, each written by `write`.
    pub fn column<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Self, T),
    ) {
        self.key(name)
            .list(|json| values.into_iter().for_each(|value| write(json, value)));
    }

    /// Writes a value that has no parts.
    pub fn value<'v>(&mut self, value: impl Into<JsonScalar<'v>>) {
        value.into().write(self);
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) {
        self.begin_value();
        self.text.push(b'"');
        scalar::escape(text, &mut self.text);
        self.text.push(b'"');
    }

    /// Writes a string of bytes, in which U+FFFD stands for what is not UTF-8.
    pub fn text_of_bytes(&mut self, text: &[u8]) {
        self.text(Untrusted::of_bytes(text).raw());
    }

    /// Writes a string of hexadecimal digits, two for each byte.
    pub fn hex_bytes(&mut self, bytes: &[u8]) {
        self.begin_value();
        self.text.push(b'"');
        for &byte in bytes {
            self.text.extend(scalar::hex_digits(byte));
        }
        self.text.push(b'"');
    }

    /// Writes an address or mask as a string: `"0x7f00"`.
    pub fn hex(&mut self, value: u64) {
        self.begin_value();
        self.text.extend_from_slice(b"\"0x");
        scalar::hex(value, &mut self.text);
        self.text.push(b'"');
    }

    /// Writes a value as it is: the caller knows that it is JSON.
    pub fn literal(&mut self, literal: &str) {
        self.begin_value();
        self.text.extend_from_slice(literal.as_bytes());
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.literal(if value { "true" } else { "false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.literal("null");
    }

    /// Writes a number to its last digit.
    pub fn number(&mut self, value: u64) {
        self.begin_value();
        scalar::decimal(value, &mut self.text);
    }

    /// Writes a number to its last digit.
    pub fn signed(&mut self, value: i64) {
        self.begin_value();
        if value < 0 {
            self.text.push(b'-');
        }
        scalar::decimal(value.unsigned_abs(), &mut self.text);
    }

    /// Writes a number with the digits that it needs to be read as the same one; `null` if it is not finite.
    pub fn float(&mut self, value: f64) {
        self.begin_value();
        scalar::float(value, &mut self.text);
    }

    /// Writes a number, or `null`.
    pub fn maybe(&mut self, value: Option<u64>) {
        self.value(value);
    }

    /// Writes nanoseconds as milliseconds, to the last digit.
    pub fn millis(&mut self, nanos: u64) {
        self.begin_value();
        scalar::millis(nanos, &mut self.text);
    }

    /// Writes values of a list that were made before: `append` appends them with a comma behind each.
    pub fn made_before(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        append(&mut self.text);
        if self.text.len() > start {
            self.text.pop();
            self.before = Before::Value;
        }
    }

    /// Begins a line, on which the next value or field is.
    pub fn begin_line(&mut self) {
        self.begin_value();
        self.text.push(b'\n');
        self.before = Before::Nothing;
    }

    /// Ends a line. Between lines with a whole value each, there are no commas.
    pub fn end_line(&mut self) {
        self.text.push(b'\n');
        if self.depth == 0 {
            self.before = Before::Nothing;
        }
    }
}

#[cfg(test)]
mod tests;
