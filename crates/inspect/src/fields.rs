//! Named fields as JSON and as readable text.

use rprof_abi::{Fields, Shape, Value};
use rprof_untrusted::{JsonContainer, JsonLayout, JsonWriter, Untrusted, printable};
use std::io::Write;

/// Bytes that text shows before it only counts them.
const SHOWN_BYTES: usize = 32;

/// Writes fields as one JSON object.
///
/// Counts, sizes, ids and times are numbers; addresses, words and masks strings such as
/// `"0x7f00"`; bytes strings of hexadecimal digits; words whose bits have names lists of those,
/// with what has no name as one more string; text that is not UTF-8 has U+FFFD where it is not.
#[derive(Debug)]
pub struct JsonFields {
    json: JsonWriter<'static>,
    /// What is open.
    open: Vec<Shape>,
}

impl JsonFields {
    /// Starts an object.
    pub fn new() -> Self {
        let mut fields = Self {
            json: JsonWriter::in_memory(JsonLayout::Compact),
            open: Vec::new(),
        };
        fields.open("", Shape::Object);
        fields
    }

    /// A line of JSON: one object with the fields that `visit` says.
    pub fn line(visit: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut fields = Self::new();
        visit(&mut fields);
        let mut text = fields.finish();
        text.push(b'\n');
        text
    }

    /// Ends the object, and all that is open in it.
    pub fn finish(mut self) -> Vec<u8> {
        while !self.open.is_empty() {
            self.close();
        }
        self.json.into_text()
    }

    fn name(&mut self, name: &str) {
        if self.open.last() == Some(&Shape::Object) {
            self.json.key(name);
        }
    }
}

fn bits(json: &mut JsonWriter<'_>, value: u64, names: &[(u64, &'static str)]) {
    let mut rest = value;
    json.list(|json| {
        for &(bit, name) in names.iter().filter(|(bit, _)| value & bit != 0) {
            json.text(name);
            rest &= !bit;
        }
        if rest != 0 {
            json.hex(rest);
        }
    });
}

fn container(shape: Shape) -> JsonContainer {
    match shape {
        Shape::Object => JsonContainer::Object,
        Shape::List => JsonContainer::List,
    }
}

impl Default for JsonFields {
    fn default() -> Self {
        Self::new()
    }
}

impl Fields for JsonFields {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.name(name);
        match value {
            Value::Unsigned(number) => self.json.number(number),
            Value::Signed(number) => self.json.signed(number),
            Value::Float(number) if number.is_finite() => self.json.literal(&number.to_string()),
            Value::Hex(number) => self.json.hex(number),
            Value::Bool(is_so) => self.json.boolean(is_so),
            Value::Text(text) => self.json.text_of_bytes(text),
            Value::Bytes(bytes) => self.json.hex_bytes(bytes),
            Value::Bits { value, names } => bits(&mut self.json, value, names),
            _ => self.json.null(),
        }
    }

    fn open(&mut self, name: &str, shape: Shape) {
        self.name(name);
        self.json.open(container(shape));
        self.open.push(shape);
    }

    fn close(&mut self) {
        if let Some(shape) = self.open.pop() {
            self.json.close(container(shape));
        }
    }
}

/// Writes fields on one line: `pid 7, callchain [0x1, 0x2]`.
#[derive(Debug, Default)]
pub struct TextFields {
    out: Vec<u8>,
    open: Vec<Shape>,
    is_begun: bool,
}

impl TextFields {
    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn name(&mut self, name: &str) {
        if std::mem::replace(&mut self.is_begun, true) {
            self.out.extend_from_slice(b", ");
        }
        if !name.is_empty() {
            self.out.extend_from_slice(printable(name).as_bytes());
            self.out.push(b' ');
        }
    }
}

impl Fields for TextFields {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.name(name);
        value_text(value, &mut self.out);
    }

    fn open(&mut self, name: &str, shape: Shape) {
        self.name(name);
        self.out.push(match shape {
            Shape::Object => b'{',
            Shape::List => b'[',
        });
        self.open.push(shape);
        self.is_begun = false;
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Shape::Object) => self.out.push(b'}'),
            Some(Shape::List) => self.out.push(b']'),
            None => {}
        }
        self.is_begun = true;
    }
}

