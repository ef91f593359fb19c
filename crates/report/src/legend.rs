//! What stands around a flame graph that inferno draws: which colours are what, and how it looks in the dark.

use std::fmt::Write as _;

/// What colours and names of a picture mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Legend {
    /// Colours (red, green, blue), and what has them.
    pub(crate) colors: Vec<([u8; 3], String)>,
    /// A sentence beside them.
    pub(crate) note: Option<&'static str>,
}

/// What boxes of threads are called whose names differ in numbers.
pub(crate) const POOLED: &str = "<N>";

/// What that means.
pub(crate) const POOLED_NOTE: &str =
    "<N>: threads whose names differ only in numbers, as one box (--threads shows each)";

/// Texts outside of boxes in the dark; those on boxes are on light colours in any case. inferno's button for searches
/// is hardly to be seen.
const STYLE: &str = "
#search, #unzoom, #matched { opacity:1; }
#search { font-weight:bold; }
@media (prefers-color-scheme: dark) {
  svg { background:rgb(28,28,30); }
  #background stop { stop-color:rgb(28,28,30); }
  #title, #subtitle, #details, #search, #unzoom, #matched, #legend text { fill:rgb(232,232,232) !important; }
}
";

/// Pixels of a letter, of a line, and of what stands before a text.
const LETTER: usize = 8;
const LINE: usize = 18;
const SWATCH: usize = 10;
const MARGIN: usize = 10;

/// Pixels of an entry beside its text.
const AROUND: usize = 2 * SWATCH + 8;

/// Letters of the longest entry that a picture has room for; its width is in pixels.
fn letters_of(width: usize) -> usize {
    (width.saturating_sub(MARGIN + AROUND) / LETTER).max(8)
}

/// A text in lines of at most `letters`, broken between words: only a longer word is a longer line.
pub(crate) fn broken(text: &str, letters: usize) -> Vec<&str> {
    let (mut lines, mut begin, mut end) = (Vec::new(), 0, 0);
    let blanks = text.match_indices(' ').map(|(at, _)| at);
    for at in blanks.chain([text.len()]) {
        let line = text.get(begin..at).unwrap_or_default();
        if line.chars().count() > letters && end > begin {
            lines.extend(text.get(begin..end));
            begin = end + 1;
        }
        end = at;
    }
    lines.extend(text.get(begin..));
    lines
}

/// Where an entry begins, its colour, and its text.
type Entry<'l> = (usize, Option<[u8; 3]>, &'l str);

impl Legend {
    /// Adds the legend below a picture, and the style to it: a picture that is not as expected stays as it is.
    pub(crate) fn below(&self, svg: &str) -> String {
        let framed = self.taller(svg);
        framed.unwrap_or_else(|| svg.to_owned())
    }

    fn taller(&self, svg: &str) -> Option<String> {
        let width: usize = attribute(svg, "width")?.parse().ok()?;
        let height: usize = attribute(svg, "height")?.parse().ok()?;
        let rows = self.rows(width);
        let taller = height + LINE * rows.len();
        let (head, rest) = svg.split_at(svg.find("<defs>")?);
        let (prelude, body) = rest.split_at(rest.find("<text ")?);
        let head = head
            .replacen(
                &format!("height=\"{height}\""),
                &format!("height=\"{taller}\""),
                1,
            )
            .replacen(
                &format!("0 0 {width} {height}"),
                &format!("0 0 {width} {taller}"),
                1,
            );
        let background = format!("height=\"{height}\" fill=\"url(#background)\"");
        let prelude = prelude.replacen(
            &background,
            &format!("height=\"{taller}\" fill=\"url(#background)\""),
            1,
        );
        let body = body
            .strip_suffix("</svg>")
            .or_else(|| body.strip_suffix("</svg>\n"))?;
        let mut framed = head + &prelude + body;
        let _ = write!(framed, "<style type=\"text/css\">{STYLE}</style>");
        framed.push_str("<g id=\"legend\">");
        for (row, y) in rows.iter().zip((height..).step_by(LINE)) {
            for (x, color, text) in row {
                let mut x = *x;
                if let Some([red, green, blue]) = color {
                    let _ = write!(
                        framed,
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{SWATCH}\" height=\"{SWATCH}\" \
                         style=\"fill:rgb({red},{green},{blue})\"/>"
                    );
                    x += SWATCH + 4;
                }
                let text = text
                    .replace('&', "&amp;")
                    .replace('<', "&lt;")
                    .replace('>', "&gt;");
                let _ = write!(framed, "<text x=\"{x}\" y=\"{}\">{text}</text>", y + SWATCH);
            }
        }
        framed.push_str("</g></svg>\n");
        Some(framed)
    }

