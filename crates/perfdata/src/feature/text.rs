//! Strings as perf stores them: a `u32` length that includes zero padding to 64 bytes.

use super::section::Section;
use rprof_abi::format::FieldFormat;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

const NAME_ALIGN: usize = 64;

/// Appends one string.
pub fn encode_string(text: &[u8], encoder: &mut Encoder<'_>) {
    let padded = (text.len() + 1).next_multiple_of(NAME_ALIGN);
    encoder.u32(u32::try_from(padded).unwrap_or(u32::MAX));
    encoder.bytes(text);
    encoder.bytes(&vec![0; padded - text.len()]);
}

/// Appends a counted list of strings.
pub fn encode_strings<'a>(
    texts: impl ExactSizeIterator<Item = &'a [u8]>,
    encoder: &mut Encoder<'_>,
) {
    encoder.count(texts.len());
    for text in texts {
        encode_string(text, encoder);
    }
}

pub(super) fn take_string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], WireError> {
    let len = cursor.u32("string length")?;
    let bytes = cursor.bytes(u64::from(len), "string")?;
    Ok(Cursor::new(bytes, cursor.endian()).c_str())
}

/// Takes a string for keeping.
pub(super) fn take_owned(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, WireError> {
    take_string(cursor).map(<[u8]>::to_vec)
}

/// A string of a described struct.
#[derive(Debug)]
pub(super) struct PerfString;

impl FieldFormat<'_, Vec<u8>> for PerfString {
    const MIN_LEN: usize = 4;

    fn parse(cursor: &mut Cursor<'_>, _: &'static str) -> Result<Vec<u8>, WireError> {
        take_owned(cursor)
    }

    fn visit(value: &Vec<u8>, name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Text(value));
    }

    fn encode(value: &Vec<u8>, encoder: &mut Encoder<'_>) {
        encode_string(value, encoder);
    }
}

impl FieldFormat<'_, String> for PerfString {
    const MIN_LEN: usize = 4;

    fn parse(cursor: &mut Cursor<'_>, _: &'static str) -> Result<String, WireError> {
        take_text(cursor)
    }

    fn visit(value: &String, name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Text(value.as_bytes()));
    }

    fn encode(value: &String, encoder: &mut Encoder<'_>) {
        encode_string(value.as_bytes(), encoder);
    }
}

/// Takes a counted list of strings that are text in sysfs.
pub(super) fn take_texts(
    cursor: &mut Cursor<'_>,
    what: &'static str,
) -> Result<Vec<String>, WireError> {
    let n = cursor.u32(what)?;
    (0..n).map(|_| take_text(cursor)).collect()
}

/// Takes a string that is text in sysfs.
pub(super) fn take_text(cursor: &mut Cursor<'_>) -> Result<String, WireError> {
    take_string(cursor).map(|text| String::from_utf8_lossy(text).into_owned())
}

impl Section for Vec<u8> {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        decode_string(section, endian).map(<[u8]>::to_vec)
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Text(self));
    }
}

impl Section for Vec<Vec<u8>> {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let words = decode_strings(section, endian)?;
        Ok(words.into_iter().map(<[u8]>::to_vec).collect())
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.list(name, self, |fields, word| {
            fields.field("", Value::Text(word));
        });
    }
}

/// Reads a section that is one string.
///
/// # Errors
/// [`WireError`] if it is shorter than it says.
pub fn decode_string(section: &[u8], endian: Endian) -> Result<&[u8], WireError> {
    take_string(&mut Cursor::new(section, endian))
}

/// Reads a section that is a counted list of strings (CMDLINE).
///
/// # Errors
/// [`WireError`] if it is shorter than it says.
pub fn decode_strings(section: &[u8], endian: Endian) -> Result<Vec<&[u8]>, WireError> {
    let mut cursor = Cursor::new(section, endian);
    let n = cursor.u32("string count")?;
    (0..n).map(|_| take_string(&mut cursor)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_padded_to_64_and_round_trip() {
        for len in [0, 1, 63, 64, 200] {
            let text = vec![b'x'; len];
            let mut bytes = Vec::new();
            encode_strings(
                [&text[..], b"y"].into_iter(),
                &mut Encoder::new(&mut bytes, Endian::Big),
            );
            assert_eq!((bytes.len() - 12) % 64, 0);
            assert_eq!(
                decode_strings(&bytes, Endian::Big).unwrap(),
                [&text[..], b"y"]
            );
        }
    }

    #[test]
    fn a_count_beyond_the_section_is_an_error() {
        assert!(decode_strings(&u32::MAX.to_le_bytes(), Endian::Little).is_err());
        assert!(decode_string(&u32::MAX.to_le_bytes(), Endian::Little).is_err());
    }
}
