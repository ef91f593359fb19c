//! JSON as a stream: what is written is never in memory as a whole.

use std::io::{self, Write};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// Writes values one after the other; commas and colons come by themselves.
pub(crate) struct Json<'w> {
    out: &'w mut dyn Write,
    buffer: Vec<u8>,
    /// Whether nothing stands before the next value in its list or object, or a key does.
    is_first: bool,
    failed: Option<io::Error>,
}

impl<'w> Json<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(2 * BUFFER),
            is_first: true,
            failed: None,
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush();
        match self.failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn flush(&mut self) {
        // After an error nothing is written any more.
        if self.failed.is_none() {
            self.failed = self.out.write_all(&self.buffer).err();
        }
        self.buffer.clear();
    }

    fn before(&mut self) {
        if !self.is_first {
            self.buffer.push(b',');
        }
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
        self.is_first = false;
    }

    fn open(&mut self, bracket: u8) {
        self.before();
        self.buffer.push(bracket);
        self.is_first = true;
    }

    fn close(&mut self, bracket: u8) {
        self.buffer.push(bracket);
        self.is_first = false;
    }

    /// An object, whose fields `write` writes.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.open(b'{');
        write(self);
        self.close(b'}');
    }

    /// A list, whose items `write` writes.
    pub(crate) fn list(&mut self, write: impl FnOnce(&mut Self)) {
        self.open(b'[');
        write(self);
        self.close(b']');
    }

    /// The name of the field whose value comes next.
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.text(name);
        self.buffer.push(b':');
        self.is_first = true;
        self
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.before();
        // Into memory nothing can fail.
        let _ = serde_json::to_writer(&mut self.buffer, text);
    }

    pub(crate) fn literal(&mut self, literal: &str) {
        self.before();
        self.buffer.extend_from_slice(literal.as_bytes());
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.literal(if value { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self) {
        self.literal("null");
    }

    pub(crate) fn number(&mut self, value: u64) {
        self.before();
        decimal(&mut self.buffer, value);
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.before();
        if value < 0 {
            self.buffer.push(b'-');
        }
        decimal(&mut self.buffer, value.unsigned_abs());
    }

    /// A number, or null.
    pub(crate) fn maybe(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.number(value),
            None => self.null(),
        }
    }

    /// Nanoseconds as milliseconds, to the last digit.
    pub(crate) fn millis(&mut self, nanos: u64) {
        self.before();
        decimal(&mut self.buffer, nanos / 1_000_000);
        let mut rest = nanos % 1_000_000;
        if rest == 0 {
            return;
        }
        self.buffer.push(b'.');
        let mut unit = 100_000;
        while rest > 0 {
            self.buffer.push(digit(rest / unit));
            rest %= unit;
            unit /= 10;
        }
    }

    /// A field with a list of values, each written by `write`.
    pub(crate) fn column<T>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
        write: impl Fn(&mut Self, T),
    ) {
        self.key(name)
            .list(|json| values.into_iter().for_each(|value| write(json, value)));
    }
}

fn digit(value: u64) -> u8 {
    b'0' + u8::try_from(value % 10).unwrap_or(0)
}

fn decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = digit(value);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Json<'_>)) -> String {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        write(&mut json);
        json.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn commas_stand_between_values_only() {
        let text = written(|json| {
            json.object(|json| {
                json.key("a").list(|json| {
                    json.number(1);
                    json.null();
                    json.list(|_| {});
                });
                json.key("b").object(|_| {});
                json.key("c\n\"").text("\u{1}é");
            });
        });
        assert_eq!(
            text,
            "{\"a\":[1,null,[]],\"b\":{},\"c\\n\\\"\":\"\\u0001é\"}"
        );
    }

    #[test]
    fn numbers_are_exact() {
        let text = written(|json| {
            json.list(|json| {
                json.number(u64::MAX);
                json.number(0);
                json.signed(i64::MIN);
                for nanos in [0, 1, 1_000_000, 1_500_000, 1_000_010, u64::MAX] {
                    json.millis(nanos);
                }
            });
        });
        assert_eq!(
            text,
            "[18446744073709551615,0,-9223372036854775808,0,0.000001,1,1.5,1.00001,18446744073709.551615]"
        );
    }

    #[test]
    fn an_error_of_the_writer_is_told_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut full = Full;
        let mut json = Json::new(&mut full);
        json.list(|json| (0..100_000).for_each(|n| json.number(n)));
        assert_eq!(
            json.finish().unwrap_err().kind(),
            io::ErrorKind::StorageFull
        );
    }
}
