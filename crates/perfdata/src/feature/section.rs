//! What the table of feature sections asks of a type: to be parsed, and to name its fields.

use rprof_abi::{Endian, Fields, Value, WireError};

/// All of a section.
pub(super) trait Section: Sized {
    /// Reads the section.
    ///
    /// # Errors
    /// [`WireError`] if it is damaged, or shorter than its counts say.
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError>;

    /// Writes the section as one field: these names are the schema of `rprof info`.
    fn describe(&self, name: &str, fields: &mut dyn Fields);
}

/// A section that is one object.
pub(crate) trait SectionObject: Sized {
    /// Reads the section.
    ///
    /// # Errors
    /// [`WireError`] if it is damaged, or shorter than its counts say.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError>;

    /// Names the fields of the object.
    fn visit(&self, fields: &mut dyn Fields);
}

/// One item of a section that is a list of objects.
pub(crate) trait SectionItem: Sized {
    /// Reads the whole section.
    ///
    /// # Errors
    /// [`WireError`] if it is damaged, or shorter than its counts say.
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError>;

    /// Names the fields of one item.
    fn visit(&self, fields: &mut dyn Fields);
}

impl<T: SectionObject> Section for T {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        T::parse(section, endian)
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.object(name, |fields| self.visit(fields));
    }
}

impl<T: SectionItem> Section for Vec<T> {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        T::parse_all(section, endian)
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.list(name, self, |fields, item| {
            fields.object("", |fields| item.visit(fields));
        });
    }
}

/// A section that is there, and empty.
impl Section for () {
    fn parse_section(_: &[u8], _: Endian) -> Result<Self, WireError> {
        Ok(())
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.field(name, Value::Bool(true));
    }
}
