//! Sends profiles to servers, so that none is lost: messages in, HTTP requests out, and a note on disk of what was
//! delivered.
//!
//! It knows nothing of profiles. A recording becomes bytes elsewhere, a [`Part`] at a time; a [`Sender`] delivers a part
//! or says why it cannot, and a [`Ledger`] remembers it for the recording's directory.
//!
//! - [`PushTarget`]: where to, checked before anything is sent; [`Protocol`]: how.
//! - [`Credentials`]: from a file or the environment, and never in a text.
//! - [`Labels`]: what users say of a recording.

#![forbid(unsafe_code)]

mod answer;
mod backoff;
mod client;
mod credentials;
mod error;
mod labels;
mod ledger;
mod part;
mod protocol;
mod sender;
mod state;
mod target;
mod wire;

pub use answer::{PartialSuccess, Refusal};
pub use credentials::Credentials;
pub use error::Error;
pub use labels::Labels;
pub use ledger::{KnownRecording, Ledger};
pub use part::{Part, PartId};
pub use protocol::{PartLimits, Protocol};
pub use sender::{Delivery, Sender, SenderSettings};
pub use state::{FileStamp, content_id};
pub use target::PushTarget;
