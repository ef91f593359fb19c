//! What can go wrong.

use prost::DecodeError;
use thiserror::Error as ThisError;

/// Why bytes are no pprof profile.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A field is longer than the message.
    #[error("a message is cut off")]
    CutOff,
    /// An old form of messages, which profiles do not have.
    #[error("a message has a group")]
    Group,
    /// A message cannot be read.
    #[error(transparent)]
    Message(#[from] DecodeError),
}
