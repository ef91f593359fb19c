//! Named fields as JSON and as readable text.

use super::printable;
use rprof_abi::{Fields, Shape, Value};
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
    out: Vec<u8>,
    /// What is open, and whether something is in it already.
    open: Vec<(Shape, bool)>,
}

impl JsonFields {
    /// Starts an object.
    pub fn new() -> Self {
        Self {
            out: vec![b'{'],
            open: vec![(Shape::Object, false)],
        }
    }

    /// Ends the object, and all that is open in it.
    pub fn finish(mut self) -> Vec<u8> {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn name(&mut self, name: &str) {
        let Some((shape, is_begun)) = self.open.last_mut() else {
            return;
        };
        if std::mem::replace(is_begun, true) {
            self.out.push(b',');
        }
        if *shape == Shape::Object {
            self.string(name);
            self.out.push(b':');
        }
    }

    fn string(&mut self, text: &str) {
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut self.out, text);
    }

    fn bits(&mut self, value: u64, names: &[(u64, &'static str)]) {
        self.out.push(b'[');
        let mut rest = value;
        let mut sep = "";
        for &(bit, name) in names.iter().filter(|(bit, _)| value & bit != 0) {
            let _ = write!(self.out, "{sep}\"{name}\"");
            sep = ",";
            rest &= !bit;
        }
        if rest != 0 {
            let _ = write!(self.out, "{sep}\"{rest:#x}\"");
        }
        self.out.push(b']');
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
        let _ = match value {
            Value::Unsigned(number) => write!(self.out, "{number}"),
            Value::Signed(number) => write!(self.out, "{number}"),
            Value::Float(number) if number.is_finite() => write!(self.out, "{number}"),
            Value::Hex(number) => write!(self.out, "\"{number:#x}\""),
            Value::Bool(is_so) => write!(self.out, "{is_so}"),
            Value::Text(text) => {
                self.string(&String::from_utf8_lossy(text));
                Ok(())
            }
            Value::Bytes(bytes) => {
                self.out.push(b'"');
                hex(bytes, &mut self.out);
                self.out.push(b'"');
                Ok(())
            }
            Value::Bits { value, names } => {
                self.bits(value, names);
                Ok(())
            }
            _ => write!(self.out, "null"),
        };
    }

    fn open(&mut self, name: &str, shape: Shape) {
        self.name(name);
        self.out.push(match shape {
            Shape::Object => b'{',
            Shape::List => b'[',
        });
        self.open.push((shape, false));
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some((Shape::Object, _)) => self.out.push(b'}'),
            Some((Shape::List, _)) => self.out.push(b']'),
            None => {}
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
            self.out.extend_from_slice(name.as_bytes());
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
        Value::Text(text) => {
            let text = String::from_utf8_lossy(text);
            write!(out, "{}", printable(&text))
        }
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
            match rest != 0 || sep.is_empty() {
                true => write!(out, "{sep}{rest:#x}"),
                false => Ok(()),
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

/// Writes fields as an indented outline, one line a value; a list of plain values on one line.
#[derive(Debug, Default)]
pub struct OutlineFields {
    out: Vec<u8>,
    depth: usize,
    /// What is open: shape, and the number of the next item.
    open: Vec<(Shape, usize)>,
}

impl OutlineFields {
    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    fn line(&mut self, name: &str) {
        let number = match self.open.last_mut() {
            Some((Shape::List, next)) => {
                *next += 1;
                Some(*next - 1)
            }
            _ => None,
        };
        self.out.extend(std::iter::repeat_n(b' ', 2 * self.depth));
        match number {
            Some(number) => {
                let _ = write!(self.out, "{number}: ");
            }
            None => {
                let _ = write!(self.out, "{name}: ");
            }
        }
    }
}

impl Fields for OutlineFields {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.line(name);
        value_text(value, &mut self.out);
        self.out.push(b'\n');
    }

    fn open(&mut self, name: &str, shape: Shape) {
        self.line(name);
        self.out.pop();
        self.out.push(b'\n');
        self.depth += 1;
        self.open.push((shape, 0));
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.open.pop();
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
}
