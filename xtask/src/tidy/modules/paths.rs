//! What stands in a module: items, imports, and paths to things elsewhere.

use std::collections::BTreeSet;

use super::super::source::Source;
use super::tokens::{Token, item_len, tokens};

/// Who sees a name beside the module and those below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Visibility {
    Nobody,
    /// Modules of the crate.
    Crate,
    Everybody,
}

/// A name that a `use` brings into a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Use {
    /// The path as it stands there; without the `*` of all names of a module.
    pub(in super::super) path: Vec<String>,
    /// What it is called here; `*` for all names.
    pub(in super::super) name: String,
    pub(in super::super) visibility: Visibility,
    /// Counted from 1.
    pub(in super::super) line: usize,
}

/// What stands in a module, but for its tests.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) items: BTreeSet<String>,
    /// With their lines.
    pub(super) public_types: Vec<(String, usize)>,
    /// Names of modules that other crates see, where they see this one.
    pub(super) public_modules: Vec<String>,
    pub(super) uses: Vec<Use>,
    /// All paths of code, with their lines.
    pub(super) paths: Vec<(Vec<String>, usize)>,
    /// Names of modules that are only for tests.
    pub(super) tests: Vec<String>,
}

const TYPES: &[&str] = &["struct", "enum", "trait", "type", "union"];

const OTHER_ITEMS: &[&str] = &["fn", "const", "static", "mod"];

const FOR_TESTS: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

impl Contents {
    /// Of the text of a file.
    pub(super) fn of(text: &str) -> Self {
        let source = Source::split(text);
        let tokens = tokens(&source);
        let mut contents = Self::default();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at..];
            let is_for_tests = rest.iter().map(|token| token.text).take(7).eq(FOR_TESTS);
            at += match token.text {
                "#" if is_for_tests => contents.skip_tests(&rest[FOR_TESTS.len()..]),
                "use" if rest.get(1).is_some_and(|next| next.text != "<") => {
                    contents.add_use(rest, visibility(&tokens[..at]))
                }
                word => {
                    match word {
                        "{" => depth += 1,
                        "}" => depth = depth.saturating_sub(1),
                        _ if depth == 0 => contents.add_item(rest, &tokens[..at]),
                        _ => {}
                    }
                    contents.add_path(rest, &tokens[..at])
                }
            };
        }
        contents
    }

    fn skip_tests(&mut self, item: &[Token<'_>]) -> usize {
        let len = item_len(item);
        let words: Vec<&str> = item[..len].iter().map(|token| token.text).collect();
        if let [.., "mod", name, ";"] = words[..] {
            self.tests.push(name.to_owned());
        }
        FOR_TESTS.len() + len
    }

    fn add_item(&mut self, rest: &[Token<'_>], before: &[Token<'_>]) {
        let [word, name, ..] = rest else {
            return;
        };
        let third = rest.get(2).map_or("", |token| token.text);
        let is_type = TYPES.contains(&word.text);
        if visibility(before) == Visibility::Everybody {
            match word.text {
                "mod" => self.public_modules.push(name.text.to_owned()),
                _ if is_type => self.public_types.push((name.text.to_owned(), name.line)),
                _ => {}
            }
        }
        if is_type || OTHER_ITEMS.contains(&word.text) {
            self.items.insert(name.text.to_owned());
        }
        if let ["macro_rules", "!", name] = [word.text, name.text, third] {
            self.items.insert(name.to_owned());
        }
    }

    /// Takes a `use` with all that it brings.
    fn add_use(&mut self, rest: &[Token<'_>], visibility: Visibility) -> usize {
        let len = item_len_of_use(rest);
        let mut tree = &rest[1..len];
        self.add_tree(&mut tree, &[], visibility);
        len
    }

    /// Takes one tree off the front: a path, and names or trees in braces after it.
    fn add_tree(&mut self, tree: &mut &[Token<'_>], above: &[String], visibility: Visibility) {
        let mut path = above.to_vec();
        let mut line = tree.first().map_or(0, |token| token.line);
        let mut name = None;
        while let Some((token, after)) = tree.split_first() {
            match token.text {
                "," | "}" | ";" => break,
                "::" => *tree = after,
                "{" => {
                    *tree = after;
                    while tree.first().is_some_and(|next| next.text != "}") {
                        self.add_tree(tree, &path, visibility);
                        *tree = tree.strip_prefix_if(",");
                    }
                    *tree = tree.strip_prefix_if("}");
                    return;
                }
                "*" => {
                    *tree = after;
                    name = Some("*".to_owned());
                }
                "as" => {
                    name = after.first().map(|alias| alias.text.to_owned());
                    *tree = after.get(1..).unwrap_or_default();
                }
                // `path::{self}`; at the front of a path it is the module itself.
                "self" if !above.is_empty() => *tree = after,
                segment => {
                    path.push(segment.to_owned());
                    line = token.line;
                    *tree = after;
                }
            }
        }
        let Some(name) = name.or_else(|| path.last().cloned()) else {
            return;
        };
        self.uses.push(Use {
            path,
            name,
            visibility,
            line,
        });
    }

    /// Takes the path that `rest` begins with, or one sign.
    fn add_path(&mut self, rest: &[Token<'_>], before: &[Token<'_>]) -> usize {
        let is_name = |token: &Token<'_>| {
            token
                .text
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
        };
        if !is_name(&rest[0]) {
            return 1;
        }
        let mut path = vec![rest[0].text.to_owned()];
        let mut after = &rest[1..];
        while let [colons, name, ..] = after
            && colons.text == "::"
            && is_name(name)
        {
            path.push(name.text.to_owned());
            after = &after[2..];
        }
        let len = rest.len() - after.len();
        let last = before.last().map_or("", |token| token.text);
        // Fields, methods and what is being declared are no paths; nor are variables, which a
        // function's name cannot be told from but by its call.
        let is_declared = TYPES.contains(&last) || OTHER_ITEMS.contains(&last);
        let is_call = after.first().is_some_and(|next| next.text == "(");
        let is_seen = path.len() > 1 || is_call || path[0].starts_with(char::is_uppercase);
        if is_seen && !is_declared && ![".", "'"].contains(&last) {
            self.paths.push((path, rest[0].line));
        }
        len
    }
}

trait StripPrefixIf {
    /// Without the token that it begins with, if that is this one.
    fn strip_prefix_if(&self, text: &str) -> Self;
}

impl StripPrefixIf for &[Token<'_>] {
    fn strip_prefix_if(&self, text: &str) -> Self {
        match self.split_first() {
            Some((first, after)) if first.text == text => after,
            _ => self,
        }
    }
}

/// Up to and with its semicolon.
fn item_len_of_use(rest: &[Token<'_>]) -> usize {
    let end = rest.iter().position(|token| token.text == ";");
    end.map_or(rest.len(), |end| end + 1)
}

/// Who sees the item before which this stands.
fn visibility(before: &[Token<'_>]) -> Visibility {
    let words: Vec<&str> = before
        .iter()
        .rev()
        .take(6)
        .map(|token| token.text)
        .collect();
    match words[..] {
        ["pub", ..] => Visibility::Everybody,
        [")", _, "(", "pub", ..] | [")", _, _, "in", "(", "pub", ..] => Visibility::Crate,
        [")", _, _, _, "in", "(", ..] => Visibility::Crate,
        _ => Visibility::Nobody,
    }
}
