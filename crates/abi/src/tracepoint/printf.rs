//! [`Spec`]: flags, width and precision of a conversion, and numbers printed with them.

use super::data::TracepointData;
use super::expr::Expr;
use super::types::IntType;

/// Wider than this is damage, not a width.
const MAX_WIDTH: usize = 1024;

/// A width or precision.
#[derive(Clone, Debug, Default)]
pub(super) enum Amount {
    #[default]
    None,
    Fixed(usize),
    /// `*`: an argument of its own.
    Argument(Box<Expr>),
}

/// What stands between `%` and the letter.
#[derive(Clone, Debug, Default)]
pub(super) struct Spec {
    pub(super) is_left: bool,
    pub(super) has_plus: bool,
    pub(super) has_space: bool,
    pub(super) has_hash: bool,
    pub(super) has_zero: bool,
    pub(super) width: Amount,
    pub(super) precision: Amount,
    /// Bytes of the argument; 0 for a `long`.
    pub(super) size: u8,
}

/// Digits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    Signed,
    Unsigned,
    Octal,
    Hex,
    HexUpper,
}

/// A [`Spec`] with its amounts known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) is_left: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

impl Spec {
    #[inline]
    pub(super) fn layout(&self, data: &TracepointData<'_>) -> Layout {
        let width = self.width.signed(data).unwrap_or(0);
        let precision = self.precision.signed(data);
        Layout {
            // A negative width means left.
            is_left: self.is_left || width < 0,
            width: limit(width.unsigned_abs()),
            // A negative precision means none.
            precision: precision
                .and_then(|value| u64::try_from(value).ok())
                .map(limit),
        }
    }

    /// The width where it is no width but a count of bytes or bits (`%*ph`, `%*pb`).
    pub(super) fn count(&self, data: &TracepointData<'_>) -> usize {
        let count = self.width.signed(data).unwrap_or(0);
        usize::try_from(count).unwrap_or(0)
    }

    /// Appends a number.
    pub(super) fn number(
        &self,
        value: u64,
        radix: Radix,
        data: &TracepointData<'_>,
        out: &mut Vec<u8>,
    ) {
        let layout = self.layout(data);
        let is_signed = radix == Radix::Signed;
        let size = self.size;
        let value = IntType { size, is_signed }.truncate(value, data.long_size);
        let is_negative = is_signed && value.cast_signed() < 0;
        let magnitude = if is_negative {
            value.wrapping_neg()
        } else {
            value
        };

        let mut buffer = [0; 22];
        let digits = digits(magnitude, radix, &mut buffer);
        let digits = match layout.precision {
            Some(0) if magnitude == 0 => &[],
            _ => digits,
        };
        let prefix: &[u8] = match radix {
            Radix::Signed if is_negative => b"-",
            Radix::Signed if self.has_plus => b"+",
            Radix::Signed if self.has_space => b" ",
            Radix::Hex if self.has_hash && value != 0 => b"0x",
            Radix::HexUpper if self.has_hash && value != 0 => b"0X",
            Radix::Octal if self.has_hash && digits.first() != Some(&b'0') => b"0",
            _ => b"",
        };
        let zeros = match layout.precision {
            Some(precision) => precision.saturating_sub(digits.len()),
            None if self.has_zero && !layout.is_left => {
                layout.width.saturating_sub(prefix.len() + digits.len())
            }
            None => 0,
        };
        let padding = layout
            .width
            .saturating_sub(prefix.len() + zeros + digits.len());
        if !layout.is_left {
            pad(padding, b' ', out);
        }
        out.extend_from_slice(prefix);
        pad(zeros, b'0', out);
        out.extend_from_slice(digits);
        if layout.is_left {
            pad(padding, b' ', out);
        }
    }
}

impl Amount {
    fn signed(&self, data: &TracepointData<'_>) -> Option<i64> {
        match self {
            Self::None => None,
            Self::Fixed(amount) => i64::try_from(*amount).ok(),
            Self::Argument(expr) => {
                // The argument is an int.
                let int = IntType {
                    size: 4,
                    is_signed: true,
                };
                Some(int.truncate(expr.number(data).bits, 4).cast_signed())
            }
        }
    }
}

impl Layout {
    /// Cuts and pads what was appended to `out` since `start`.
    pub(super) fn fit(&self, start: usize, out: &mut Vec<u8>) {
        if let Some(precision) = self.precision {
            out.truncate(start.saturating_add(precision));
        }
        let padding = self.width.saturating_sub(out.len().saturating_sub(start));
        if padding == 0 {
            return;
        }
        pad(padding, b' ', out);
        if !self.is_left
            && let Some(field) = out.get_mut(start..)
        {
            field.rotate_right(padding);
        }
    }
}

fn limit(amount: u64) -> usize {
    usize::try_from(amount).map_or(MAX_WIDTH, |amount| amount.min(MAX_WIDTH))
}

fn pad(n: usize, byte: u8, out: &mut Vec<u8>) {
    out.resize(out.len() + n, byte);
}

/// Digits of `value`, written from the end of `buffer`: 22 are enough for octal.
fn digits(mut value: u64, radix: Radix, buffer: &mut [u8; 22]) -> &[u8] {
    let base = match radix {
        Radix::Signed | Radix::Unsigned => 10,
        Radix::Octal => 8,
        Radix::Hex | Radix::HexUpper => 16,
    };
    let alphabet = match radix {
        Radix::HexUpper => b"0123456789ABCDEF",
        _ => b"0123456789abcdef",
    };
    let mut start = buffer.len();
    for slot in buffer.iter_mut().rev() {
        let digit = usize::try_from(value % base).unwrap_or(0);
        *slot = alphabet.get(digit).copied().unwrap_or(b'0');
        start -= 1;
        value /= base;
        if value == 0 {
            break;
        }
    }
    buffer.get(start..).unwrap_or_default()
}

/// Appends `0x` and the hexadecimal digits.
pub(super) fn hex_0x(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"0x");
    hex(value, out);
}

/// Appends hexadecimal digits.
pub(super) fn hex(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(digits(value, Radix::Hex, &mut [0; 22]));
}

/// Appends decimal digits.
pub(super) fn decimal(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(digits(value, Radix::Unsigned, &mut [0; 22]));
}

/// Appends a byte as two hexadecimal digits.
pub(super) fn hex_byte(byte: u8, out: &mut Vec<u8>) {
    for digit in [byte >> 4, byte & 0xf] {
        out.push(
            b"0123456789abcdef"
                .get(usize::from(digit))
                .copied()
                .unwrap_or(b'0'),
        );
    }
}
