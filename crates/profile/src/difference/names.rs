//! Names of functions without what differs from one build to the next.

use rprof_base::without_type_arguments;
use std::borrow::Cow;

/// A name without what a compiler or linker made up: hashes, and the suffixes of copies and parts of functions
/// (`.isra.0`). What it names are parts of one function. Of code that was made while the program ran it is
/// [`jit_name`]: no such suffixes are there, and methods may be called as these are.
pub fn stable_name(name: &str) -> Cow<'_, str> {
    let short = without_suffixes(name);
    match without_inner_marks(short) {
        Some(mut other) => {
            other.truncate(without_suffixes(&other).len());
            Cow::Owned(other)
        }
        None => Cow::Borrowed(short),
    }
}

/// The name of a function of which this may be a part (`f` of `f.cold`). It is one only if its image has such a
/// function: methods are called so, too.
pub fn whole_name(name: &str) -> Option<Cow<'_, str>> {
    let whole = PARTS.iter().find_map(|part| name.strip_suffix(part))?;
    (!whole.is_empty()).then(|| stable_name(whole))
}

/// The name of a function that was compiled while the program ran, without how it was compiled.
pub fn jit_name(name: &str) -> Cow<'_, str> {
    let short = jit_tier(name).unwrap_or(name);
    match without_v8_tier(short) {
        Some(other) => Cow::Owned(other),
        None => Cow::Borrowed(short),
    }
}

/// A stable name without what changes when the source around it does: type arguments, and the numbers of lambdas and
/// of nameless types. It names functions that are likely the same where no other name is.
pub fn source_name(stable: &str) -> Cow<'_, str> {
    if !stable.contains(['<', '{', '$', '\'', '.', '[']) {
        return Cow::Borrowed(stable);
    }
    let mut text = without_type_arguments(stable);
    if let Some(at) = text.find("[go.shape.").filter(|_| text.contains(']')) {
        let end = text.rfind(']').unwrap_or(at);
        text.replace_range(at + 1..end.max(at + 1), "...");
    }
    text = text.replace("{{", "{").replace("}}", "}");
    text = without_numbers(&text, "#", &[Some('}')]);
    let ends = [None, Some('.'), Some('-'), Some('/'), Some(':'), Some('\'')];
    for marker in NUMBERED {
        text = without_numbers(&text, marker, &ends);
    }
    if let Some(at) = text.find("$$Lambda").and_then(|_| text.find("/0x")) {
        let digits = text[at + 3..].bytes().take_while(u8::is_ascii_hexdigit);
        let end = at + 3 + digits.count();
        text.replace_range(at..end, "");
    }
    let numbers = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = numbers.len() < text.len();
    let is_copy = numbers.ends_with('.') || (numbers.ends_with('$') && text.contains("lambda$"));
    match numbers.get(..numbers.len().saturating_sub(1)) {
        Some(rest) if is_numbered && is_copy && !rest.is_empty() => Cow::Owned(rest.to_owned()),
        _ => Cow::Owned(text),
    }
}

/// What all names have in common that may name one function in two recordings, by any of these.
pub(crate) fn family_name(name: &str) -> String {
    let stable = stable_name(name);
    let whole = whole_name(&stable).map(Cow::into_owned);
    let whole = whole.unwrap_or_else(|| stable.into_owned());
    source_name(&whole).into_owned()
}

/// What numbers of nameless things stand behind: clang's, LLVM's, Go's and Java's words.
const NUMBERED: [&str; 7] = [
    "$_",
    "'lambda",
    "'unnamed",
    ".func",
    ".gowrap",
    ".deferwrap",
    "$$Lambda$",
];

/// Suffixes of GCC and LLVM that a number follows: without it, a method may be called so.
const NUMBERED_SUFFIXES: [&str; 14] = [
    ".llvm",
    ".isra",
    ".constprop",
    ".part",
    ".cold",
    ".warm",
    ".hot",
    ".unlikely",
    ".lto_priv",
    ".specialized",
    ".__uniq",
    ".clone",
    ".simdclone",
    ".extracted",
];

/// Suffixes of GCC, LLVM and Go that no number follows, and that nothing else is called.
const PLAIN_SUFFIXES: [&str; 6] = [
    ".localalias",
    ".cfi",
    ".cfi_jt",
    ".abi0",
    ".abiinternal",
    "\u{b7}f",
];

/// Suffixes of parts of functions that have no number, and that methods may be called.
const PARTS: [&str; 5] = [".cold", ".warm", ".hot", ".unlikely", ".extracted"];

fn without_suffixes(mut name: &str) -> &str {
    while let Some(shorter) = without_suffix(name) {
        name = shorter;
    }
    name
}

