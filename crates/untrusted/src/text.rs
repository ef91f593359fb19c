//! Text that others chose, on its way to somebody who reads it.

use std::borrow::Cow;
use std::fmt;

/// Text that others chose: of a recording, a process, a file, a server. What is displayed is
/// [`printable`]; the text as it is, is for comparing and for formats that say where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Untrusted<S>(S);

impl<S> Untrusted<S> {
    /// As others chose it.
    pub const fn new(text: S) -> Self {
        Self(text)
    }

    /// As it is.
    pub fn into_raw(self) -> S {
        self.0
    }
}

impl<S: AsRef<str>> Untrusted<S> {
    /// As it is.
    pub fn raw(&self) -> &str {
        self.0.as_ref()
    }

    /// As it is displayed.
    pub fn shown(&self) -> Cow<'_, str> {
        printable(self.raw())
    }
}

impl<S: AsRef<str>> fmt::Display for Untrusted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shown())
    }
}

impl<'a> Untrusted<Cow<'a, str>> {
    /// Of bytes, which need not be UTF-8.
    pub fn of_bytes(bytes: &'a [u8]) -> Self {
        // Mostly they are: to find that alone is quicker.
        Self(str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed))
    }
}

/// The text without anything that a terminal obeys, that ends a line, or that makes what is read
/// another text than what is there: control characters below U+0100 are `\x1b` and the like, others
/// `\u{202e}`. Such a text stays as it is if it comes here again.
pub fn printable(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match (is_unseen(c), u32::from(c)) {
            (false, _) => shown.push(c),
            (true, code @ ..0x100) => shown += &format!("\\x{code:02x}"),
            (true, code) => shown += &format!("\\u{{{code:x}}}"),
        }
    }
    Cow::Owned(shown)
}

/// Whether there are only letters, digits and the like of ASCII, as in most names: looking at bytes is quicker than at
/// characters, and at several without a branch quicker still.
fn is_plain(text: &str) -> bool {
    let is_plain = |bytes: &[u8]| {
        let bytes = bytes.iter();
        bytes.fold(true, |all, byte| all & (0x20..0x7f).contains(byte))
    };
    let (chunks, rest) = text.as_bytes().as_chunks::<16>();
    chunks.iter().all(|chunk| is_plain(chunk)) && is_plain(rest)
}

/// Whether a character moves, hides or turns others, or cannot be seen. Joiners of scripts and
/// emoji are among them: a name without them reads the same. U+FFFE and U+FFFF may not be in XML.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{fffe}'..='\u{ffff}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown_not_sent() {
        for (text, shown) in [
            ("plain é 漢", "plain é 漢"),
            ("a\x1b[31mb\n", "a\\x1b[31mb\\x0a"),
            ("\x7f\u{9b}2J\r\t\0", "\\x7f\\x9b2J\\x0d\\x09\\x00"),
            ("a\u{202e}b\u{2066}c", "a\\u{202e}b\\u{2066}c"),
            ("\u{200b}\u{feff}\u{ad}", "\\u{200b}\\u{feff}\\xad"),
            ("\u{2028}\u{2029}\u{e0041}", "\\u{2028}\\u{2029}\\u{e0041}"),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown);
            assert_eq!(Untrusted::new(text).to_string(), shown);
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_found_wherever_it_stands() {
        for len in 0..40 {
            let plain = "n".repeat(len);
            assert!(is_plain(&plain) && matches!(printable(&plain), Cow::Borrowed(_)));
            for at in 0..len {
                let mut text = plain.clone();
                text.replace_range(at..=at, "\x1b");
                let shown = format!("{}\\x1b{}", &plain[..at], &plain[at + 1..]);
                assert_eq!(printable(&text), shown);
            }
        }
    }

    #[test]
    fn columns_are_those_of_what_is_shown() {
        assert_eq!(format!("{:>6}|", Untrusted::new("a\n")), " a\\x0a|");
        assert_eq!(Untrusted::of_bytes(b"\xff\n").shown(), "\u{fffd}\\x0a");
    }
}
