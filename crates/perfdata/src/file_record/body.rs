//! What the table of the file's record kinds asks of a type: to be parsed, and to name its fields.

use rprof_abi::{Cursor, Endian, Fields, RawRecord, WireError};

/// A record of the file's.
pub(crate) trait FileBody<'a>: Sized {
    /// Decodes the record.
    fn parse_record(raw: RawRecord<'a>, endian: Endian) -> Result<Self, WireError>;

    /// Names the fields of its body.
    fn name_fields(&self, fields: &mut dyn Fields);
}

/// A body that means the same whatever its header says.
pub(super) trait PlainBody<'a>: Sized {
    /// Takes the body from the front of a record.
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError>;

    /// Names its fields.
    fn visit(&self, fields: &mut dyn Fields);
}

/// One item of a body that is a list of objects.
pub(super) trait BodyItem<'a>: Sized {
    /// The name of the list.
    const LIST: &'static str;

    /// Takes the whole list.
    fn parse_all(cursor: &mut Cursor<'a>) -> Result<Vec<Self>, WireError>;

    /// Names the fields of one item.
    fn visit(&self, fields: &mut dyn Fields);
}

impl<'a, T: PlainBody<'a>> FileBody<'a> for T {
    fn parse_record(raw: RawRecord<'a>, endian: Endian) -> Result<Self, WireError> {
        T::parse(&mut Cursor::new(raw.body, endian))
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        self.visit(fields);
    }
}

impl<'a, T: BodyItem<'a>> PlainBody<'a> for Vec<T> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        T::parse_all(cursor)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.list(T::LIST, self, |fields, item| {
            fields.object("", |fields| item.visit(fields));
        });
    }
}

impl<'a, T: PlainBody<'a>> PlainBody<'a> for Box<T> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        T::parse(cursor).map(Self::new)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        T::visit(self, fields);
    }
}

/// A record without a body.
impl PlainBody<'_> for () {
    fn parse(_: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(())
    }

    fn visit(&self, _: &mut dyn Fields) {}
}
