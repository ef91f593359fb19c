//! What of a server's text may be shown: nothing that repeats a token or the value of a label, in whatever spelling.

use crate::Labels;
use crate::credentials::Authorization;

/// Characters of a server's text that are shown.
pub(super) const MAX_SHOWN: usize = 200;

/// Letters and digits by which a secret is known in another spelling. Fewer are in too many texts.
const MIN_KNOWN: usize = 4;

/// What must not be shown.
pub(crate) struct Secrets<'a> {
    pub(crate) authorization: Option<&'a Authorization>,
    /// As users gave them.
    pub(crate) labels: &'a Labels,
}

impl Secrets<'_> {
    /// A server's text, if it repeats nothing that is to be kept to ourselves.
    pub(crate) fn shown(&self, text: &str) -> String {
        let text = text.trim();
        let (letters, unescaped) = (letters(text.bytes()), letters(unescaped(text).into_iter()));
        let is_in = |secret: &str| {
            let known = self::letters(secret.bytes());
            let is_known = |text: &[u8]| {
                known.len() >= MIN_KNOWN && text.windows(known.len()).any(|part| part == known)
            };
            !secret.is_empty()
                && (text.contains(secret) || is_known(&letters) || is_known(&unescaped))
        };
        let mut values = self.labels.iter().map(|(_, value)| value);
        let tokens = self.authorization.map(Authorization::secrets);
        if values.any(is_in) || tokens.into_iter().flatten().any(is_in) {
            return "(the server's text repeats a label or the token, and is not shown)".to_owned();
        }
        cut(text)
    }
}

/// The beginning of a text.
pub(crate) fn cut(text: &str) -> String {
    let end = text.char_indices().nth(MAX_SHOWN).map(|(at, _)| at);
    match end.and_then(|end| text.get(..end)) {
        Some(cut) => format!("{cut}..."),
        None => text.to_owned(),
    }
}

/// Letters and digits alone, in lower case: quotes and escapes are not what makes a secret.
fn letters(bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let letters = bytes.filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    letters.map(|byte| byte.to_ascii_lowercase()).collect()
}

/// A text without the escapes of URLs (`%2F`) and of JSON (`\u002f`, `\n`).
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = rest.get(first.len_utf8()..).unwrap_or_default();
        let code = |from: usize, to: usize| {
            let digits = after.get(from..to)?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
        };
        let (char, len) = match first {
            '%' => (code(0, 2).and_then(|code| u8::try_from(code).ok()), 2),
            '\\' if after.starts_with('u') => {
                let char = code(1, 5).and_then(char::from_u32);
                if let Some(char) = char {
                    bytes.extend(char.encode_utf8(&mut [0; 4]).bytes());
                    rest = after.get(5..).unwrap_or_default();
                    continue;
                }
                (None, 0)
            }
            '\\' => (Some(b'\\'), after.chars().next().map_or(0, char::len_utf8)),
            _ => (None, 0),
        };
        match char {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(len..).unwrap_or_default();
            }
            None => {
                bytes.extend(first.encode_utf8(&mut [0; 4]).bytes());
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_known_however_it_is_spelled() {
        let labels = Labels::parse(&[r#"zone=hunter "2"/é"#.to_owned()]).unwrap();
        let secrets = Secrets {
            authorization: None,
            labels: &labels,
        };
        for text in [
            r#"no hunter "2"/é here"#,
            r#"{"message":"no hunter \"2\"/\u00e9 here"}"#,
            "zone=hunter+%222%22%2F%C3%A9",
            "ZONE=HUNTER_2_é",
            r"hunter\u0020\u00222\u0022\u002f\u00e9",
        ] {
            let shown = secrets.shown(text);
            assert!(shown.contains("is not shown"), "{text}: {shown}");
        }
        for text in ["", "hunt", "100 % of \\", "%", "%zz", "\\u12", "é%C3"] {
            assert_eq!(secrets.shown(text), text);
        }
    }
}
