//! For tests: what a visitor said, as text.

use std::collections::HashSet;
use std::fmt::Debug;

use proptest::prelude::*;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Shape, Value, Wire};

/// Writes each field as `path=value`; items of a list have their number for a name. No path comes twice.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    lines: Vec<String>,
    path: Vec<(String, Option<usize>)>,
    names: HashSet<String>,
}

impl Flat {
    /// The fields that `visit` says.
    pub(crate) fn of(visit: impl FnOnce(&mut dyn Fields)) -> Vec<String> {
        let mut flat = Self::default();
        visit(&mut flat);
        assert!(flat.path.is_empty(), "open without close");
        flat.lines
    }

    fn new_path(&mut self, name: &str) -> String {
        let path = match self.path.last_mut() {
            Some((path, Some(next))) => {
                assert!(name.is_empty(), "an item of a list is named {name}");
                *next += 1;
                format!("{path}{}", *next - 1)
            }
            outer => {
                assert!(!name.is_empty(), "a field without a name");
                outer.map_or_else(String::new, |(path, _)| path.clone()) + name
            }
        };
        assert!(self.names.insert(path.clone()), "{path} twice");
        path
    }
}

impl Fields for Flat {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let path = self.new_path(name);
        let value = match value {
            Value::Unsigned(number) => number.to_string(),
            Value::Signed(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Hex(number) => format!("{number:#x}"),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        };
        self.lines.push(format!("{path}={value}"));
    }

    fn open(&mut self, name: &str, shape: Shape) {
        let path = self.new_path(name);
        let n_items = (shape == Shape::List).then_some(0);
        self.path.push((path + ".", n_items));
    }

    fn close(&mut self) {
        self.path.pop().expect("close without open");
    }
}

/// Both byte orders.
pub(crate) const ORDERS: [Endian; 2] = [Endian::Little, Endian::Big];

/// The bytes that `write` encodes.
pub(crate) fn bytes(endian: Endian, write: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Encoder::new(&mut out, endian));
    out
}

/// Encodes numbers in a row.
pub(crate) fn u32s(numbers: &[u32], encoder: &mut Encoder<'_>) {
    numbers.iter().for_each(|&number| encoder.u32(number));
}

/// Encodes numbers in a row.
pub(crate) fn u64s(numbers: &[u64], encoder: &mut Encoder<'_>) {
    numbers.iter().for_each(|&number| encoder.u64(number));
}

/// Bytes in which counts are small in one byte order or the other, and texts end.
pub(crate) fn small_counts(max_len: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(64), any::<u8>()];
    let word = prop_oneof![Just(0u32), Just(1), Just(2), Just(64), any::<u32>()];
    let words = proptest::collection::vec(word, 0..max_len / 4);
    prop_oneof![
        proptest::collection::vec(byte, 0..max_len),
        words
            .clone()
            .prop_map(|words| words.into_iter().flat_map(u32::to_le_bytes).collect()),
        words.prop_map(|words| words.into_iter().flat_map(u32::to_be_bytes).collect()),
    ]
}

/// What must hold of all that is described by its fields, whatever the bytes: less than the fields is an error,
/// each field is named once, and what is encoded is parsed to what encodes the same.
pub(crate) fn check_description<'a, T>(bytes: &'a [u8], endian: Endian)
where
    T: Wire<'a> + Debug + PartialEq,
{
    let parse = |bytes| T::parse(&mut Cursor::new(bytes, endian));
    for len in 0..T::MIN_LEN.min(bytes.len()) {
        assert!(
            parse(&bytes[..len]).is_err(),
            "{len} bytes of {}",
            T::MIN_LEN
        );
    }
    assert!(parse(&[0; 1024][..T::MIN_LEN]).is_ok());
    if let Ok(one) = parse(bytes) {
        Flat::of(|fields| one.visit(fields));
        let encode = |one: &T| self::bytes(endian, |encoder| one.encode(encoder));
        // What is parsed may borrow from it.
        let encoded: &'a [u8] = encode(&one).leak();
        let again = parse(encoded).unwrap();
        // A text that leaves no room for its NUL is cut when it is encoded.
        assert_eq!(encode(&again), encoded);
    }
}
