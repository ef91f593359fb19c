//! One visitor over named fields: each record, sample and section of a file names its fields once,
//! and each form of output (text, JSON) implements [`Fields`] once.

/// The value of a field, with how it is meant to be read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A count, size, id or time.
    Unsigned(u64),
    /// A number that may be negative, such as a process id.
    Signed(i64),
    /// A number with a fraction.
    Float(f64),
    /// An address, an offset or a word of bits: read best in hexadecimal.
    Hex(u64),
    /// A name or path: any bytes, UTF-8 as a rule.
    Text(&'a [u8]),
    /// Bytes that are no text.
    Bytes(&'a [u8]),
    /// A word whose bits have names.
    Bits {
        /// The word, unknown bits included.
        value: u64,
        /// Bit masks and the kernel's names for them.
        names: &'a [(u64, &'static str)],
    },
    /// Yes or no.
    Bool(bool),
}

/// What [`Fields::open`] begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Fields with names.
    Object,
    /// Items, whose names are empty.
    List,
}

/// Takes fields in order. Names are stable: they are the schema of what is written.
pub trait Fields {
    /// One field.
    fn field(&mut self, name: &str, value: Value<'_>);

    /// What follows, up to the matching [`Self::close`], belongs to this field.
    fn open(&mut self, name: &str, shape: Shape);

    /// Ends what was opened last.
    fn close(&mut self);
}

impl dyn Fields + '_ {
    /// A field that is only there if it has a value.
    pub fn if_some<'v>(
        &mut self,
        name: &str,
        value: Option<impl Into<u64>>,
        kind: impl Fn(u64) -> Value<'v>,
    ) {
        if let Some(value) = value {
            self.field(name, kind(value.into()));
        }
    }

    /// A list, one item at a time.
    pub fn list<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.open(name, Shape::List);
        for item in items {
            each(self, item);
        }
        self.close();
    }

    /// A list of groups of named fields, one item at a time.
    pub fn objects<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        self.list(name, items, |fields, item| {
            fields.object("", |fields| each(fields, item));
        });
    }

    /// A group of named fields.
    pub fn object(&mut self, name: &str, fields: impl FnOnce(&mut Self)) {
        self.open(name, Shape::Object);
        fields(self);
        self.close();
    }
}
