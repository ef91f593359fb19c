//! Words and signs of an expression.

use super::error::At;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// An event, a metric, a function; `#` belongs to it.
    Name(String),
    Sign(char),
    End,
}

impl Token {
    /// As it is said.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Name(name) => format!("'{name}'"),
            Self::Sign(sign) => format!("'{sign}'"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// The token at the start of `text`, which begins at `at`, and its length in bytes.
pub(super) fn token(
    text: &str,
    at: usize,
    is_known: &dyn Fn(&str) -> bool,
) -> Result<(Token, usize), At> {
    let Some(first) = text.chars().next() else {
        return Ok((Token::End, 0));
    };
    if first.is_ascii_digit() || first == '.' {
        return number(text, at);
    }
    if "+-*/%<>&^|(),".contains(first) {
        return Ok((Token::Sign(first), 1));
    }
    if first.is_ascii_alphabetic() || "_#\\@".contains(first) {
        return Ok(name(text, is_known));
    }
    let letter = first.escape_default();
    let what = format!("'{letter}' is not allowed in an expression");
    Err(At::new(at, what))
}

fn number(text: &str, at: usize) -> Result<(Token, usize), At> {
    let is_hex = text.starts_with("0x");
    let mut len = 0;
    for (nth, letter) in text.char_indices() {
        let is_exponent = !is_hex
            && text
                .get(..nth)
                .is_some_and(|text| text.ends_with(['e', 'E']));
        let is_part = letter.is_ascii_alphanumeric() || letter == '.';
        let is_sign = is_exponent && "+-".contains(letter);
        if !(is_part || is_sign) {
            break;
        }
        len = nth + letter.len_utf8();
    }
    let word = text.get(..len).unwrap_or_default();
    let value = match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f64::from),
        None => word.parse().ok(),
    };
    match value.filter(|value: &f64| value.is_finite()) {
        Some(value) => Ok((Token::Number(value), len)),
        None => Err(At::new(at, format!("'{word}' is not a number"))),
    }
}

/// A minus within a name is part of it if an event has the longer name, as `branch-misses`.
fn name(text: &str, is_known: &dyn Fn(&str) -> bool) -> (Token, usize) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    // What is between two @ are terms, as between slashes.
    let mut is_in_terms = false;
    let mut len = 0;
    let mut longest = None;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, escaped)) => name.push(escaped),
                None => break,
            },
            '@' => {
                is_in_terms = !is_in_terms;
                name.push('/');
            }
            '=' | ',' | '-' | '*' if is_in_terms => name.push(letter),
            '-' => {
                if longest.is_none() || is_known(&name) {
                    longest = Some((name.clone(), at));
                }
                name.push('-');
            }
            letter if letter.is_ascii_alphanumeric() || "_.:#?".contains(letter) => {
                name.push(letter);
            }
            _ => break,
        }
        len = letters.offset();
    }
    match longest {
        Some((shorter, len)) if !is_known(&name) => (Token::Name(shorter), len),
        _ => (Token::Name(name), len),
    }
}
