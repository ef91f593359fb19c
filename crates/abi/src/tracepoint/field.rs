//! [`TracepointField`]: one field of a format, and where it sits in the raw data.

use super::types::IntType;

/// Where the bytes of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// At its offset.
    Fixed,
    /// Where a word at its offset says, counted from the start of the data (`__data_loc`).
    DataLoc,
    /// The same counted from after the word (`__rel_loc`).
    RelLoc,
}

/// How a field is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Bytes from the start of the raw data.
    pub offset: usize,
    /// Bytes at that offset.
    pub size: usize,
    /// Where its bytes are.
    pub storage: Storage,
    /// Whether its numbers are signed.
    pub is_signed: bool,
    /// Whether it holds several elements.
    pub is_array: bool,
    /// Whether those are characters: `char`. (perf tries `u8` too, until it meets bytes that are
    /// not printable.)
    pub is_text: bool,
    /// Whether it is an address.
    pub is_pointer: bool,
    /// Whether its type is a `long`, which perf takes for an address where it has no `print fmt`.
    pub is_long: bool,
    /// Bytes of an element, of all if there is only one; 0 if the type does not tell.
    pub element_len: usize,
}

/// A field of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracepointField {
    /// Its name.
    pub name: String,
    /// Its C type, with the brackets of an array.
    pub type_name: String,
    /// Where and how it is stored.
    pub place: FieldPlace,
}

impl TracepointField {
    /// Parses a line of a format: `field:char comm[16]; offset:8; size:16; signed:0;`.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(';').map(str::trim);
        let declaration = parts.next()?.strip_prefix("field:")?.trim();
        // Fields of ftrace's own events may be marked so.
        let declaration = declaration.strip_prefix("special:").unwrap_or(declaration);
        let mut number = |key| -> Option<usize> { parts.next()?.strip_prefix(key)?.parse().ok() };
        let offset = number("offset:")?;
        let size = number("size:")?;
        let is_signed = number("signed:").unwrap_or(0) != 0;
        let (type_name, name) = split_declaration(declaration)?;
        let place = FieldPlace {
            offset,
            size,
            is_signed,
            ..place_of_type(&type_name, size)
        };
        Some(Self {
            name,
            type_name,
            place,
        })
    }
}

/// `char comm[16]` is type `char[16]` and name `comm`; `__data_loc char[] name` is as it stands.
fn split_declaration(declaration: &str) -> Option<(String, String)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (head, brackets) = match declaration.find('[') {
        Some(at) if declaration.ends_with(']') => declaration.split_at_checked(at)?,
        _ => (declaration, ""),
    };
    let head = head.trim_end();
    let type_len = head.trim_end_matches(is_word).len();
    let (kind, name) = head.split_at_checked(type_len)?;
    let kind = kind.trim_end();
    if name.is_empty() || kind.is_empty() {
        return None;
    }
    Some((format!("{kind}{brackets}"), name.to_owned()))
}

fn place_of_type(type_name: &str, size: usize) -> FieldPlace {
    let storage = match type_name {
        name if name.starts_with("__data_loc") => Storage::DataLoc,
        name if name.starts_with("__rel_loc") => Storage::RelLoc,
        _ => Storage::Fixed,
    };
    let is_dynamic = storage != Storage::Fixed;
    let array_len = array_len(type_name);
    // A dynamic word of two bytes is a string of an old kernel.
    let is_old_text = is_dynamic && size == 2;
    let is_array = array_len.is_some() || is_old_text;
    let has = |word| type_name.contains(word);
    let element_len = match array_len {
        None => size,
        Some(len) if !is_dynamic && len > 0 => size / len,
        Some(_) => element_len(type_name),
    };
    FieldPlace {
        offset: 0,
        size,
        storage,
        is_signed: false,
        is_array,
        is_text: is_old_text || is_array && has("char") && !has("unsigned"),
        is_pointer: has("*"),
        is_long: has("long"),
        element_len,
    }
}

/// Elements between the brackets: 0 if they are empty or name a constant.
fn array_len(type_name: &str) -> Option<usize> {
    let (_, rest) = type_name.split_once('[')?;
    let len = rest.trim_end_matches(']').rsplit(' ').next()?;
    Some(len.trim().parse().unwrap_or(0))
}

/// Bytes of the type's element as far as every kernel agrees on them.
fn element_len(type_name: &str) -> usize {
    let base = type_name.split('[').next().unwrap_or_default();
    let words = base
        .split_whitespace()
        .filter(|word| !word.starts_with("__data_loc"));
    let words = words.filter(|word| !word.starts_with("__rel_loc"));
    match IntType::from_words(words) {
        Some(kind) => usize::from(kind.size),
        None => 0,
    }
}
