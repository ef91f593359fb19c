//! What the table of feature sections asks of a type: to be parsed, and to name its fields.

#[cfg(test)]
use crate::testing::check_description;
use rprof_abi::format::{CountedItems, FieldFormat};
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, Wire, WireError};
use std::fmt::Debug;

/// All of a section.
pub(super) trait Section: Sized {
    /// Reads the section.
    ///
    /// # Errors
    /// [`WireError`] if it is damaged, or shorter than its counts say.
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError>;

    /// Writes the section as one field: these names are the schema of `rprof info`.
    fn describe(&self, name: &str, fields: &mut dyn Fields);

    /// Checks what must hold of all that is described by its fields.
    #[cfg(test)]
    fn check_description(_: &[u8], _: Endian) {}
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

    /// As [`Section::check_description`].
    #[cfg(test)]
    fn check_description(_: &[u8], _: Endian) {}
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

    /// As [`Section::check_description`].
    #[cfg(test)]
    fn check_description(_: &[u8], _: Endian) {}
}

/// A section that is described by its fields.
pub(super) trait DescribedObject: for<'a> Wire<'a> + Debug + PartialEq {}

impl<T: DescribedObject> SectionObject for T {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        <T as Wire<'_>>::parse(&mut Cursor::new(section, endian))
    }

    fn visit(&self, fields: &mut dyn Fields) {
        Wire::visit(self, fields);
    }

    #[cfg(test)]
    fn check_description(bytes: &[u8], endian: Endian) {
        check_description::<T>(bytes, endian);
    }
}

/// An item that is described by its fields, of a list after their number, a `u32`.
pub(super) trait DescribedItem: for<'a> Wire<'a> + Debug + PartialEq {
    /// What the number of items is called in errors.
    const COUNT: &'static str;
}

/// Appends a section that is a list.
pub(super) fn encode_items<T: DescribedItem>(items: &[T], encoder: &mut Encoder<'_>) {
    encoder.count(items.len());
    items.iter().for_each(|item| item.encode(encoder));
}

impl<T: DescribedItem> SectionItem for T {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        CountedItems::<u32>::parse(&mut Cursor::new(section, endian), T::COUNT)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        Wire::visit(self, fields);
    }

    #[cfg(test)]
    fn check_description(bytes: &[u8], endian: Endian) {
        check_description::<T>(bytes, endian);
    }
}

impl<T: SectionObject> Section for T {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        T::parse(section, endian)
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.object(name, |fields| self.visit(fields));
    }

    #[cfg(test)]
    fn check_description(bytes: &[u8], endian: Endian) {
        <T as SectionObject>::check_description(bytes, endian);
    }
}

impl<T: SectionItem> Section for Vec<T> {
    fn parse_section(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        T::parse_all(section, endian)
    }

    fn describe(&self, name: &str, fields: &mut dyn Fields) {
        fields.objects(name, self, |fields, item| item.visit(fields));
    }

    #[cfg(test)]
    fn check_description(bytes: &[u8], endian: Endian) {
        T::check_description(bytes, endian);
    }
}

/// Checks the version that a section of rprof's own begins with; `what` names it in errors.
pub(super) fn check_version(found: u32, known: u32, what: &'static str) -> Result<(), WireError> {
    if found == known {
        return Ok(());
    }
    let value = found.into();
    Err(WireError::BadValue { what, value })
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
