//! Copies for the clipboard of the terminal: the escape sequence OSC 52, which goes through SSH, too.

use rprof_base::base64_text;

/// Bytes at most: terminals drop what is longer.
const MAX_LEN: usize = 74_000;

/// What a terminal takes for a copy of a text; `None` if it is too long.
pub(crate) fn escape(text: &str) -> Option<String> {
    (text.len() <= MAX_LEN).then(|| format!("\x1b]52;c;{}\x07", base64_text(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_base64_and_not_too_long() {
        assert_eq!(escape("a;b").unwrap(), "\x1b]52;c;YTti\x07");
        assert_eq!(escape(&"x".repeat(MAX_LEN + 1)), None);
    }
}
