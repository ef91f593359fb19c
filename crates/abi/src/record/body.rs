//! What the table of record kinds asks of a type: to be parsed, encoded, and to name its fields.

use crate::{Cursor, Encoder, Fields, Misc, SampleLayout, Wire, WireError};

/// What is known of a record besides the bytes of its body.
#[derive(Clone, Copy)]
pub(super) struct Context<'s> {
    pub(super) misc: Misc,
    /// The layout of its event.
    pub(super) layout: &'s SampleLayout,
}

/// The body of a record: a [`Wire`] means the same whatever its header and its event are.
pub(super) trait Body<'a>: Sized {
    /// Takes the body from the front of a record.
    fn parse_with(cursor: &mut Cursor<'a>, context: Context<'_>) -> Result<Self, WireError>;

    /// Names the fields, in the order of the body.
    fn name_fields(&self, fields: &mut dyn Fields);

    /// Appends the body.
    fn encode_with(&self, encoder: &mut Encoder<'_>, layout: &SampleLayout);

    /// Fewer bytes are an error.
    #[cfg(test)]
    const LEAST: usize;
}

impl<'a, T: Wire<'a>> Body<'a> for T {
    fn parse_with(cursor: &mut Cursor<'a>, _: Context<'_>) -> Result<Self, WireError> {
        T::parse(cursor)
    }

    fn name_fields(&self, fields: &mut dyn Fields) {
        self.visit(fields);
    }

    fn encode_with(&self, encoder: &mut Encoder<'_>, _: &SampleLayout) {
        self.encode(encoder);
    }

    #[cfg(test)]
    const LEAST: usize = T::MIN_LEN;
}
