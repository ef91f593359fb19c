//! Types of parameters and results, as far as calls and probes care.

use gimli::{AttributeValue, EndianSlice, RunTimeEndian, UnitRef, constants as dw};

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
pub(super) type Unit<'a> = UnitRef<'a, Slice<'a>>;
pub(super) type DwarfEntry<'a> = gimli::DebuggingInformationEntry<Slice<'a>>;

/// Entries that one may refer to, one after the other: typedefs of typedefs. Files may have circles.
pub(super) const MOST_HOPS: usize = 32;

/// What is passed or returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) class: Class,
    /// Bytes.
    pub(super) size: u64,
    pub(super) is_signed: bool,
    pub(super) is_pointer: bool,
}

/// How it is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// An integer, boolean, enumeration, pointer or reference of at most eight bytes.
    Integer,
    /// A floating-point number, which takes no general register.
    Float,
    /// A structure or union.
    Compound,
    Unknown,
}

impl Value {
    pub(super) const UNKNOWN: Self = Self {
        class: Class::Unknown,
        size: 0,
        is_signed: false,
        is_pointer: false,
    };

    /// A value of a type.
    pub(super) fn of_type<'a>(unit: Unit<'a>, kind: AttributeValue<Slice<'a>>) -> Self {
        let Some(entry) = plain_type(unit, kind) else {
            return Self::UNKNOWN;
        };
        let size = size_of(&entry);
        match entry.tag() {
            dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_rvalue_reference_type => Self {
                class: Class::Integer,
                size: 8,
                is_pointer: true,
                ..Self::UNKNOWN
            },
            dw::DW_TAG_enumeration_type => Self {
                class: integer_of(size),
                size,
                is_signed: entry
                    .attr_value(dw::DW_AT_type)
                    .and_then(|below| plain_type(unit, below))
                    .is_some_and(|below| Self::of_base(&below).is_signed),
                ..Self::UNKNOWN
            },
            dw::DW_TAG_base_type => Self::of_base(&entry),
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type
                if size > 0 =>
            {
                Self {
                    class: Class::Compound,
                    size,
                    ..Self::UNKNOWN
                }
            }
            _ => Self::UNKNOWN,
        }
    }

    fn of_base(entry: &DwarfEntry<'_>) -> Self {
        let size = size_of(entry);
        let Some(AttributeValue::Encoding(encoding)) = entry.attr_value(dw::DW_AT_encoding) else {
            return Self::UNKNOWN;
        };
        let (class, is_signed) = match encoding {
            dw::DW_ATE_signed | dw::DW_ATE_signed_char => (integer_of(size), true),
            dw::DW_ATE_unsigned
            | dw::DW_ATE_unsigned_char
            | dw::DW_ATE_boolean
            | dw::DW_ATE_UTF => (integer_of(size), false),
            dw::DW_ATE_float => (Class::Float, false),
            _ => (Class::Unknown, false),
        };
        Self {
            class,
            size,
            is_signed,
            is_pointer: false,
        }
    }
}

/// Bytes; 0 if they are not said.
fn size_of(entry: &DwarfEntry<'_>) -> u64 {
    let size = entry.attr_value(dw::DW_AT_byte_size);
    size.and_then(|size| size.udata_value()).unwrap_or(0)
}

/// Larger ones take two registers, or none.
fn integer_of(size: u64) -> Class {
    match size {
        1 | 2 | 4 | 8 => Class::Integer,
        _ => Class::Unknown,
    }
}

/// A type without its other names and its qualifiers.
fn plain_type<'a>(unit: Unit<'a>, kind: AttributeValue<Slice<'a>>) -> Option<DwarfEntry<'a>> {
    let below = |entry: &DwarfEntry<'a>| {
        let is_transparent = matches!(
            entry.tag(),
            dw::DW_TAG_typedef
                | dw::DW_TAG_const_type
                | dw::DW_TAG_volatile_type
                | dw::DW_TAG_restrict_type
                | dw::DW_TAG_atomic_type
        );
        let below = entry.attr_value(dw::DW_AT_type).filter(|_| is_transparent);
        referred(unit, below?)
    };
    let types = std::iter::successors(referred(unit, kind), below);
    types.take(MOST_HOPS).last()
}

/// The entry that a value refers to, in the same unit.
pub(super) fn referred<'a>(
    unit: Unit<'a>,
    value: AttributeValue<Slice<'a>>,
) -> Option<DwarfEntry<'a>> {
    let offset = match value {
        AttributeValue::UnitRef(offset) => offset,
        AttributeValue::DebugInfoRef(offset) => offset.to_unit_offset(&unit.header)?,
        _ => return None,
    };
    unit.entry(offset).ok()
}
