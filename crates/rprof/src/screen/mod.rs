//! Standard output as somebody looks at it: how wide the terminal is, colours, the pager.

mod pager;

pub(crate) use pager::{Pager, PagerArgs, is_broken_pipe};

use rprof_report::Fit;
use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;

/// Columns that lines must fit into; `None` if lines are not cut.
pub(crate) fn fit() -> Option<Fit> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let said = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let window = || terminal_size::terminal_size_of(&stdout).map(|(width, _)| width.0.into());
    let columns = said.or_else(window).filter(|&columns| columns > 0)?;
    let ellipsis = if is_dumb() || !is_utf8(|name| env::var_os(name)) {
        "..."
    } else {
        "\u{2026}"
    };
    Some(Fit { columns, ellipsis })
}

/// Lines of the terminal, if standard output is one.
pub(crate) fn lines() -> Option<usize> {
    let window = terminal_size::terminal_size_of(std::io::stdout());
    window.map(|(_, height)| height.0.into())
}

/// When to use colours, in perf's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colors {
    Always,
    Never,
    /// On a terminal that supports them, unless NO_COLOR is set.
    Auto,
}

impl Colors {
    /// Whether to write colours now.
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

/// Whether to draw lines with box characters: on a terminal that supports them.
pub(crate) fn has_boxes() -> bool {
    let is_terminal = std::io::stdout().is_terminal();
    is_terminal && !is_dumb() && is_utf8(|name| env::var_os(name))
}

/// Whether there is an interface, and a terminal for it.
#[cfg(feature = "tui")]
pub(crate) fn has_interface() -> bool {
    interface().is_ok()
}

/// There is no interface in this program.
#[cfg(not(feature = "tui"))]
pub(crate) fn has_interface() -> bool {
    false
}

/// Look and size (columns, lines) of the terminal for the interface, or why there can be no interface.
#[cfg(feature = "tui")]
pub(crate) fn interface() -> Result<(rprof_tui::Look, (u16, u16)), &'static str> {
    use rprof_tui::{Colors as Palette, Look};
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return Err("stdout is not a terminal");
    }
    if !std::io::stdin().is_terminal() && std::fs::File::open("/dev/tty").is_err() {
        return Err("no terminal to read keys from");
    }
    let term = env::var("TERM").unwrap_or_default();
    if term.is_empty() || is_dumb() {
        return Err("TERM is unset or dumb");
    }
    let has = |name: &str, words: &[&str]| {
        let value = env::var(name).unwrap_or_default();
        words.iter().any(|word| value.contains(word))
    };
    let colors = match () {
        () if !Colors::Auto.is_on() || has("TERM", &["vt100", "vt220", "mono"]) => Palette::None,
        () if has("TERM", &["256", "direct", "kitty", "ghostty", "alacritty"]) => Palette::Many,
        () if has("COLORTERM", &["truecolor", "24bit"]) => Palette::Many,
        () => Palette::Sixteen,
    };
    let look = Look {
        colors,
        background: said_background(&env::var("COLORFGBG").unwrap_or_default()),
        has_blocks: is_utf8(|name| env::var_os(name)),
    };
    let size = terminal_size::terminal_size_of(&stdout);
    let size = size.map_or((80, 24), |(columns, lines)| (columns.0, lines.0));
    Ok((look, size))
}

/// The background that some terminals put into `COLORFGBG`: the last of its numbers, of 16 colours.
#[cfg(feature = "tui")]
fn said_background(text: &str) -> rprof_tui::Background {
    match text.rsplit(';').next() {
        Some("7" | "15") => rprof_tui::Background::Light,
        _ => rprof_tui::Background::Dark,
    }
}

/// Whether the terminal only prints, or its type is unknown.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb" || term.is_empty())
}

/// Whether the locale uses UTF-8, by its first variable that is set.
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
