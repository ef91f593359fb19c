//! Words of commands that are suggested, as a shell reads them.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// A path or a name, quoted if a shell would read it otherwise, and never an option.
///
/// No shell runs anything that is in it: in quotes, sh, bash, zsh and fish differ in what a backslash
/// is, and interactive ones in what an exclamation mark is, so both stand outside of them.
pub fn quoted(word: &OsStr) -> String {
    let mut own = std::ffi::OsString::new();
    if word.as_bytes().starts_with(b"-") {
        own.push("./");
    }
    own.push(word);
    let bytes = own.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@+:,./-".contains(byte);
    let text = std::str::from_utf8(bytes).ok();
    match text.filter(|text| !text.chars().any(char::is_control)) {
        Some(text) if !text.is_empty() && bytes.iter().all(is_plain) => text.to_owned(),
        Some(text) => {
            let mut out = "'".to_owned();
            for letter in text.chars() {
                match letter {
                    '\'' | '\\' | '!' => out.extend(["'\\", letter.encode_utf8(&mut [0; 4]), "'"]),
                    letter => out.push(letter),
                }
            }
            out + "'"
        }
        // As bash, zsh and newer shells read it; to an older one it is another name.
        None => {
            let mut out = "$'".to_owned();
            for &byte in bytes {
                let _ = match byte {
                    b'\'' | b'\\' | b'!' => write!(out, "\\x{byte:02x}"),
                    b' '..=b'~' => write!(out, "{}", char::from(byte)),
                    byte => write!(out, "\\x{byte:02x}"),
                };
            }
            out + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_through_a_shell_as_they_are() {
        for (word, expected) in [
            (&b"perf.data"[..], "perf.data"),
            (b"target/demo/perf.data", "target/demo/perf.data"),
            (b"", "''"),
            (b"-x.data", "./-x.data"),
            (b"my file", "'my file'"),
            (b"it's", "'it'\\''s'"),
            (b"$(reboot)", "'$(reboot)'"),
            ("Gr\u{f6}\u{df}e".as_bytes(), "'Gr\u{f6}\u{df}e'"),
            (b"a\nb", "$'a\\x0ab'"),
            (b"\xff'", "$'\\xff\\x27'"),
            (b"a\\", "'a'\\\\''"),
            (b"a!b", "'a'\\!'b'"),
            (b"=a", "'=a'"),
        ] {
            assert_eq!(quoted(OsStr::from_bytes(word)), expected);
        }
    }
}
