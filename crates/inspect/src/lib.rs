//! A recording as it is: every record, what the file says of itself, and where names come from.

mod dump;
mod error;
mod fields;
mod info;
mod symbols;

pub use dump::{DUMP_VERSION, DumpForm, write_dump};
pub use error::Error;
pub use fields::{JsonFields, OutlineFields, TextFields};
pub use info::{INFO_VERSION, visit_info};
pub use symbols::{visit_symbols, write_symbols};
