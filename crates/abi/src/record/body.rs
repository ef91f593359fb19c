//! What the table of record kinds asks of a type: to be parsed, encoded, and to name its fields.

use crate::{Cursor, Encoder, Fields, Misc, SampleLayout, WireError};

/// What is known of a record besides the bytes of its body.
#[derive(Clone, Copy)]
pub(super) struct Context<'s> {
    pub(super) misc: Misc,
    /// Of its event.
    pub(super) layout: &'s SampleLayout,
}

/// The body of a record.
pub(super) trait Body<'a>: Sized {
    /// Takes the body from the front of a record.
    fn parse_with(cursor: &mut Cursor<'a>, context: Context<'_>) -> Result<Self, WireError>;

    /// Names the fields, in the order of the body.
    fn name_fields(&self, fields: &mut dyn Fields);

    /// Appends the body.
    fn encode_with(&self, encoder: &mut Encoder<'_>, layout: &SampleLayout);
}

/// A body that means the same whatever its header and its event are.
pub(super) trait PlainBody<'a>: Sized {
    /// Takes the body from the front of a record.
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError>;

    /// Names the fields, in the order of the body.
    fn visit(&self, fields: &mut dyn Fields);

    /// Appends the body.
    fn encode(&self, encoder: &mut Encoder<'_>);
}

impl<'a, T: PlainBody<'a>> Body<'a> for T {
    fn parse_with(cursor: &mut Cursor<'a>, _: Context<'_>) -> Result<Self, WireError> {
        T::parse(cursor)
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        self.visit(fields);
    }

    fn encode_with(&self, encoder: &mut Encoder<'_>, _: &SampleLayout) {
        self.encode(encoder);
    }
}
