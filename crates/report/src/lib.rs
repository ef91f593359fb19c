//! Turns a recording into a profile, and a profile into text and pictures.
//!
//! ```text
//! pass 1  skim   all records: sideband -> History, where chunks of samples begin, losses
//! pass 2  places samples, in parallel: which places (image, address) occur at all
//!         names  each place named once, in parallel by image
//! pass 3  count  samples, in parallel: stacks counted by function -> Profile
//! ```
//!
//! Names come between two reading passes, so that stacks are counted by function from the start:
//! memory follows the program, not the recording. [`load`] does all of it; [`format`] writes. [`load_timeline`]
//! keeps samples one by one instead, for viewers that want them so.

mod dump;
mod embed;
mod error;
pub mod format;
mod info;
mod load;
mod mend;
pub mod script;
mod symbols;

pub use dump::{DUMP_VERSION, DumpForm, write_dump};
pub use embed::{SymbolSection, symbol_section};
pub use error::Error;
pub use info::{INFO_VERSION, visit_info};
pub use load::{Options, Progress, TimelineDetail, load, load_timeline};
pub use symbols::{ImageSymbols, RecordingSymbols, load_symbols};
