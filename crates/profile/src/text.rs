//! Text as tables have it: columns of a screen, percentages in colour, cells of Markdown.

use rprof_base::Share;
use std::borrow::Cow;
use std::iter;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

/// The text, filled with blanks up to `columns`.
pub fn padded(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    let mut padded = String::with_capacity(text.len() + fill);
    padded.push_str(text);
    padded.extend(iter::repeat_n(' ', fill));
    padded
}

/// The text at the right end of `columns`. (A width in a format string is of 16 bits.)
pub fn at_right(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    let mut padded = String::with_capacity(fill + text.len());
    padded.extend(iter::repeat_n(' ', fill));
    padded.push_str(text);
    padded
}

/// The first columns of a text.
pub fn start(text: &str, columns: usize) -> Cow<'_, str> {
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
    pub const MIN_NAME: usize = 12;

    /// Columns that names have at least, if they are that long: most of a narrow terminal; those of a wide one need less
    /// of it.
    pub fn for_names(self) -> usize {
        match self.columns {
            ..=60 => self.columns / 2 + 1,
            columns => (columns / 5 * 2).max(60 / 2 + 1),
        }
    }

    /// A name that begins in this column, cut in the middle if it is too long for the line: its end tells as much as its
    /// beginning.
    pub fn name<'t>(self, name: &'t str, column: usize) -> Cow<'t, str> {
        self.cut(name, self.room(column))
    }

    /// Columns from this one on.
    pub fn room(self, column: usize) -> usize {
        let room = self.columns.saturating_sub(column);
        room.max(Self::MIN_NAME.min(self.columns))
    }

    /// A text of at most `columns` columns, cut in the middle.
    pub fn cut(self, text: &str, columns: usize) -> Cow<'_, str> {
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

/// A sentence as comments of a table: `# ` and its words, in as many lines as the screen needs for them. A word that is
/// wider than the screen is a line of its own.
pub fn comment_lines(text: &str, fit: Option<Fit>) -> Vec<String> {
    let columns = fit.map_or(usize::MAX, |fit| fit.columns.max(16));
    let indented = text.len() - text.trim_start().len();
    let (indent, text) = text.split_at(indented);
    let (mut lines, mut line) = (Vec::new(), format!("#{indent}"));
    let least = line.len() + 2;
    for word in text.split(' ') {
        if line.len() > least && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::replace(&mut line, format!("#{indent}  ")));
        }
        line.push(' ');
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A text without anything that Markdown takes for its own.
pub fn markdown_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\|`*_[]<>#~&!".contains(character) {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}

/// A percentage in colour: from 5 % on red, from 0.5 % on green.
pub fn colored(cell: &str, share: Share) -> String {
    match share.percent() {
        5.0.. => format!("\x1b[31m{cell}\x1b[0m"),
        0.5.. => format!("\x1b[32m{cell}\x1b[0m"),
        _ => cell.to_owned(),
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
    fn names_have_most_of_a_narrow_terminal() {
        let of = |columns| Fit { columns, ..FIT }.for_names();
        assert_eq!([10, 40, 60, 61, 80, 200].map(of), [6, 21, 31, 31, 32, 80]);
    }

    #[test]
    fn sentences_are_broken_between_words() {
        let text = "Quality: 212 samples, 0.0 % lost, 0.0 % without names";
        assert_eq!(
            comment_lines(text, Some(FIT)),
            [
                "# Quality: 212 samples, 0.0 % lost, 0.0",
                "#   % without names"
            ]
        );
        assert_eq!(comment_lines(text, None), [format!("# {text}")]);
        let word = "w".repeat(50);
        let lines = comment_lines(&format!("  a b {word} c"), Some(FIT));
        assert_eq!(
            lines,
            [
                "#   a b".to_owned(),
                format!("#     {word}"),
                "#     c".to_owned()
            ]
        );
    }

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
    fn signs_of_markdown_are_escaped() {
        assert_eq!(markdown_cell("[.] a|b"), "\\[.\\] a\\|b");
        assert_eq!(markdown_cell("Vec<u8>"), "Vec\\<u8\\>");
    }

    #[test]
    fn a_name_far_to_the_right_keeps_a_few_columns() {
        let name = "n".repeat(100);
        assert_eq!(width(&FIT.name(&name, 20)), 20);
        assert_eq!(width(&FIT.name(&name, 39)), Fit::MIN_NAME);
        assert_eq!(width(&FIT.name(&name, 4000)), Fit::MIN_NAME);
    }
}
