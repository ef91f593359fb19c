//! Rust source taken apart into code and comments, so that a rule about code does not find its
//! words in a comment or a string.
//!
//! Goes as far as a lexer must to know where strings, characters and comments end.

/// Two texts as long and with the same lines as the source; what belongs to neither (strings and
/// characters) is blank in both.
#[derive(Debug)]
pub(super) struct Source {
    /// Without comments.
    pub(super) code: String,
    /// Without code.
    pub(super) comments: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl Source {
    /// Takes `text` apart.
    pub(super) fn split(text: &str) -> Self {
        let mut code = String::with_capacity(text.len());
        let mut comments = String::with_capacity(text.len());
        let mut rest = text;
        let mut after_name = false;
        while !rest.is_empty() {
            let (kind, len) = token(rest, after_name);
            let (part, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
            code.extend(part.chars().map(|c| shown(c, kind == Kind::Code)));
            comments.extend(part.chars().map(|c| shown(c, kind == Kind::Comment)));
            after_name = kind == Kind::Code && part.ends_with(is_name);
            rest = after;
        }
        Self { code, comments }
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn shown(c: char, is_shown: bool) -> char {
    if is_shown || c == '\n' { c } else { ' ' }
}

/// What `rest` begins with, and how many bytes that is.
fn token(rest: &str, after_name: bool) -> (Kind, usize) {
    let first = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment_len(rest));
    }
    let literal = match rest.as_bytes() {
        [b'"', ..] => Some(1 + quoted_len(&rest[1..], '"')),
        [b'\'', ..] => character_len(rest),
        [b'r' | b'b' | b'c', ..] if !after_name => raw_string_len(rest),
        _ => None,
    };
    literal.map_or((Kind::Code, first), |len| (Kind::Literal, len))
}

/// Block comments nest.
fn block_comment_len(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(offset) = rest[at..]
        .find("/*")
        .into_iter()
        .chain(rest[at..].find("*/"))
        .min()
    {
        at += offset;
        depth = if rest[at..].starts_with("/*") {
            depth + 1
        } else {
            depth - 1
        };
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Up to and with the closing `quote`, which a backslash hides.
fn quoted_len(rest: &str, quote: char) -> usize {
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// `None` if this is a lifetime.
fn character_len(rest: &str) -> Option<usize> {
    let mut chars = rest.chars().skip(1);
    let c = chars.next()?;
    if c == '\\' {
        return Some(1 + quoted_len(&rest[1..], '\''));
    }
    (chars.next() == Some('\'')).then_some(2 + c.len_utf8())
}

/// `r"..."`, `br#"..."#` and so on; `None` for names.
fn raw_string_len(rest: &str) -> Option<usize> {
    let marked = rest.trim_start_matches(['b', 'c']).strip_prefix('r')?;
    let quoted = marked.trim_start_matches('#');
    let hashes = &marked[..marked.len() - quoted.len()];
    let inside = quoted.strip_prefix('"')?;
    let end = format!("\"{hashes}");
    let start = rest.len() - inside.len();
    let len = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let source = Source::split(text);
        assert_eq!(source.code.chars().count(), text.chars().count());
        assert_eq!(source.comments.lines().count(), text.lines().count());
        source.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn strings_and_characters_are_blank() {
        for (text, expected) in [
            (r#"a("x \" y", b)"#, "a( , b)"),
            (r##"a(r#"x " y"#, b)"##, "a( , b)"),
            (r#"a(b"x", br"\", c)"#, "a(b , , c)"),
            (r#"a('"', '\'', '\\', b)"#, "a( , , , b)"),
            ("f<'a>(x: &'a str) // '", "f<'a>(x: &'a str)"),
            ("for_r\"x\"", "for_r"),
            ("r#type + 'é'", "r#type +"),
            ("\"two\nlines\" a", "a"),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn comments_are_apart() {
        let source = Source::split("a // b \"\nc /* d /* e */ f */ g \"//h\"");
        assert_eq!(source.code.split_whitespace().collect::<String>(), "acg");
        let comments: String = source.comments.split_whitespace().collect();
        assert_eq!(comments, "//b\"/*d/*e*/f*/");
    }

    #[test]
    fn text_that_ends_too_early_is_taken_as_it_is() {
        for text in ["\"a", "'", "'a", "r#\"a", "/* a", "'\\", "\"\\"] {
            code(text);
        }
    }
}
