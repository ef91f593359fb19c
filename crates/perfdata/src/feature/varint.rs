//! Numbers as DWARF writes them (LEB128): seven bits a byte, lowest first.

use rprof_abi::{Cursor, Encoder, Endian, WireError};

/// Appends a number.
pub(super) fn put(encoder: &mut Encoder<'_>, mut number: u64) {
    while number >= 0x80 {
        encoder.u8(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    encoder.u8(number.to_le_bytes()[0]);
}

/// Appends a number with a sign: small ones of either sign are short.
pub(super) fn put_signed(encoder: &mut Encoder<'_>, number: i64) {
    put(encoder, (number << 1 ^ number >> 63).cast_unsigned());
}

/// Reads numbers, and what they count.
#[derive(Debug)]
pub(super) struct Numbers<'a>(Cursor<'a>);

impl<'a> Numbers<'a> {
    /// The version that a section begins with, and the numbers after it.
    pub(super) fn after_version(
        section: &'a [u8],
        endian: Endian,
    ) -> Result<(u32, Self), WireError> {
        let mut cursor = Cursor::new(section, endian);
        Ok((cursor.u32("version")?, Self(cursor)))
    }

    /// The next number.
    pub(super) fn next(&mut self, what: &'static str) -> Result<u64, WireError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = u64::from(self.0.u8(what)?);
            let bits = byte & 0x7f;
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(WireError::BadValue {
            what,
            value: number,
        })
    }

    /// The next number with a sign.
    pub(super) fn signed(&mut self, what: &'static str) -> Result<i64, WireError> {
        let number = self.next(what)?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The next number, which must be below a limit.
    pub(super) fn below(&mut self, what: &'static str, limit: usize) -> Result<u32, WireError> {
        let value = self.next(what)?;
        let number = u32::try_from(value).ok();
        number
            .filter(|&number| (number as usize) < limit)
            .ok_or(WireError::BadValue { what, value })
    }

    /// The next number, one less, which must be below a limit; `None` for 0.
    pub(super) fn optional(
        &mut self,
        what: &'static str,
        limit: usize,
    ) -> Result<Option<u32>, WireError> {
        let value = self.below(what, limit.saturating_add(1))?;
        Ok(value.checked_sub(1))
    }

    /// Bytes after their number.
    pub(super) fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], WireError> {
        let len = self.next(what)?;
        self.0.bytes(len, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::bytes;
    use proptest::prelude::*;

    fn numbers(bytes: &[u8]) -> Numbers<'_> {
        Numbers(Cursor::new(bytes, Endian::Little))
    }

    proptest! {
        #[test]
        fn numbers_round_trip(number: u64, signed: i64) {
            let written = bytes(Endian::Little, |encoder| {
                put(encoder, number);
                put_signed(encoder, signed);
            });
            let mut read = numbers(&written);
            prop_assert_eq!(read.next("n"), Ok(number));
            prop_assert_eq!(read.signed("n"), Ok(signed));
            prop_assert!(read.next("n").is_err());
        }
    }

    #[test]
    fn a_number_beyond_64_bits_is_an_error() {
        let most = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(numbers(&most).next("n"), Ok(u64::MAX));
        let more = [[0xff; 9].as_slice(), &[2]].concat();
        assert!(numbers(&more).next("n").is_err());
        assert!(numbers(&[0x80; 20]).next("n").is_err());
    }

    #[test]
    fn small_numbers_take_a_byte() {
        for number in [0, 63, -1, -64] {
            assert_eq!(
                bytes(Endian::Big, |encoder| put_signed(encoder, number)).len(),
                1
            );
        }
    }
}
