//! Tokens of a `print fmt`.

use super::error::PrintError;
use std::borrow::Cow;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword.
    Word(&'a str),
    /// An integer or character constant.
    Number(u64),
    /// A string literal, escapes resolved.
    Text(Vec<u8>),
    /// An operator or bracket.
    Op(&'a str),
}

const TWO_CHARACTERS: [&str; 9] = ["->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];
const ONE_CHARACTER: &str = "+-*/%&|^~!<>?:()[]{},.;=";

/// Splits the text after `print fmt:`.
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, PrintError> {
    let mut tokens = Vec::new();
    let text = text.trim_start();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, len) = match first {
            '"' => quoted(rest, '"').map(|(text, len)| (Token::Text(text), len)),
            '\'' => quoted(rest, '\'')
                .map(|(text, len)| (Token::Number(text.first().map_or(0, |&c| c.into())), len)),
            '0'..='9' => number(rest),
            'a'..='z' | 'A'..='Z' | '_' => {
                let len = word_len(rest);
                rest.get(..len).map(|word| (Token::Word(word), len))
            }
            _ => operator(rest),
        }
        .ok_or_else(|| PrintError::Syntax {
            at: text.len() - rest.len(),
        })?;
        tokens.push(token);
        rest = rest.get(len..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

fn word_len(text: &str) -> usize {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text.len() - rest.len()
}

fn operator(text: &str) -> Option<(Token<'_>, usize)> {
    let len = match text.get(..2) {
        Some(two) if TWO_CHARACTERS.contains(&two) => 2,
        _ => 1,
    };
    let operator = text.get(..len)?;
    let known = len == 2 || ONE_CHARACTER.contains(operator);
    known.then_some((Token::Op(operator), len))
}

/// Decimal, `0x` or octal, with the suffixes of C.
fn number(text: &str) -> Option<(Token<'_>, usize)> {
    let len = word_len(text);
    let word = text.get(..len)?;
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let value = match hex {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
        None => digits.parse(),
    };
    Some((Token::Number(value.ok()?), len))
}

/// The contents of a literal, and its length with the quotes.
fn quoted(text: &str, quote: char) -> Option<(Vec<u8>, usize)> {
    let mut contents = Vec::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            _ if character == quote => return Some((contents, at + 1)),
            '\\' => contents.extend_from_slice(&escape(characters.next()?.1)),
            _ => contents.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    None
}

fn escape(character: char) -> Cow<'static, [u8]> {
    match character {
        'n' => Cow::Borrowed(b"\n"),
        't' => Cow::Borrowed(b"\t"),
        'r' => Cow::Borrowed(b"\r"),
        '0' => Cow::Borrowed(b"\0"),
        other => Cow::Owned(other.to_string().into_bytes()),
    }
}
