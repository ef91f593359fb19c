//! Values without parts: numbers to their last digit, and strings with escapes.

use super::JsonWriter;
use std::borrow::Cow;
use std::io::Write;

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonScalar<'v> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that is not negative.
    Unsigned(u64),
    /// A number.
    Signed(i64),
    /// A number; `null` if it is not finite.
    Float(f64),
    /// A string.
    Text(Cow<'v, str>),
}

impl JsonScalar<'_> {
    pub(super) fn write(&self, json: &mut JsonWriter<'_>) {
        match self {
            Self::Null => json.null(),
            Self::Bool(value) => json.boolean(*value),
            Self::Unsigned(value) => json.number(*value),
            Self::Signed(value) => json.signed(*value),
            Self::Float(value) => json.float(*value),
            Self::Text(text) => json.text(text),
        }
    }
}

macro_rules! scalars {
    ($($type:ty => $variant:ident;)*) => {$(
        impl<'v> From<$type> for JsonScalar<'v> {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

scalars! {
    bool => Bool;
    u32 => Unsigned;
    u64 => Unsigned;
    i64 => Signed;
    f64 => Float;
    &'v str => Text;
    &'v String => Text;
    String => Text;
    Cow<'v, str> => Text;
}

impl From<usize> for JsonScalar<'_> {
    fn from(value: usize) -> Self {
        Self::Unsigned(value as u64)
    }
}

/// `null`, if there is no value.
impl<T: Into<Self>> From<Option<T>> for JsonScalar<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, T::into)
    }
}

/// Appends what a string has between its quotation marks.
pub(super) fn escape(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            0x0c => b'f',
            b'\r' => b'r',
            0..0x20 => b'u',
            _ => continue,
        };
        out.extend_from_slice(&bytes[start..at]);
        out.extend_from_slice(&[b'\\', escape]);
        if escape == b'u' {
            out.extend_from_slice(b"00");
            out.extend_from_slice(&hex_digits(byte));
        }
        start = at + 1;
    }
    out.extend_from_slice(&bytes[start..]);
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

pub(super) fn hex_digits(byte: u8) -> [u8; 2] {
    [byte >> 4, byte & 15].map(|digit| HEX_DIGITS[usize::from(digit)])
}

/// Appends a number in hexadecimal, without zeros before it.
pub(super) fn hex(value: u64, out: &mut Vec<u8>) {
    let digits = value.to_be_bytes().map(hex_digits);
    let digits = digits.as_flattened();
    let first = digits.iter().position(|&digit| digit != b'0');
    out.extend_from_slice(&digits[first.unwrap_or(digits.len() - 1)..]);
}

fn digit(value: u64) -> u8 {
    b'0' + u8::try_from(value % 10).unwrap_or(0)
}

pub(super) fn decimal(mut value: u64, out: &mut Vec<u8>) {
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

/// Appends nanoseconds as milliseconds, without zeros at the end.
pub(super) fn millis(nanos: u64, out: &mut Vec<u8>) {
    decimal(nanos / 1_000_000, out);
    let mut rest = nanos % 1_000_000;
    if rest == 0 {
        return;
    }
    out.push(b'.');
    let mut unit = 100_000;
    while rest > 0 {
        out.push(digit(rest / unit));
        rest %= unit;
        unit /= 10;
    }
}

/// Appends `1.0`, `0.25`, `1e+16` or `1e-6`: always with a sign that it is no integer.
pub(super) fn float(value: f64, out: &mut Vec<u8>) {
    let size = value.abs();
    // Into memory nothing can fail.
    let _ = if !value.is_finite() {
        out.write_all(b"null")
    } else if size != 0.0 && !(1e-5..1e16).contains(&size) {
        let text = format!("{value:e}");
        let sign = if size < 1.0 { "e" } else { "e+" };
        out.write_all(text.replace('e', sign).as_bytes())
    } else if value.fract() == 0.0 {
        write!(out, "{value:.1}")
    } else {
        write!(out, "{value}")
    };
}
