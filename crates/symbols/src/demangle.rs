//! Mangled names to readable ones: the one place for it.

mod bounded;
mod cpp;

pub(crate) use bounded::shown;
use bounded::{Bounded, cut};
use rprof_base::without_type_arguments;
use std::fmt::Write;

/// How names are to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demangling {
    /// As in the file.
    Off,
    /// As perf prints them: Rust without hashes, C++ without parameters.
    #[default]
    Short,
    /// With parameters, and with the hash of a Rust crate or function.
    Full,
    /// Short, and what stands between `<` and `>` left out: `Vec<...>::push`.
    Folded,
}

impl Demangling {
    /// The readable form of a symbol's name; what is not mangled, or cannot be read, as it is.
    /// A stub keeps the `@plt` after the name of its function.
    pub fn of(self, mangled: &[u8]) -> String {
        match mangled.strip_suffix(b"@plt") {
            Some(function) => cut(self.of_function(function)) + "@plt",
            None => cut(self.of_function(mangled)),
        }
    }

    fn of_function(self, mangled: &[u8]) -> String {
        if mangled.len() > MOST_MANGLED {
            return shown(mangled);
        }
        let text = String::from_utf8_lossy(mangled);
        let is_full = match self {
            Self::Off => return text.into_owned(),
            Self::Short | Self::Folded => false,
            Self::Full => true,
        };
        let name = match readable(&text, is_full) {
            Some(name) => name,
            None => return text.into_owned(),
        };
        match self {
            Self::Folded => without_type_arguments(&name),
            _ => name,
        }
    }
}

/// Longer names are not made readable, bytes.
const MOST_MANGLED: usize = 1 << 16;

fn readable(text: &str, is_full: bool) -> Option<String> {
    if is_rust(text)
        && let Ok(name) = rustc_demangle::try_demangle(text)
    {
        let mut readable = Bounded::default();
        // Names that repeat parts of themselves grow from 250 bytes to a million: the rest is left.
        let _ = if is_full {
            write!(readable, "{name}")
        } else {
            write!(readable, "{name:#}")
        };
        return Some(readable.text);
    }
    if text.starts_with("_Z") {
        cpp::readable(text, is_full)
    } else {
        None
    }
}

/// v0 names start with `_R`; legacy ones look like C++ but end with a hash of 16 digits.
fn is_rust(name: &str) -> bool {
    if name.starts_with("_R") {
        return true;
    }
    if !name.starts_with("_ZN") {
        return false;
    }
    let core = name
        .find(".llvm.")
        .and_then(|at| name.get(..at))
        .unwrap_or(name);
    let core = core.split_once("E.").map_or(core, |(core, _)| core);
    let core = core.strip_suffix('E').unwrap_or(core);
    let hash = core.len().checked_sub(19).and_then(|at| core.get(at..));
    hash.and_then(|hash| hash.strip_prefix("17h"))
        .is_some_and(|hash| hash.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
