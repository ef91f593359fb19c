//! Marks by which boxes of a picture are found again.

use std::io::{self, Write};

/// What no displayed name has in it.
const SIGN: char = '\u{1}';

/// The mark of a node.
pub(super) fn mark(node: u32) -> String {
    format!("{SIGN}{node}")
}

/// What inferno begins the title of the outermost box with.
const ALL: &str = "<title>all (";

const TITLE_END: &str = "</title>";

/// Writes a picture without marks. What `said` has for a node stands in its title, instead of inferno's numbers; for
/// the outermost box it is asked for `None`.
pub(super) fn without_marks(
    svg: &str,
    said: impl Fn(Option<u32>) -> String,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut rest = svg;
    while let Some((before, after)) = rest.split_once(SIGN) {
        let end = after.find(|c: char| !c.is_ascii_digit());
        let (number, after) = after.split_at(end.unwrap_or(after.len()));
        write_unmarked(before, &said, out)?;
        rest = match (number.parse(), after.starts_with(" (")) {
            (Ok(node), true) => {
                write!(out, " ({})", escaped(&said(Some(node))))?;
                from_end_of_title(after)
            }
            // The name alone had room.
            _ => after.strip_prefix("..").unwrap_or(after),
        };
    }
    write_unmarked(rest, &said, out)?;
    out.flush()
}

/// Writes what has no marks; the outermost box may be in it.
fn write_unmarked(
    text: &str,
    said: &impl Fn(Option<u32>) -> String,
    out: &mut impl Write,
) -> io::Result<()> {
    let all = text.split_once(ALL);
    match all.filter(|(_, after)| after.contains(TITLE_END)) {
        Some((before, after)) => {
            let said = escaped(&said(None));
            write!(out, "{before}{ALL}{said}){}", from_end_of_title(after))
        }
        None => out.write_all(text.as_bytes()),
    }
}

/// From where a title ends.
fn from_end_of_title(text: &str) -> &str {
    text.find(TITLE_END).map_or("", |at| &text[at..])
}

/// As it stands in XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_what_is_said_of_a_box() {
        let svg = "<title>a\u{1}12 (5 ns, 50.00%)</title><title>all (7 ns, 100%)</title><text>all</text>\
                   <text>a\u{1}12</text><text>b\u{1}1..</text><title>all (\u{1}3 (1 ns, 1%)</title><text>c..</text>";
        let mut out = Vec::new();
        let said = |node: Option<u32>| node.map_or("1 -> 2".to_owned(), |node| node.to_string());
        without_marks(svg, said, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "<title>a (12)</title><title>all (1 -&gt; 2)</title><text>all</text><text>a</text><text>b</text>\
             <title>all ( (3)</title><text>c..</text>"
        );
    }
}
