//! Bytes as text, as `atob` reads it.

use std::io::{self, Write};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes that are read and written at once; three become four.
const BLOCK: usize = 3 << 14;

/// Writes bytes as text in base64.
///
/// # Errors
/// Those of `out`.
pub fn base64_write(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(BLOCK / 3 * 4);
    for block in bytes.chunks(BLOCK) {
        text.clear();
        for group in block.chunks(3) {
            let byte = |idx: usize| u32::from(group.get(idx).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            let digit = |shift: u32| DIGITS[(bits >> shift & 63) as usize];
            let digits = [digit(18), digit(12), digit(6), digit(0)];
            text.extend_from_slice(&digits[..=group.len()]);
            text.resize(text.len() + 3 - group.len(), b'=');
        }
        out.write_all(&text)?;
    }
    Ok(())
}

/// Bytes that are few, in base64.
pub fn base64_text(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    // Into memory nothing can fail.
    let _ = base64_write(bytes, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// How many bytes a text in base64 of some length has room for.
pub fn base64_decoded_len(text: usize) -> usize {
    text / 4 * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_that_of_the_standard() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
            ("\u{7ff}??>", "378/Pz4="),
        ] {
            assert_eq!(base64_text(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn blocks_follow_each_other_without_a_seam() {
        let bytes: Vec<u8> = (0..=255).cycle().take(BLOCK + 100).collect();
        let whole = base64_text(&bytes);
        assert_eq!(
            whole,
            base64_text(&bytes[..BLOCK]) + &base64_text(&bytes[BLOCK..])
        );
    }
}