/// A value as people read it.
fn value_text(value: Value<'_>, out: &mut Vec<u8>) {
    let _ = match value {
        Value::Unsigned(number) => write!(out, "{number}"),
        Value::Signed(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{number}"),
        Value::Hex(number) => write!(out, "{number:#x}"),
        Value::Bool(true) => write!(out, "yes"),
        Value::Bool(false) => write!(out, "no"),
        Value::Text(text) => write!(out, "{}", Untrusted::of_bytes(text)),
        Value::Bytes(bytes) => {
            let shown = bytes.get(..SHOWN_BYTES).unwrap_or(bytes);
            hex(shown, out);
            match bytes.len() - shown.len() {
                0 => Ok(()),
                more => write!(out, "... and {more} bytes"),
            }
        }
        Value::Bits { value, names } => {
            let mut rest = value;
            let mut sep = "";
            for &(bit, name) in names.iter().filter(|(bit, _)| value & bit != 0) {
                let _ = write!(out, "{sep}{name}");
                sep = "|";
                rest &= !bit;
            }
            if rest != 0 || sep.is_empty() {
                write!(out, "{sep}{rest:#x}")
            } else {
                Ok(())
            }
        }
        _ => write!(out, "?"),
    };
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Writes fields as an indented outline, one line a value. An item of a list that is short and
/// holds nothing but values is a line.
#[derive(Debug, Default)]
pub struct OutlineFields {
    out: Vec<u8>,
    /// What is open: shape, and the number of the next item.
    open: Vec<(Shape, usize)>,
    /// The item of a list that is being written, as long as it may become a line.
    item: Option<Item>,
}

/// An item of a list as a line.
#[derive(Debug)]
struct Item {
    /// Where its outline begins.
    start: usize,
    number: usize,
    depth: usize,
    line: TextFields,
}

/// Longest line of an item.
const ITEM_WIDTH: usize = 140;

impl OutlineFields {
    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn indent(&mut self, depth: usize) {
        self.out.extend(std::iter::repeat_n(b' ', 2 * depth));
    }

    /// Begins a line; returns the number of the item, if it is one.
    fn line(&mut self, name: &str) -> Option<usize> {
        self.indent(self.open.len());
        let number = match self.open.last_mut() {
            Some((Shape::List, next)) => {
                *next += 1;
                Some(*next - 1)
            }
            _ => None,
        };
        let _ = match number {
            Some(number) => write!(self.out, "{number}: "),
            None => write!(self.out, "{}: ", printable(name)),
        };
        number
    }
}

impl Fields for OutlineFields {
    fn field(&mut self, name: &str, value: Value<'_>) {
        if let Some(item) = &mut self.item {
            item.line.field(name, value);
        }
        self.line(name);
        value_text(value, &mut self.out);
        self.out.push(b'\n');
    }

    fn open(&mut self, name: &str, shape: Shape) {
        let start = self.out.len();
        let number = self.line(name);
        self.out.pop();
        self.out.push(b'\n');
        self.item = match (number, shape) {
            (Some(number), Shape::Object) => Some(Item {
                start,
                number,
                depth: self.open.len(),
                line: TextFields::default(),
            }),
            _ => None,
        };
        self.open.push((shape, 0));
    }

    fn close(&mut self) {
        self.open.pop();
        let Some(item) = self.item.take() else {
            return;
        };
        let line = item.line.finish();
        if line.len() <= ITEM_WIDTH {
            self.out.truncate(item.start);
            self.indent(item.depth);
            let _ = write!(self.out, "{}: ", item.number);
            self.out.extend_from_slice(&line);
            self.out.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(fields: &mut dyn Fields) {
        fields.field("time_ns", Value::Unsigned(u64::MAX));
        fields.field("pid", Value::Signed(-1));
        fields.field("addr", Value::Hex(0x7f00));
        fields.field("name", Value::Text(b"a\"\xff\x1b"));
        fields.field("tag", Value::Bytes(&[1, 0xab]));
        let names = [(1, "IP"), (2, "TID")];
        fields.field(
            "bits",
            Value::Bits {
                value: 9,
                names: &names,
            },
        );
        fields.field("scale", Value::Float(f64::NAN));
        fields.list("list", [1, 2], |fields, item| {
            fields.object("", |fields| fields.field("x", Value::Unsigned(item)));
        });
    }

    #[test]
    fn json_is_json_whatever_is_said() {
        let mut json = JsonFields::new();
        say(&mut json);
        let text = String::from_utf8(json.finish()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["time_ns"], u64::MAX);
        assert_eq!(value["addr"], "0x7f00");
        assert_eq!(value["name"], "a\"\u{fffd}\u{1b}");
        assert_eq!(value["bits"], serde_json::json!(["IP", "0x8"]));
        assert_eq!(value["scale"], serde_json::Value::Null);
        assert_eq!(value["list"][1]["x"], 2);
    }

    #[test]
    fn text_is_one_line() {
        let mut text = TextFields::default();
        say(&mut text);
        let text = String::from_utf8(text.finish()).unwrap();
        let expected = "time_ns 18446744073709551615, pid -1, addr 0x7f00, name a\"\u{fffd}\\x1b, \
                        tag 01ab, bits IP|0x8, scale NaN, list [{x 1}, {x 2}]";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_outline_is_indented() {
        let mut outline = OutlineFields::default();
        let fields: &mut dyn Fields = &mut outline;
        fields.object("cpu", |fields| {
            fields.list("ids", [7, 8], |fields, id| {
                fields.field("", Value::Unsigned(id))
            });
        });
        let text = String::from_utf8(outline.finish()).unwrap();
        assert_eq!(text, "cpu:\n  ids:\n    0: 7\n    1: 8\n");
    }

    #[test]
    fn a_short_item_of_a_list_is_a_line() {
        let mut outline = OutlineFields::default();
        let fields: &mut dyn Fields = &mut outline;
        fields.list("kinds", ["MMAP", "COMM"], |fields, kind| {
            fields.object("", |fields| {
                fields.field("kind", Value::Text(kind.as_bytes()));
                fields.field("count", Value::Unsigned(1));
            });
        });
        fields.list("events", [1], |fields, id| {
            fields.object("", |fields| {
                fields.object("attr", |fields| fields.field("id", Value::Unsigned(id)));
            });
        });
        let text = String::from_utf8(outline.finish()).unwrap();
        let expected = "kinds:\n  0: kind MMAP, count 1\n  1: kind COMM, count 1\n\
                        events:\n  0:\n    attr:\n      id: 1\n";
        assert_eq!(text, expected);
    }
}
