//! Numbers: what an [`Expr`] is worth for one sample.
//!
//! C's rules at 64 bits: what is signed is sign-extended when it is read or cast, and operators
//! are signed if both sides are.

use super::data::TracepointData;
use super::expr::{Binary, Cast, Expr, Number, Unary};
use super::field::FieldPlace;
use super::types::IntType;

impl Expr {
    /// The value as a number; 0 for what is none.
    pub(super) fn number(&self, data: &TracepointData<'_>) -> Number {
        match self {
            Self::Number(number) => *number,
            Self::Field(place) => data.number(*place),
            Self::DynamicLen(place) => Number::unsigned(data.region(*place).len() as u64),
            Self::SizeofLong => Number::unsigned(data.long_size.into()),
            Self::Cast(cast, of) => cast.apply(of.number(data), data.long_size),
            Self::Unary(operator, of) => operator.apply(of.number(data)),
            Self::Binary(operator, sides) => {
                let [left, right] = &**sides;
                operator.apply(left.number(data), right.number(data))
            }
            Self::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                let chosen = if condition.is_true(data) { yes } else { no };
                chosen.number(data)
            }
            Self::Index(parts) => {
                let [array, index] = &**parts;
                data.element(array, index.number(data).bits)
            }
            Self::Text(_) | Self::Name | Self::Dynamic(_) | Self::Bitmask(_) => Number::ZERO,
            Self::CpuMask(_) | Self::Flags { .. } | Self::Symbols { .. } => Number::ZERO,
            Self::Hex { .. } | Self::Array { .. } => Number::ZERO,
        }
    }

    pub(super) fn is_true(&self, data: &TracepointData<'_>) -> bool {
        self.number(data).bits != 0
    }

    /// A cast of a constant is one, if its size does not depend on the recording.
    pub(super) fn folded(self) -> Self {
        match self {
            Self::Cast(Cast::Int(kind), of) if kind.size > 0 => match *of {
                Self::Number(number) => Self::Number(Cast::Int(kind).apply(number, kind.size)),
                of => Self::Cast(Cast::Int(kind), Box::new(of)),
            },
            // Bits and names of values are positive: `long` leaves them as they are.
            Self::Cast(cast, of) => match *of {
                Self::Number(number) if i32::try_from(number.bits).is_ok() => Self::Number(number),
                Self::Number(number) if cast == Cast::Unknown => Self::Number(number),
                of => Self::Cast(cast, Box::new(of)),
            },
            other => other,
        }
    }
}

impl TracepointData<'_> {
    fn number(&self, place: FieldPlace) -> Number {
        let bits = self.unsigned(place.offset, place.size).unwrap_or(0);
        let is_signed = place.is_signed;
        match u8::try_from(place.size) {
            Ok(size @ 1..=8) if is_signed => {
                let bits = IntType { size, is_signed }.truncate(bits, size);
                Number { bits, is_signed }
            }
            _ => Number::unsigned(bits),
        }
    }

    /// One element: as wide as a cast of the array says, else as the array's own.
    fn element(&self, array: &Expr, index: u64) -> Number {
        let (Expr::Field(place) | Expr::Dynamic(place)) = array.inner() else {
            return Number::ZERO;
        };
        let kind = match array {
            Expr::Cast(Cast::Pointer(Some(kind)), _) => *kind,
            _ => IntType {
                size: u8::try_from(place.element_len).unwrap_or(0),
                is_signed: place.is_signed,
            },
        };
        let size = usize::from(kind.size_or(self.long_size));
        let element = Self {
            bytes: self.region(*place),
            ..*self
        };
        let offset = usize::try_from(index)
            .ok()
            .and_then(|index| index.checked_mul(size));
        let bits = offset
            .and_then(|offset| element.unsigned(offset, size))
            .unwrap_or(0);
        Cast::Int(kind).apply(Number::unsigned(bits), self.long_size)
    }
}

impl Cast {
    fn apply(self, number: Number, long_size: u8) -> Number {
        match self {
            Self::Int(kind) => Number {
                bits: kind.truncate(number.bits, long_size),
                is_signed: kind.is_signed,
            },
            Self::Pointer(_) => Number::unsigned(number.bits),
            Self::Unknown => number,
        }
    }
}

impl Unary {
    pub(super) fn apply(self, of: Number) -> Number {
        let bits = match self {
            Self::Minus => of.bits.wrapping_neg(),
            Self::Not => u64::from(of.bits == 0),
            Self::Complement => !of.bits,
        };
        Number {
            bits,
            is_signed: of.is_signed,
        }
    }
}

impl Binary {
    pub(super) fn apply(self, left: Number, right: Number) -> Number {
        let is_signed = left.is_signed && right.is_signed;
        let (a, b) = (left.bits, right.bits);
        let order = if is_signed {
            a.cast_signed().cmp(&b.cast_signed())
        } else {
            a.cmp(&b)
        };
        let shift = u32::try_from(b).unwrap_or(64);
        let bits = match self {
            Self::Multiply => a.wrapping_mul(b),
            Self::Divide => divide(a, b, is_signed),
            Self::Remainder => a.wrapping_sub(divide(a, b, is_signed).wrapping_mul(b)),
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::ShiftLeft => a.checked_shl(shift).unwrap_or(0),
            Self::ShiftRight if left.is_signed => {
                (a.cast_signed() >> shift.min(63)).cast_unsigned()
            }
            Self::ShiftRight => a.checked_shr(shift).unwrap_or(0),
            Self::Less => order.is_lt().into(),
            Self::LessEqual => order.is_le().into(),
            Self::Greater => order.is_gt().into(),
            Self::GreaterEqual => order.is_ge().into(),
            Self::Equal => order.is_eq().into(),
            Self::NotEqual => order.is_ne().into(),
            Self::And => a & b,
            Self::Xor => a ^ b,
            Self::Or => a | b,
            Self::LogicalAnd => (a != 0 && b != 0).into(),
            Self::LogicalOr => (a != 0 || b != 0).into(),
        };
        Number { bits, is_signed }
    }
}

/// Division by zero, which a damaged sample can ask for, is 0.
fn divide(a: u64, b: u64, is_signed: bool) -> u64 {
    if is_signed {
        let quotient = a.cast_signed().checked_div(b.cast_signed());
        return quotient.unwrap_or(0).cast_unsigned();
    }
    a.checked_div(b).unwrap_or(0)
}