/// Without the last suffix; `None` where there is none, or nothing would be left.
fn without_suffix(name: &str) -> Option<&str> {
    let shorter = match name.as_bytes().last()? {
        b']' => clone_in(name, " [clone ", "]")
            .or_else(|| clone_in(name, " [", "]"))
            .or_else(|| jit_tier(name))?,
        b')' => clone_in(name, " (", ")")?,
        _ => versioned(name)
            .or_else(|| rust_hash(name))
            .or_else(|| dotted(name))?,
    };
    (!shorter.is_empty()).then_some(shorter)
}

/// `f.isra.0`, `f.localalias`.
fn dotted(name: &str) -> Option<&str> {
    let numbered = name.rsplit_once('.').and_then(|(word, number)| {
        let is_numbered = !number.is_empty() && is_number(number);
        let mut suffixes = NUMBERED_SUFFIXES.iter().chain([&".localalias"]);
        let found = suffixes.find_map(|suffix| word.strip_suffix(suffix));
        found.filter(|_| is_numbered)
    });
    let mut plain = PLAIN_SUFFIXES.iter();
    numbered.or_else(|| plain.find_map(|suffix| name.strip_suffix(suffix)))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `f(int) [clone .isra.0]`, as binutils have it; `f(int) (.isra.0)`, as LLVM has it; `f [.cold]`.
fn clone_in<'a>(name: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (rest, inside) = name.strip_suffix(close)?.rsplit_once(open)?;
    let is_suffix = inside.len() > 1
        && inside.starts_with('.')
        && inside
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    is_suffix.then_some(rest)
}

/// `Program.Main()[OptimizedTier1]`, as .NET has it.
fn jit_tier(name: &str) -> Option<&str> {
    let (rest, inside) = name.strip_suffix(']')?.rsplit_once('[')?;
    let is_tier = ["Tier", "Jitted", "JIT", "Optimized"]
        .iter()
        .any(|word| inside.contains(word));
    (is_tier && inside.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(rest)
}

/// `memcpy@@GLIBC_2.14`; a stub (`memcpy@plt`) is another function.
fn versioned(name: &str) -> Option<&str> {
    let (rest, version) = name.split_once('@')?;
    let version = version.trim_start_matches('@');
    let is_version = version.starts_with(|c: char| c.is_ascii_uppercase())
        && version.contains(|c: char| c.is_ascii_digit())
        && version
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    is_version.then_some(rest)
}

/// `core::fmt::write::h0123456789abcdef`.
fn rust_hash(name: &str) -> Option<&str> {
    let (rest, hash) = name.rsplit_once("::h")?;
    (hash.len() == 16 && is_hex(hash)).then_some(rest)
}

fn is_hex(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'))
}

/// How V8 marks by what a function was compiled.
const V8_TIERS: [char; 4] = ['*', '~', '^', '+'];

/// Without V8's marks of how a function was compiled (`JS:*f`); `None` where there are none.
fn without_v8_tier(name: &str) -> Option<String> {
    let (kind, rest) = name.split_once(':')?;
    let is_v8 = matches!(kind, "JS" | "LazyCompile" | "Function" | "Script" | "Eval");
    let bare = rest.trim_start_matches(V8_TIERS);
    (is_v8 && bare.len() < rest.len()).then(|| format!("{kind}:{bare}"))
}

/// Without V8's marks, or the disambiguators of Rust's crates (`core[5e1c30d4d8bd1f8e]::fmt`); `None` where there are
/// none.
fn without_inner_marks(name: &str) -> Option<String> {
    if let Some(bare) = without_v8_tier(name) {
        return Some(bare);
    }
    let mut out = String::new();
    let mut rest = name;
    let mut is_changed = false;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let hash = after.split_once(']').filter(|(hash, _)| {
            let is_of_name = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            is_of_name && (8..=16).contains(&hash.len()) && is_hex(hash)
        });
        rest = match hash {
            Some((_, rest)) => rest,
            None => {
                out.push('[');
                after
            }
        };
        is_changed |= hash.is_some();
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Leaves out numbers (`1`, `1.2`) between each `marker` and one of `ends`; `None` is the end of the text.
fn without_numbers(text: &str, marker: &str, ends: &[Option<char>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(marker) {
        out.push_str(before);
        let tail = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        // A dot that ends the number is not part of it.
        let number = &after[..after.len() - tail.len()];
        let number = number.trim_end_matches('.');
        rest = &after[number.len()..];
        let is_number = !number.is_empty() && !number.starts_with('.');
        if !(is_number && ends.contains(&rest.chars().next())) {
            rest = after;
            out.push_str(marker);
        } else if marker != "#" {
            out.push_str(marker);
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
