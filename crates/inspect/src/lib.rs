//! What is there, as it is: of a recording every record, what the file says of itself, and where names
//! come from; of a machine its events.

mod attr_text;
mod dump;
mod error;
mod fields;
mod header;
mod info;
mod list;
mod symbols;

pub use attr_text::attr_fields;
pub use dump::{DUMP_VERSION, DumpForm, write_dump};
pub use error::Error;
pub use fields::{JsonFields, OutlineFields, TextFields};
pub use header::header_text;
pub use info::{INFO_VERSION, visit_info};
pub use list::{LIST_VERSION, ListOptions, Listing, visit_list, write_list};
pub use symbols::{visit_symbols, write_symbols};
