//! The words that all crates share: kinds of addresses, and what identifies a file's contents. It needs
//! nothing but the standard library.

mod address;
mod build_id;
mod module;

pub use address::{Avma, FileOffset, Svma};
pub use build_id::BuildId;
pub use module::{is_module_file, module_name};
