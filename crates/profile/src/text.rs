//! Text that came from elsewhere, made fit for lines and terminals.

use std::borrow::Cow;

/// Control characters as `\x1b` and the like: a process may call itself anything.
pub fn printable(text: &str) -> Cow<'_, str> {
    // Most names are plain: looking at bytes is quicker than at characters.
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if is_plain || !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| match c.is_control() {
        true => format!("\\x{:02x}", u32::from(c)),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_sent() {
        assert_eq!(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\x0a");
        assert_eq!(printable("plain é"), "plain é");
    }
}
