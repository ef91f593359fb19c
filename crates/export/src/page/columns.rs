//! Numbers in few bytes: seven bits in each, the lowest first, the eighth says that there are more.

/// Appends a number.
#[inline]
pub(super) fn unsigned(out: &mut Vec<u8>, mut number: u64) {
    let lowest = |number: u64| number.to_le_bytes()[0];
    while number >= 0x80 {
        out.push(lowest(number) | 0x80);
        number >>= 7;
    }
    out.push(lowest(number));
}

/// Appends the difference of two numbers: the sign is the lowest bit, so that small ones are short.
#[inline]
pub(super) fn difference(out: &mut Vec<u8>, number: u64, before: u64) {
    let difference = number.wrapping_sub(before).cast_signed();
    unsigned(
        out,
        ((difference << 1) ^ (difference >> 63)).cast_unsigned(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_short() {
        let bytes = |number| {
            let mut out = Vec::new();
            unsigned(&mut out, number);
            out
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(127), [127]);
        assert_eq!(bytes(300), [0xac, 0x02]);
        assert_eq!(bytes(u64::MAX).len(), 10);
        let between = |number, before| {
            let mut out = Vec::new();
            difference(&mut out, number, before);
            out
        };
        assert_eq!(between(5, 5), [0]);
        assert_eq!(between(5, 6), [1]);
        assert_eq!(between(7, 6), [2]);
        assert_eq!(between(0, 64), [127]);
    }
}
