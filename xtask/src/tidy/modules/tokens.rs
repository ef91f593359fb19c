//! The words and signs of Rust code, without those that are only for tests.

use super::super::source::Source;

/// A name, `::`, or another sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    /// Counted from 1.
    pub(super) line: usize,
}

/// Takes code apart.
pub(super) fn tokens(source: &Source) -> Vec<Token<'_>> {
    let lines = (1..).zip(source.code.lines());
    lines
        .flat_map(|(line, code)| of_line(code).map(move |text| Token { text, line }))
        .collect()
}

fn of_line(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let len = match first {
            _ if is_name(first) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(len);
        rest = after;
        Some(token)
    })
}

/// How many tokens the item takes that `rest` begins with, attributes and all.
pub(super) fn item_len(rest: &[Token<'_>]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in rest.iter().enumerate() {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
    }
    rest.len()
}
