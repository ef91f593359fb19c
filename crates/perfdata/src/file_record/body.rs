//! What the table of the file's record kinds asks of a type: to be parsed, and to name its fields.

#[cfg(test)]
use crate::testing::check_description;
#[cfg(test)]
use rprof_abi::Endian;
use rprof_abi::{Cursor, Encoder, Fields, Misc, Wire, WireError};
use std::fmt::Debug;

/// The body of a record of the file's.
pub(crate) trait FileBody<'a>: Sized {
    /// Takes the body from the front of a record.
    fn parse_body(cursor: &mut Cursor<'a>, misc: Misc) -> Result<Self, WireError>;

    /// Names its fields.
    fn name_fields(&self, fields: &mut dyn Fields);

    /// Checks what must hold of all that is described by its fields.
    #[cfg(test)]
    fn check_description(_: &'a [u8], _: Endian) {}
}

/// A body that is described by its fields.
pub(super) trait Described<'a>: Wire<'a> + Debug + PartialEq {}

impl<'a, T: Described<'a>> FileBody<'a> for T {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        T::parse(cursor)
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        self.visit(fields);
    }

    #[cfg(test)]
    fn check_description(bytes: &'a [u8], endian: Endian) {
        check_description::<T>(bytes, endian);
    }
}

/// One item of a body that is a list of objects, after their number.
pub(super) trait BodyItem<'a>: Wire<'a> + Debug + PartialEq {
    /// The name of the list.
    const LIST: &'static str;

    /// What their number is called in errors.
    const COUNT: &'static str;
}

/// Appends a body that is a list.
pub(super) fn encode_items<'a, T: BodyItem<'a>>(items: &[T], encoder: &mut Encoder<'_>) {
    encoder.u64(items.len() as u64);
    items.iter().for_each(|item| item.encode(encoder));
}

impl<'a, T: BodyItem<'a>> FileBody<'a> for Vec<T> {
    fn parse_body(cursor: &mut Cursor<'a>, _: Misc) -> Result<Self, WireError> {
        let n = cursor.u64(T::COUNT)?;
        (0..n).map(|_| T::parse(cursor)).collect()
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        fields.objects(T::LIST, self, |fields, item| item.visit(fields));
    }

    #[cfg(test)]
    fn check_description(bytes: &'a [u8], endian: Endian) {
        check_description::<T>(bytes, endian);
    }
}

/// A record without a body.
impl FileBody<'_> for () {
    fn parse_body(_: &mut Cursor<'_>, _: Misc) -> Result<Self, WireError> {
        Ok(())
    }

    fn name_fields(&self, _: &mut dyn Fields) {}
}
