//! Optional values directly after a one-letter flag, as perf takes them: `-z3`. clap takes an optional value only
//! after `=` (`-z=3`), since otherwise the next word would be taken as the value.

use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};

/// Inserts `=` before such values, in all words before the recorded command.
pub(super) fn with_equals(
    rprof: &Command,
    words: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut words = words.into_iter();
    let mut out: Vec<OsString> = words.by_ref().take(2).collect();
    let name = out.get(1).and_then(|name| name.to_str());
    if let Some(flags) = name.and_then(|name| rprof.find_subcommand(name)) {
        while let Some(word) = words.next() {
            let word = read(flags, &word);
            let goes_on = !matches!(word, Word::End(_));
            match word {
                Word::Flags(word) | Word::End(word) => out.push(word),
                Word::BeforeValue(word) => {
                    out.push(word);
                    out.extend(words.next());
                }
            }
            if !goes_on {
                break;
            }
        }
    }
    out.extend(words);
    out
}

/// What kind of word this is.
enum Word {
    Flags(OsString),
    /// Flags; the next word is a value.
    BeforeValue(OsString),
    /// Not a flag, or the `--` before the command.
    End(OsString),
}

fn read(flags: &Command, word: &OsStr) -> Word {
    let text = word.to_str().unwrap_or_default();
    let by_long = |name: &str| {
        flags
            .get_arguments()
            .find(|arg| arg.get_long() == Some(name))
    };
    match text.strip_prefix('-') {
        None | Some("" | "-") => Word::End(word.to_owned()),
        Some(rest) => match rest.strip_prefix('-') {
            Some(name) if by_long(name).is_some_and(needs_value) => {
                Word::BeforeValue(word.to_owned())
            }
            Some(_) => Word::Flags(word.to_owned()),
            None => read_short(flags, text),
        },
    }
}

fn read_short(flags: &Command, text: &str) -> Word {
    for (at, letter) in text.char_indices().skip(1) {
        let (before, rest) = text.split_at(at + letter.len_utf8());
        match flags
            .get_arguments()
            .find(|arg| arg.get_short() == Some(letter))
        {
            Some(arg) if needs_value(arg) && rest.is_empty() => {
                return Word::BeforeValue(text.into());
            }
            Some(arg) if needs_value(arg) => break,
            Some(arg) if arg.is_require_equals_set() && !rest.is_empty() => {
                let rest = rest.strip_prefix('=').unwrap_or(rest);
                return Word::Flags(format!("{before}={rest}").into());
            }
            _ => {}
        }
    }
    Word::Flags(text.into())
}

/// Whether a flag requires a value.
fn needs_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    #[test]
    fn values_get_their_sign_and_the_command_keeps_its_words() {
        let mut rprof = Args::command();
        rprof.build();
        for (typed, expected) in [
            ("-z3 true", "-z=3 true"),
            ("-z true", "-z true"),
            ("-z=3 true", "-z=3 true"),
            ("-gz12 -F 99 -z3 true", "-gz=12 -F 99 -z=3 true"),
            ("-o -z3 true", "-o -z3 true"),
            ("--output -z3 -z4 true", "--output -z3 -z=4 true"),
            ("-oz3 true -z3", "-oz3 true -z3"),
            ("-a -- true -z3", "-a -- true -z3"),
            ("--compression-level -z3", "--compression-level -z=3"),
        ] {
            let words = |text: &str| {
                let words = ["rprof", "record"].into_iter().chain(text.split(' '));
                words.map(OsString::from).collect::<Vec<_>>()
            };
            assert_eq!(with_equals(&rprof, words(typed)), words(expected));
        }
        let other = ["rprof", "report", "-i", "-z3"].map(OsString::from);
        assert_eq!(with_equals(&rprof, other.clone()), other);
    }
}
