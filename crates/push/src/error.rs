//! What is wrong with where to send, with what, or with the notes on disk. No text has a credential, the value of a
//! label, or more of a URL than its host.

use std::io;
use std::path::PathBuf;

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL is not one that can be used.
    #[error("--to: {0}")]
    Url(&'static str),
    /// A label is not one.
    #[error("--label {name}: {why}")]
    Label {
        /// Its name, or its number if even that is not known.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The token cannot be used.
    #[error("{place}: {why}")]
    Token {
        /// The file or the variable that it is in.
        place: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The token would be read by others on the way.
    #[error(
        "refusing to send a token to {host} without TLS: use https, or --token-over-http if the network is private"
    )]
    Plain {
        /// The server.
        host: String,
    },
    /// The certificates to trust cannot be used.
    #[error("{path}: {why}")]
    Certificates {
        /// Their file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Notes on what is delivered cannot be written. Without them, they are kept in memory.
    #[error("{path}")]
    State {
        /// The folder or file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// There are notes on what is delivered, and they cannot be read. Without them, all would be sent again.
    #[error(
        "{path}: cannot read this note on what is delivered, and without it samples would count twice; push as the user \
         who made it, or delete it to push again"
    )]
    Notes {
        /// The folder or file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Somebody else sends what is in the directory to the same server.
    #[error("{path}: another rprof push is sending these recordings to this server")]
    Busy {
        /// The directory.
        path: PathBuf,
    },
}
