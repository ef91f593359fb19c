//! What others made, met safely: a profiler runs as root, beside hostile users, over programs and
//! recordings of strangers.
//!
//! - [`open`]: a file that a recording or a process names is looked at before it is opened.
//! - [`open_for`]: a file that another file names is opened with the rights of that file's [`Author`].
//! - [`Budget`]: what files make us hold in memory, read and spool is bounded, in sum;
//!   [`is_mostly_hole`]: a file claims no memory for what it does not have.
//! - [`Goal`]: where a file is to be written, past links that others may have made; [`NewFile`]: made
//!   there under a name of its own, then put into place; [`NewFolders`]: folders for them.
//! - [`OwnFolder`]: a folder that is ours alone, held open, for notes in a place where others may write.
//! - [`memory_file`]: a file that no folder has.
//! - [`quoted`]: a word of a command that is suggested, as shells read it.
//! - [`JsonWriter`]: the one writer of JSON, which escapes text that others chose.
//! - [`Untrusted`]: text that others chose is displayed without what a terminal obeys.

#![forbid(unsafe_code)]

mod author;
mod budget;
mod create;
mod folder;
mod holes;
mod json;
mod memory;
mod open;
mod own_folder;
mod place;
mod quote;
mod text;

pub use author::{Author, open_for};
pub use budget::{Allowed, Budget, Held, Limits, OverBudget, read_all};
pub use create::{FileId, NewFile, Placed};
pub use folder::{FolderLock, NewFolders};
pub use holes::{is_mostly_hole, stored};
pub use json::{JsonContainer, JsonLayout, JsonScalar, JsonWriter};
pub use memory::memory_file;
pub use open::{Seen, open};
pub use own_folder::{OwnFolder, open_folder};
pub use place::{FolderEntry, Goal, open_fifo, open_to_append, open_to_change};
pub use quote::quoted;
pub use text::{Untrusted, printable};
