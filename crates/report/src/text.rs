//! Columns of text.

use unicode_width::UnicodeWidthStr;

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// The text, filled with blanks up to `columns`.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(fill))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(padded("é", 3), "é  ");
        assert_eq!(padded("漢", 3), "漢 ");
    }
}
