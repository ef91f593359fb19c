//! [`Expr`]: an argument of a `print fmt`, parsed.

use super::field::FieldPlace;
use super::types::IntType;

/// A value: 64 bits, and how they compare, divide and shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) bits: u64,
    pub(super) is_signed: bool,
}

impl Number {
    pub(super) const ZERO: Self = Self::unsigned(0);

    pub(super) const fn unsigned(bits: u64) -> Self {
        Self {
            bits,
            is_signed: false,
        }
    }
}

/// What a cast makes of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cast {
    /// An integer of this type.
    Int(IntType),
    /// A pointer, with the type it points at if that is an integer.
    Pointer(Option<IntType>),
    /// A type whose size is not known here: nothing changes.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

impl Binary {
    /// The operator and how tightly it binds, 0 the loosest.
    pub(super) fn from_operator(operator: &str) -> Option<(Self, u8)> {
        Some(match operator {
            "*" => (Self::Multiply, 9),
            "/" => (Self::Divide, 9),
            "%" => (Self::Remainder, 9),
            "+" => (Self::Add, 8),
            "-" => (Self::Subtract, 8),
            "<<" => (Self::ShiftLeft, 7),
            ">>" => (Self::ShiftRight, 7),
            "<" => (Self::Less, 6),
            "<=" => (Self::LessEqual, 6),
            ">" => (Self::Greater, 6),
            ">=" => (Self::GreaterEqual, 6),
            "==" => (Self::Equal, 5),
            "!=" => (Self::NotEqual, 5),
            "&" => (Self::And, 4),
            "^" => (Self::Xor, 3),
            "|" => (Self::Or, 2),
            "&&" => (Self::LogicalAnd, 1),
            "||" => (Self::LogicalOr, 0),
            _ => return None,
        })
    }
}

/// Names of values or bits. `None`: the format has a name where a number should be, and nobody
/// knows its value.
pub(super) type Names = Box<[(Option<u64>, Box<[u8]>)]>;

/// An expression. Depth is limited where it is built, so recursion over it is safe.
#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(Number),
    Text(Box<[u8]>),
    /// A name that only the kernel's source explains; counts as 0, as in perf.
    Name,
    Field(FieldPlace),
    /// The bytes a dynamic field points at.
    Dynamic(FieldPlace),
    DynamicLen(FieldPlace),
    Bitmask(FieldPlace),
    CpuMask(FieldPlace),
    SizeofLong,
    Cast(Cast, Box<Self>),
    Unary(Unary, Box<Self>),
    Binary(Binary, Box<[Self; 2]>),
    /// Condition, value if true, value if false.
    Choice(Box<[Self; 3]>),
    /// Array and index.
    Index(Box<[Self; 2]>),
    Flags {
        value: Box<Self>,
        delimiter: Box<[u8]>,
        names: Names,
    },
    Symbols {
        value: Box<Self>,
        names: Names,
    },
    /// Bytes in hexadecimal: bytes and their count.
    Hex {
        of: Box<[Self; 2]>,
        delimiter: &'static [u8],
    },
    /// Bytes, count of elements (`None`: as many as there are), size of an element.
    Array {
        bytes: Box<Self>,
        count: Option<Box<Self>>,
        element_len: Box<Self>,
    },
}

impl Expr {
    /// Casts removed.
    pub(super) fn inner(&self) -> &Self {
        let mut inner = self;
        while let Self::Cast(_, of) = inner {
            inner = of;
        }
        inner
    }
}
