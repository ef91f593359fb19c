//! Lists separated by commas, of names that may have commas themselves.

/// The items of a list, without empty ones.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = regex_end(rest).or_else(|| name_end(rest, BRACKETS));
        // `operator<` opens nothing.
        let end = end.or_else(|| name_end(rest, &BRACKETS[1..]));
        let end = end.unwrap_or_else(|| rest.find(',').unwrap_or(rest.len()));
        let (item, after) = rest.split_at(end);
        items.extend(Some(item).filter(|item| !item.is_empty()));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    items
}

/// Opening and closing ones.
const BRACKETS: &[(char, char)] = &[('<', '>'), ('(', ')'), ('[', ']'), ('{', '}')];

/// Where the regular expression ends that a text begins with, if it does.
fn regex_end(text: &str) -> Option<usize> {
    let body = text.strip_prefix('!').unwrap_or(text).strip_prefix('/')?;
    let start = text.len() - body.len();
    let mut slashes = body.match_indices('/').map(|(at, _)| start + at + 1);
    slashes.find(|&end| {
        text.get(end..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
    })
}

/// Where the name ends that a text begins with; `None` if a bracket is left open.
fn name_end(text: &str, brackets: &[(char, char)]) -> Option<usize> {
    let mut open = Vec::new();
    let mut last = ' ';
    for (at, char) in text.char_indices() {
        if char == ',' && open.is_empty() {
            return Some(at);
        }
        if let Some((_, close)) = brackets.iter().find(|(open, _)| *open == char) {
            open.push(*close);
        } else if open.last() == Some(&char) && last != '-' {
            open.pop();
        }
        last = char;
    }
    open.is_empty().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commas_in_brackets_and_expressions_do_not_separate() {
        for (text, expected) in [
            ("a,b", &["a", "b"][..]),
            (",a,,b,", &["a", "b"]),
            ("map<int, char>,b", &["map<int, char>", "b"]),
            (
                "f(int, int),g[a, b],h{1,2}",
                &["f(int, int)", "g[a, b]", "h{1,2}"],
            ),
            ("operator<,a", &["operator<", "a"]),
            ("operator->,a<b, c>", &["operator->", "a<b, c>"]),
            (
                "operator<<,pair<a, b>,c",
                &["operator<<", "pair<a, b>", "c"],
            ),
            ("/a{1,2}/,b", &["/a{1,2}/", "b"]),
            ("!/a,b/,c", &["!/a,b/", "c"]),
            ("/usr/a.so,/usr/b.so", &["/usr/a.so", "/usr/b.so"]),
            ("a b,c", &["a b", "c"]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_but_commas_is_lost(text in "[,/<>()a!-]{0,20}") {
            let without = |text: &str| text.replace(',', "");
            prop_assert_eq!(without(&split(&text).concat()), without(&text));
        }
    }
}
