//! Standard output as somebody looks at it: how wide the terminal is, colours, the pager.

mod pager;

pub(crate) use pager::{Pager, PagerArgs, is_broken_pipe};

use rprof_report::Fit;
use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;

/// Columns to fit lines into; `None` where nothing is to be cut.
pub(crate) fn fit() -> Option<Fit> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let said = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let window = || terminal_size::terminal_size_of(&stdout).map(|(width, _)| width.0.into());
    let columns = said.or_else(window).filter(|&columns| columns > 0)?;
    let ellipsis = match is_dumb() || !is_utf8(|name| env::var_os(name)) {
        true => "...",
        false => "\u{2026}",
    };
    Some(Fit { columns, ellipsis })
}

/// Lines of the terminal, if standard output is one.
pub(crate) fn lines() -> Option<usize> {
    let window = terminal_size::terminal_size_of(std::io::stdout());
    window.map(|(_, height)| height.0.into())
}

/// When there are colours; perf's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colors {
    Always,
    Never,
    /// On a terminal that has them, unless NO_COLOR is set.
    Auto,
}

impl Colors {
    /// Whether to write them.
    pub(crate) fn is_on(self) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let is_off = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                std::io::stdout().is_terminal() && !is_off && !is_dumb()
            }
        }
    }
}

/// Whether lines are drawn with box characters: on a terminal that has them.
pub(crate) fn has_boxes() -> bool {
    let is_terminal = std::io::stdout().is_terminal();
    is_terminal && !is_dumb() && is_utf8(|name| env::var_os(name))
}

/// A terminal that only prints.
fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether texts are in UTF-8, by the first of the locale's variables that says something.
fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut said = names.into_iter().filter_map(variable);
    said.find(|value| !value.is_empty()).is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_variable_that_says_something_is_the_locale() {
        let is_utf8 = |set: &[(&str, &str)]| {
            super::is_utf8(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            })
        };
        assert!(is_utf8(&[("LANG", "en_US.UTF-8")]));
        assert!(is_utf8(&[
            ("LC_ALL", ""),
            ("LC_CTYPE", "C.utf8"),
            ("LANG", "C")
        ]));
        assert!(!is_utf8(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!is_utf8(&[]));
    }
}