    /// Lines of entries.
    fn rows(&self, width: usize) -> Vec<Vec<Entry<'_>>> {
        let colors = self.colors.iter();
        let colors = colors.map(|(color, text)| (Some(*color), text.as_str()));
        let notes = self.note.into_iter().map(|note| (None, note));
        let (mut rows, mut x): (Vec<Vec<_>>, usize) = (Vec::new(), usize::MAX);
        let entries = colors.chain(notes).flat_map(|(color, text)| {
            let lines = broken(text, letters_of(width)).into_iter().enumerate();
            lines.map(move |(at, line)| (color.filter(|_| at == 0), line))
        });
        for (color, text) in entries {
            let wide = LETTER * text.chars().count() + AROUND;
            if x.saturating_add(wide) > width {
                rows.push(Vec::new());
                x = MARGIN;
            }
            if let Some(row) = rows.last_mut() {
                row.push((x, color, text));
            }
            x += wide;
        }
        rows
    }
}

/// The first attribute of this name.
fn attribute<'s>(svg: &'s str, name: &str) -> Option<&'s str> {
    let (_, rest) = svg.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_have_no_room_begin_a_line() {
        let legend = Legend {
            colors: vec![
                ([1, 2, 3], "user".to_owned()),
                ([4, 5, 6], "kernel".to_owned()),
            ],
            note: Some(POOLED_NOTE),
        };
        assert_eq!(legend.rows(1200).len(), 1);
        let narrow = legend.rows(300);
        assert_eq!(narrow[0].len(), 2);
        let note: Vec<&str> = narrow[1..]
            .iter()
            .flatten()
            .map(|(_, _, text)| *text)
            .collect();
        assert_eq!(note.join(" "), POOLED_NOTE);
        for (x, _, text) in narrow.iter().flatten() {
            assert!(x + LETTER * text.len() <= 300, "{narrow:?}");
        }
        assert!(Legend::default().rows(150).is_empty());
    }

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(broken("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(broken("abcdefgh i", 3), ["abcdefgh", "i"]);
        assert_eq!(broken("a bcdefgh", 3), ["a", "bcdefgh"]);
        assert_eq!(broken("", 3), [""]);
    }

    #[test]
    fn a_picture_gets_as_much_taller_as_the_legend_is() {
        let svg = "<svg version=\"1.1\" width=\"1200\" height=\"90\" viewBox=\"0 0 1200 90\"><defs></defs>\
                   <rect width=\"100%\" height=\"90\" fill=\"url(#background)\"/><text >a</text></svg>\n";
        let legend = Legend {
            colors: vec![([1, 2, 3], "a<b".to_owned())],
            note: None,
        };
        let framed = legend.below(svg);
        assert!(
            framed.contains("height=\"108\" viewBox=\"0 0 1200 108\""),
            "{framed}"
        );
        assert!(
            framed.contains("height=\"108\" fill=\"url(#background)\""),
            "{framed}"
        );
        assert!(
            framed.contains("style=\"fill:rgb(1,2,3)\"/><text x=\"24\" y=\"100\">a&lt;b</text>"),
            "{framed}"
        );
        assert!(framed.ends_with("</g></svg>\n") && framed.contains("prefers-color-scheme: dark"));
        assert_eq!(legend.below("no picture"), "no picture");
    }
}
