//! For tests: what a visitor said, as text.

use rprof_abi::{Encoder, Endian, Fields, Shape, Value};

/// Writes each field as `path=value`; items of a list have their number for a name.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    lines: Vec<String>,
    path: Vec<(String, Option<usize>)>,
}

impl Flat {
    /// The fields that `visit` says.
    pub(crate) fn of(visit: impl FnOnce(&mut dyn Fields)) -> Vec<String> {
        let mut flat = Self::default();
        visit(&mut flat);
        assert!(flat.path.is_empty(), "open without close");
        flat.lines
    }

    fn name(&mut self, name: &str) -> String {
        match self.path.last_mut() {
            Some((_, Some(next))) => {
                assert!(name.is_empty(), "an item of a list is named {name}");
                *next += 1;
                (*next - 1).to_string()
            }
            _ => {
                assert!(!name.is_empty(), "a field without a name");
                name.to_owned()
            }
        }
    }
}

impl Fields for Flat {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let name = self.name(name);
        let value = match value {
            Value::Unsigned(number) => number.to_string(),
            Value::Signed(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Hex(number) => format!("{number:#x}"),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        };
        let path = self.path.iter().map(|(part, _)| format!("{part}."));
        let path: String = path.collect();
        self.lines.push(format!("{path}{name}={value}"));
    }

    fn open(&mut self, name: &str, shape: Shape) {
        let name = self.name(name);
        self.path.push((name, (shape == Shape::List).then_some(0)));
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
