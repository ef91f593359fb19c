//! What a field of a described struct can be: each is parsed, shown and encoded in its own way.

use crate::{Cursor, Encoder, Fields, Value, Wire, WireError};

/// How a field of this type lies on the wire, and how it is shown.
pub trait FieldFormat<'a, T> {
    /// Bytes that it takes at least.
    const MIN_LEN: usize;

    /// Takes the field; `what` names it in errors.
    ///
    /// # Errors
    /// [`WireError`] if the bytes end first, or say what has no meaning.
    fn parse(cursor: &mut Cursor<'a>, what: &'static str) -> Result<T, WireError>;

    /// Says the field under this name.
    fn visit(value: &T, name: &str, fields: &mut dyn Fields);

    /// Appends the field.
    fn encode(value: &T, encoder: &mut Encoder<'_>);
}

/// A number, shown as decimal.
#[derive(Debug)]
pub struct Number;

/// A number, shown as hexadecimal: an address, an offset, flags.
#[derive(Debug)]
pub struct Hex;

macro_rules! numbers {
    ($($format:ident $value:ident: $($type:ident)*;)*) => {$($(
        impl FieldFormat<'_, $type> for $format {
            const MIN_LEN: usize = size_of::<$type>();

            fn parse(cursor: &mut Cursor<'_>, what: &'static str) -> Result<$type, WireError> {
                cursor.$type(what)
            }

            fn visit(value: &$type, name: &str, fields: &mut dyn Fields) {
                fields.field(name, Value::$value((*value).into()));
            }

            fn encode(value: &$type, encoder: &mut Encoder<'_>) {
                encoder.$type(*value);
            }
        }
    )*)*};
}

numbers! {
    Number Unsigned: u8 u16 u32 u64;
    Number Signed: i32 i64;
    Hex Hex: u16 u32 u64;
}

/// A byte that is not 0 for yes.
#[derive(Debug)]
pub struct Flag;

impl FieldFormat<'_, bool> for Flag {
    const MIN_LEN: usize = 1;

    fn parse(cursor: &mut Cursor<'_>, what: &'static str) -> Result<bool, WireError> {
        Ok(cursor.u8(what)? != 0)
    }

    fn visit(value: &bool, name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Bool(*value));
    }

    fn encode(value: &bool, encoder: &mut Encoder<'_>) {
        encoder.u8((*value).into());
    }
}

/// Bytes of a fixed number that are no text.
#[derive(Debug)]
pub struct Raw;

impl<const N: usize> FieldFormat<'_, [u8; N]> for Raw {
    const MIN_LEN: usize = N;

    fn parse(cursor: &mut Cursor<'_>, what: &'static str) -> Result<[u8; N], WireError> {
        cursor.array(what)
    }

    fn visit(value: &[u8; N], name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Bytes(value));
    }

    fn encode(value: &[u8; N], encoder: &mut Encoder<'_>) {
        encoder.bytes(value);
    }
}

/// A text up to its NUL, or to the end; encoded as the kernel does, zero-filled to a multiple of 8 bytes.
#[derive(Debug)]
pub struct Text;

impl<'a> FieldFormat<'a, &'a [u8]> for Text {
    const MIN_LEN: usize = 0;

    fn parse(cursor: &mut Cursor<'a>, _: &'static str) -> Result<&'a [u8], WireError> {
        Ok(cursor.c_str())
    }

    fn visit(value: &&'a [u8], name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Text(value));
    }

    fn encode(value: &&'a [u8], encoder: &mut Encoder<'_>) {
        encoder.c_str_padded(value);
    }
}

/// A text that ends before its NUL, in a field of `N` bytes: what is longer is cut when it is encoded.
#[derive(Debug)]
pub struct FixedText<const N: usize>;

impl<'a, const N: usize> FieldFormat<'a, &'a [u8]> for FixedText<N> {
    const MIN_LEN: usize = N;

    fn parse(cursor: &mut Cursor<'a>, what: &'static str) -> Result<&'a [u8], WireError> {
        let text = cursor.bytes(N as u64, what)?;
        Ok(Cursor::new(text, cursor.endian()).c_str())
    }

    fn visit(value: &&'a [u8], name: &str, fields: &mut dyn Fields) {
        Text::visit(value, name, fields);
    }

    fn encode(value: &&'a [u8], encoder: &mut Encoder<'_>) {
        let mut field = [0; N];
        for (to, from) in field.iter_mut().take(N.saturating_sub(1)).zip(*value) {
            *to = *from;
        }
        encoder.bytes(&field);
    }
}

/// All bytes that are left: only their number is shown.
#[derive(Debug)]
pub struct RestLen;

impl<'a> FieldFormat<'a, &'a [u8]> for RestLen {
    const MIN_LEN: usize = 0;

    fn parse(cursor: &mut Cursor<'a>, _: &'static str) -> Result<&'a [u8], WireError> {
        cursor.bytes(cursor.rest().len() as u64, "rest")
    }

    fn visit(value: &&'a [u8], name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Unsigned(value.len() as u64));
    }

    fn encode(value: &&'a [u8], encoder: &mut Encoder<'_>) {
        encoder.bytes(value);
    }
}

/// A struct that newer writers append: its fields are shown as those of the struct that it ends.
#[derive(Debug)]
pub struct IfMore;

impl<'a, T: Wire<'a>> FieldFormat<'a, Option<T>> for IfMore {
    const MIN_LEN: usize = 0;

    fn parse(cursor: &mut Cursor<'a>, _: &'static str) -> Result<Option<T>, WireError> {
        let is_there = !cursor.rest().is_empty();
        is_there.then(|| T::parse(cursor)).transpose()
    }

    fn visit(value: &Option<T>, _: &str, fields: &mut dyn Fields) {
        if let Some(value) = value {
            value.visit(fields);
        }
    }

    fn encode(value: &Option<T>, encoder: &mut Encoder<'_>) {
        if let Some(value) = value {
            value.encode(encoder);
        }
    }
}

/// Structs, after their number as an `N`.
#[derive(Debug)]
pub struct CountedItems<N>(std::marker::PhantomData<N>);

macro_rules! counted {
    ($($number:ident)*) => {$(
        impl<'a, T: Wire<'a>> FieldFormat<'a, Vec<T>> for CountedItems<$number> {
            const MIN_LEN: usize = size_of::<$number>();

            // A count may be anything: nothing is reserved for it.
            fn parse(cursor: &mut Cursor<'a>, what: &'static str) -> Result<Vec<T>, WireError> {
                let n = cursor.$number(what)?;
                (0..n).map(|_| T::parse(cursor)).collect()
            }

            fn visit(value: &Vec<T>, name: &str, fields: &mut dyn Fields) {
                fields.objects(name, value, |fields, item| item.visit(fields));
            }

            fn encode(value: &Vec<T>, encoder: &mut Encoder<'_>) {
                encoder.$number($number::try_from(value.len()).unwrap_or($number::MAX));
                value.iter().for_each(|item| item.encode(encoder));
            }
        }
    )*};
}

counted! { u32 u64 }
