//! What a BPF program wrote, as bytes and characters.
//!
//! Source: `perf_sample__fprintf_bpf_output` in tools/perf/builtin-script.c (v6.1).

use std::io::Write;

const BYTES_A_LINE: usize = 8;

/// Appends the lines, and the string if it is one.
pub(crate) fn append(raw: &[u8], out: &mut Vec<u8>) {
    out.push(b'\n');
    for (number, line) in raw.chunks(BYTES_A_LINE).enumerate() {
        let head = if number == 0 { "BPF output:" } else { "" };
        // Writing to memory does not fail.
        let _ = write!(out, "{head:>17} {:04x}:", number * BYTES_A_LINE);
        for byte in line {
            let _ = write!(out, " {byte:02x}");
        }
        let n_missing = BYTES_A_LINE - line.len();
        out.extend(std::iter::repeat_n(b' ', 3 * n_missing + 2));
        out.extend(
            line.iter()
                .map(|&byte| if is_printable(byte) { byte } else { b'.' }),
        );
        out.extend(std::iter::repeat_n(b' ', n_missing));
        out.push(b'\n');
    }
    if let Some(string) = string(raw) {
        out.extend_from_slice(b"      BPF string: \"");
        out.extend_from_slice(string);
        out.extend_from_slice(b"\"\n");
    }
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Text up to a zero, and nothing but zeros after it.
fn string(raw: &[u8]) -> Option<&[u8]> {
    let (text, rest) = raw.split_at(raw.iter().position(|&byte| byte == 0)?);
    let is_string = text.iter().all(|&byte| is_printable(byte)) && rest.iter().all(|&b| b == 0);
    is_string.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(raw: &[u8]) -> String {
        let mut out = Vec::new();
        append(raw, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn bytes_are_lines_of_eight() {
        assert_eq!(
            lines(b"Raise a\x01!"),
            "\n      BPF output: 0000: 52 61 69 73 65 20 61 01  Raise a.\n\
             \x20                 0008: 21                       !       \n"
        );
        assert!(lines(b"text\0\0").ends_with("BPF string: \"text\"\n"));
        assert!(!lines(b"text").contains("string"));
        assert!(!lines(b"a\0b").contains("string"));
    }
}
