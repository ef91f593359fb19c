//! One description of a struct on the wire: [`wire!`](crate::wire!) makes the struct, its parsing, its
//! visiting and its encoding of one list of fields. [`format`](mod@format) has what a field can be.

use crate::{Cursor, Encoder, Fields, WireError};

/// A struct as it lies in a record or a section.
pub trait Wire<'a>: Sized {
    /// Bytes that its fields take when texts and lists are empty: fewer are an error.
    const MIN_LEN: usize;

    /// Takes the struct from the front of what is left.
    ///
    /// # Errors
    /// [`WireError`] if the bytes end first, or say what has no meaning.
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, WireError>;

    /// Names the fields, in their order.
    fn visit(&self, fields: &mut dyn Fields);

    /// Appends the struct.
    fn encode(&self, encoder: &mut Encoder<'_>);
}

/// Describes structs by their fields, in the order of the wire: type, [format](mod@crate::format) (without one, a
/// number) and, where they differ from those of the field and of the struct, the name that is shown and the one
/// in errors. They can be cloned, compared and shown for debugging.
///
/// ```
/// use rprof_abi::format::{Hex, Text};
/// use rprof_abi::{Cursor, Endian, Wire};
///
/// rprof_abi::wire! {
///     /// A piece of code.
///     pub struct Code<'a> in "code" {
///         /// First address.
///         pub addr: u64 as Hex,
///         /// What it is.
///         pub kind: u16 as Number named "type" in "type of code",
///         /// Bytes.
///         pub len: u16,
///         /// Its name.
///         pub name: &'a [u8] as Text,
///     }
/// }
///
/// let bytes = [&[0; 7][..], &[1, 0, 2, 0, 3], b"main\0"].concat();
/// let code = Code::parse(&mut Cursor::new(&bytes, Endian::Big)).unwrap();
/// assert_eq!((code.addr, code.kind, code.len, code.name), (1, 2, 3, &b"main"[..]));
/// let short = Code::parse(&mut Cursor::new(&bytes[..9], Endian::Big)).unwrap_err();
/// assert_eq!(short.to_string(), "type of code needs 2 bytes, but 1 are left");
/// ```
#[macro_export]
macro_rules! wire {
    ($(
        $(#[$about:meta])*
        pub struct $struct:ident $(<$life:lifetime>)? in $what:literal {
            $(
                $(#[$doc:meta])*
                pub $field:ident: $type:ty
                    $(as $format:ident $(<$of:tt>)? $(named $name:literal)? $(in $own:literal)?)?,
            )*
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $struct $(<$life>)? {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl<'a> $crate::Wire<'a> for $struct $(<$life>)? {
            const MIN_LEN: usize = 0 $(
                + <$crate::wire!(@format $($format $(<$of>)?)?) as $crate::format::FieldFormat<'a, $type>>::MIN_LEN
            )*;

            fn parse(cursor: &mut $crate::Cursor<'a>) -> Result<Self, $crate::WireError> {
                Ok(Self {
                    $($field: <$crate::wire!(@format $($format $(<$of>)?)?) as $crate::format::FieldFormat<'a, $type>>
                        ::parse(cursor, $crate::wire!(@first $($($own)?)? $what))?,)*
                })
            }

            fn visit(&self, fields: &mut dyn $crate::Fields) {
                $(<$crate::wire!(@format $($format $(<$of>)?)?) as $crate::format::FieldFormat<'a, $type>>::visit(
                    &self.$field,
                    $crate::wire!(@first $($($name)?)? (stringify!($field))),
                    fields,
                );)*
            }

            fn encode(&self, encoder: &mut $crate::Encoder<'_>) {
                $(<$crate::wire!(@format $($format $(<$of>)?)?) as $crate::format::FieldFormat<'a, $type>>::encode(
                    &self.$field,
                    encoder,
                );)*
            }
        }
    )+};
    (@format) => { $crate::format::Number };
    (@format Number) => { $crate::format::Number };
    (@format $format:ty) => { $format };
    (@first $first:tt $($rest:tt)*) => { $first };
}
