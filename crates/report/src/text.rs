//! Columns of text.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// The text at the right end of `columns`. (A width in a format string is of 16 bits.)
pub(crate) fn at_right(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    format!("{}{text}", " ".repeat(fill))
}

/// The first columns of a text.
pub(crate) fn start(text: &str, columns: usize) -> Cow<'_, str> {
    text.get(..start_of(text.chars(), columns))
        .unwrap_or_default()
        .into()
}

/// Where lines end on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Columns of a line.
    pub columns: usize,
    /// What stands for what is cut out.
    pub ellipsis: &'static str,
}

impl Fit {
    /// Fewer columns of a name tell nothing.
    const MIN_NAME: usize = 16;

    /// A name that begins in this column, cut in the middle if it is too long for the line: its end tells as much as its
    /// beginning.
    pub(crate) fn name<'t>(self, name: &'t str, column: usize) -> Cow<'t, str> {
        self.cut(name, self.room(column))
    }

    /// Columns from this one on.
    pub(crate) fn room(self, column: usize) -> usize {
        let room = self.columns.saturating_sub(column);
        room.max(Self::MIN_NAME.min(self.columns))
    }

    /// A text of at most `columns` columns, cut in the middle.
    pub(crate) fn cut(self, text: &str, columns: usize) -> Cow<'_, str> {
        if width(text) <= columns {
            return text.into();
        }
        let room = columns.saturating_sub(width(self.ellipsis));
        let end = room / 2;
        let start = start_of(text.chars(), room - end);
        let end = text.len() - start_of(text.chars().rev(), end);
        let (start, end) = (text.get(..start), text.get(end..));
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        format!("{start}{}{end}", self.ellipsis).into()
    }
}

/// A line of a tree: what is drawn, and the name behind it.
pub(crate) fn split_tree_line(line: &str) -> (&str, &str) {
    let drawn = line.len() - line.trim_start_matches([' ', '|', '-']).len();
    let (mut drawing, mut name) = line.split_at(drawn);
    let is_number = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_digit() || b".%".contains(&b))
    };
    if let Some((number, _)) = name
        .split_once("--")
        .filter(|(number, _)| is_number(number))
    {
        (drawing, name) = line.split_at(drawn + number.len() + "--".len());
    }
    (drawing, name)
}

/// Widths of columns that leave room for the last one: the widest give, and no number does.
pub(crate) fn shrunk(widths: &mut [(usize, bool)], columns: usize) {
    const LEAST: usize = 8;
    let Some(((last, _), others)) = widths.split_last_mut() else {
        return;
    };
    let room = columns.saturating_sub(Fit::MIN_NAME.min(*last) + 2);
    loop {
        let taken: usize = others.iter().map(|(width, _)| width + 2).sum();
        let gives = others.iter_mut().filter(|(_, gives)| *gives);
        let widest = gives.max_by_key(|(width, _)| *width);
        match widest {
            Some((width, _)) if taken > room && *width > LEAST => {
                let excess = taken - room;
                *width = width.saturating_sub(excess.div_ceil(2)).max(LEAST);
            }
            _ => return,
        }
    }
}

/// Bytes of the first characters that take at most `columns` columns.
fn start_of(characters: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut taken = 0;
    let fitting = characters.take_while(|character| {
        taken += character.width().unwrap_or(0);
        taken <= columns
    });
    fitting.map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(padded("é", 3), "é  ");
        assert_eq!(padded("漢", 3), "漢 ");
        assert_eq!(at_right("漢", 3), " 漢");
    }

    #[test]
    fn columns_may_be_wider_than_a_format_string_has_them() {
        for columns in [0, 8, 70_000] {
            assert_eq!(width(&at_right("100.00%", columns)), columns.max(7));
        }
    }

    const FIT: Fit = Fit {
        columns: 40,
        ellipsis: "\u{2026}",
    };

    #[test]
    fn long_names_are_cut_in_the_middle() {
        assert_eq!(FIT.cut("abcdefgh", 8), "abcdefgh");
        assert_eq!(FIT.cut("abcdefgh", 7), "abc\u{2026}fgh");
        assert_eq!(FIT.cut("abcdefgh", 6), "abc\u{2026}gh");
        let ascii = Fit {
            ellipsis: "...",
            ..FIT
        };
        assert_eq!(ascii.cut("abcdefgh", 7), "ab...gh");
        assert_eq!(ascii.cut("abcdefgh", 1), "...");
    }

    #[test]
    fn a_wide_character_is_whole_or_not_there() {
        for columns in 1..9 {
            let cut = FIT.cut("漢字漢字é", columns).into_owned();
            assert!(width(&cut) <= columns, "{cut}");
        }
        assert_eq!(FIT.cut("漢字漢字é", 6), "漢\u{2026}é");
    }

    #[test]
    fn a_line_of_a_tree_is_a_drawing_and_a_name() {
        for (drawing, name) in [
            ("            |", ""),
            ("            ---", "main"),
            ("               |--70.28%--", "hot"),
            ("                --29.72%--", "operator--(int)"),
            ("               ", "helper (inlined)"),
            ("            |--12--", "[unknown] x12"),
            ("               ", "1--2"),
        ] {
            let line = format!("{drawing}{name}");
            let expected = match name {
                "1--2" => ("               1--", "2"),
                _ => (drawing, name),
            };
            assert_eq!(split_tree_line(&line), expected);
        }
    }

    #[test]
    fn the_widest_columns_give_way_to_the_last() {
        let shrunk = |widths: &[(usize, bool)], columns| {
            let mut widths = widths.to_vec();
            shrunk(&mut widths, columns);
            let widths: Vec<usize> = widths.into_iter().map(|(width, _)| width).collect();
            widths
        };
        let all = [(8, false), (40, true), (300, true), (60, true)];
        assert_eq!(shrunk(&all, 1000), [8, 40, 300, 60]);
        let narrow = shrunk(&all, 80);
        let taken: usize = narrow[..3].iter().map(|width| width + 2).sum();
        assert!(taken <= 78 - Fit::MIN_NAME && narrow[0] == 8, "{narrow:?}");
        assert_eq!(shrunk(&all, 10), [8, 8, 8, 60]);
    }

    #[test]
    fn a_name_far_to_the_right_keeps_a_few_columns() {
        let name = "n".repeat(100);
        assert_eq!(width(&FIT.name(&name, 20)), 20);
        assert_eq!(width(&FIT.name(&name, 39)), Fit::MIN_NAME);
        assert_eq!(width(&FIT.name(&name, 4000)), Fit::MIN_NAME);
    }
}
