//! [`TracepointFormat`]: the `format` file of a tracepoint, parsed.

use super::error::{FormatError, PrintError};
use super::field::TracepointField;
use super::pieces::{Piece, pieces};

/// A tracepoint: its fields, and how a sample of it is printed.
#[derive(Clone, Debug)]
pub struct TracepointFormat {
    /// Its name, without system.
    pub name: String,
    /// Its number, which is `config` in the attr and `common_type` in the raw data.
    pub id: u64,
    /// The fields that every tracepoint has (`common_type`, `common_pid` ..).
    pub common_fields: Vec<TracepointField>,
    /// Its own fields.
    pub fields: Vec<TracepointField>,
    pub(super) pieces: Result<Vec<Piece>, PrintError>,
}

/// The kernel's longest are some 20 KB; every argument is looked for among all fields, and every
/// value among all of its names.
const MAX_LEN: usize = 64 << 10;

impl TracepointFormat {
    /// Parses the text of `events/<system>/<event>/format`. A `print fmt` that is not understood
    /// is no error: see [`Self::print_error`].
    ///
    /// # Errors
    /// [`FormatError`] if name, id or fields cannot be read, or if it is longer than any.
    pub fn parse(text: &[u8]) -> Result<Self, FormatError> {
        if text.len() > MAX_LEN {
            return Err(FormatError::TooLong { len: text.len() });
        }
        let text = String::from_utf8_lossy(text);
        let (head, print) = match text.find("print fmt:") {
            Some(at) => text.split_at(at),
            None => (&*text, ""),
        };
        let line = |key| head.lines().find_map(|line| line.strip_prefix(key));
        let missing = |what| FormatError::Missing { what };
        let name = line("name:").map(str::trim).ok_or(missing("name:"))?;
        let id = line("ID:").and_then(|id| id.trim().parse().ok());
        let id = id.ok_or(missing("ID:"))?;

        let (common_fields, fields) = fields(head)?;
        let all: Vec<_> = common_fields.iter().chain(&fields).cloned().collect();
        let print = print.strip_prefix("print fmt:").unwrap_or_default();
        Ok(Self {
            name: name.to_owned(),
            id,
            pieces: pieces(print, &all),
            common_fields,
            fields,
        })
    }

    /// A field by name, its own or a common one.
    pub fn field(&self, name: &str) -> Option<&TracepointField> {
        self.fields
            .iter()
            .chain(&self.common_fields)
            .find(|field| field.name == name)
    }

    /// Why its samples are printed field by field; `None` if they are not.
    pub fn print_error(&self) -> Option<&PrintError> {
        self.pieces.as_ref().err()
    }
}

/// Common fields and the event's own: an empty line separates them.
fn fields(head: &str) -> Result<(Vec<TracepointField>, Vec<TracepointField>), FormatError> {
    let mut common = Vec::new();
    let mut own = Vec::new();
    let mut is_common = true;
    let lines = head.lines().map(str::trim);
    for line in lines
        .skip_while(|line| !line.starts_with("format:"))
        .skip(1)
    {
        if line.is_empty() {
            is_common = false;
            continue;
        }
        let field = TracepointField::parse(line).ok_or_else(|| FormatError::BadField {
            line: line.to_owned(),
        })?;
        let list = if is_common { &mut common } else { &mut own };
        list.push(field);
    }
    Ok((common, own))
}
