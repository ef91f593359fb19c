//! The code of functions, and what was counted in it: what `annotate` shows.
//!
//! ```text
//! recording   samples counted by location, functions found; with_samples: from samples in memory
//! choose      one of them by its name
//! counted     samples of other recordings in the same code
//! code        its bytes, of the file that was recorded
//! describe    inlined functions and lines of its instructions, names of what they refer to
//! ```

mod choose;
mod cold;
mod counted;
mod describe;
mod error;
mod found;
mod images;
mod inlined;
mod jit;
mod jit_code;
mod kernel;
mod open;
mod parts;
mod recording;
mod wanted;
mod with_samples;

pub use choose::ChoiceError;
pub use counted::CountedCode;
pub use describe::{AskedCode, Description};
pub use error::CodeError;
pub use found::FoundFunction;
pub use inlined::{InlinedFunction, InlinedInto};
pub use open::OpenCode;
pub use recording::{CodeOptions, CodeRecording};
pub use wanted::WantedFunction;
pub use with_samples::load_samples_and_code;
