//! Copies for the clipboard of the terminal: the escape sequence OSC 52, which goes through SSH, too.

/// Bytes at most: terminals drop what is longer.
const MAX_LEN: usize = 74_000;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a terminal takes for a copy of a text; `None` if it is too long.
pub(crate) fn escape(text: &str) -> Option<String> {
    (text.len() <= MAX_LEN).then(|| format!("\x1b]52;c;{}\x07", base64(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = number >> (18 - 6 * digit) & 63;
            let sign = DIGITS.get(value as usize).copied().unwrap_or(b'=');
            text.push(if digit <= chunk.len() {
                char::from(sign)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_base64() {
        for (text, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(escape("a;b").unwrap(), "\x1b]52;c;YTti\x07");
        assert_eq!(escape(&"x".repeat(MAX_LEN + 1)), None);
    }
}
