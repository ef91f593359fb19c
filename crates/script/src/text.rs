//! Numbers and names as perf's printf writes them, without printf.

use rprof_untrusted::Untrusted;

/// Appends a number in decimal, right-aligned to `width`.
pub(crate) fn decimal(out: &mut Vec<u8>, value: u64, width: usize) {
    padded(out, value, width, b' ');
}

/// Appends a number in decimal with zeros before it.
pub(crate) fn zero_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    padded(out, value, width, b'0');
}

fn padded(out: &mut Vec<u8>, mut value: u64, width: usize, fill: u8) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    let digits = &digits[at..];
    pad(out, digits.len(), width, fill);
    out.extend_from_slice(digits);
}

/// Appends seconds.
pub(crate) fn seconds(out: &mut Vec<u8>, time_ns: u64, nanoseconds: bool) {
    decimal(out, time_ns / 1_000_000_000, 5);
    fraction(out, time_ns % 1_000_000_000, nanoseconds);
}

/// Appends what seconds have behind the point.
pub(crate) fn fraction(out: &mut Vec<u8>, ns: u64, nanoseconds: bool) {
    out.push(b'.');
    if nanoseconds {
        zero_padded(out, ns, 9)
    } else {
        zero_padded(out, ns / 1000, 6)
    }
}

/// Appends a number in hexadecimal, right-aligned to `width`.
pub(crate) fn hex(out: &mut Vec<u8>, value: u64, width: usize) {
    let n_digits = (67 - (value | 1).leading_zeros() as usize) / 4;
    pad(out, n_digits, width, b' ');
    let digits = value.to_be_bytes().map(|byte| {
        let digit = |digit: u8| digit + if digit < 10 { b'0' } else { b'a' - 10 };
        [digit(byte >> 4), digit(byte & 15)]
    });
    out.extend_from_slice(&digits.as_flattened()[16 - n_digits..]);
}

/// Appends a process id, which may be negative, left- or right-aligned.
pub(crate) fn id(out: &mut Vec<u8>, value: i32, width: usize, left: bool) {
    let start = out.len();
    if value < 0 {
        out.push(b'-');
    }
    decimal(out, u64::from(value.unsigned_abs()), 0);
    let len = out.len() - start;
    pad(out, len, width, b' ');
    if !left {
        let padding = out.len() - start - len;
        out[start..].rotate_right(padding);
    }
}

/// Appends a word of ours, right-aligned.
pub(crate) fn right(out: &mut Vec<u8>, word: &'static str, width: usize) {
    pad(out, word.len(), width, b' ');
    out.extend_from_slice(word.as_bytes());
}

/// Appends a name, right-aligned.
pub(crate) fn name_right<S: AsRef<str>>(out: &mut Vec<u8>, name: &Untrusted<S>, width: usize) {
    let shown = name.shown();
    pad(out, shown.len(), width, b' ');
    out.extend_from_slice(shown.as_bytes());
}

fn pad(out: &mut Vec<u8>, len: usize, width: usize, fill: u8) {
    if len < width {
        out.resize(out.len() + width - len, fill);
    }
}

/// Appends a name.
pub(crate) fn name<S: AsRef<str>>(out: &mut Vec<u8>, name: &Untrusted<S>) {
    name_right(out, name, 0);
}

/// Appends a name of bytes that need not be UTF-8.
pub(crate) fn name_of_bytes(out: &mut Vec<u8>, name: &[u8]) {
    name_right(out, &Untrusted::of_bytes(name), 0);
}

/// Appends what a tracepoint printed, which is one line; a format may have tabs.
pub(crate) fn printed(out: &mut Vec<u8>, printed: &[u8]) {
    for (nth, part) in printed.split(|&byte| byte == b'\t').enumerate() {
        if nth > 0 {
            out.push(b'\t');
        }
        name_of_bytes(out, part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_as_printf_writes_them() {
        for value in [0, 9, 10, 12345, u64::MAX] {
            assert_eq!(written(|out| decimal(out, value, 8)), format!("{value:8}"));
            assert_eq!(
                written(|out| zero_padded(out, value, 6)),
                format!("{value:06}")
            );
            assert_eq!(written(|out| hex(out, value, 16)), format!("{value:16x}"));
        }
        for value in [0, -1, 77, i32::MIN] {
            assert_eq!(
                written(|out| id(out, value, 7, true)),
                format!("{value:<7}")
            );
            assert_eq!(
                written(|out| id(out, value, 7, false)),
                format!("{value:7}")
            );
        }
        assert_eq!(written(|out| right(out, "ls", 4)), "  ls");
        assert_eq!(
            written(|out| name_of_bytes(out, b"a\x1b[1m\n")),
            "a\\x1b[1m\\x0a"
        );
        assert_eq!(written(|out| printed(out, b"a\tb\n\x1b")), "a\tb\\x0a\\x1b");
    }
}
