//! The words that all crates share: kinds of addresses, what identifies a file's contents, how stacks end,
//! values that go by a number, parts of a whole, how long things took, work shared out to threads, dates, names without
//! type arguments, base64, the columns of tables for query engines. It needs nothing but the standard library.

mod address;
mod base64;
mod build_id;
mod code_address;
mod counted;
mod data_place;
mod delays;
mod duration;
mod glob;
mod interner;
mod module;
pub mod parallel;
mod reference_symbol;
mod share;
mod stack_end;
pub mod tables;
mod type_arguments;
mod utc;

pub use address::{Avma, FileOffset, Svma};
pub use base64::{base64_decoded_len, base64_text, base64_write};
pub use build_id::BuildId;
pub use code_address::CodeAddress;
pub use counted::{Counted, grouped};
pub use data_place::{DataMapping, DataPlace};
pub use delays::Delays;
pub use duration::{Millis, Seconds, TimeLength};
pub use glob::{glob_matches, is_glob};
pub use interner::{Id, Interner};
pub use module::{is_module_file, module_name};
pub use reference_symbol::ReferenceSymbol;
pub use share::Share;
pub use stack_end::StackEnd;
pub use type_arguments::without_type_arguments;
pub use utc::Utc;
