//! Why a probe has no place, or cannot be defined.

use rprof_events::Suggestions;
use rprof_images::ElfError;
use std::io;
use std::path::PathBuf;

/// A probe has no place.
#[derive(Debug, thiserror::Error)]
#[error("no place for '{event}'")]
pub struct NoPlace {
    /// The event.
    pub event: String,
    /// Why.
    pub source: ProbeError,
}

/// A probe cannot be defined in tracefs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefineError {
    /// There is no tracefs that can be written.
    #[error("probes are defined in tracefs, which cannot be written ({0}): run with sudo")]
    Tracefs(io::Error),
    /// The file with the probed code cannot be opened.
    #[error("cannot open {} for a probe: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel took a definition, and does not say which event it is.
    #[error("the probe '{name}' is defined, and its id cannot be read: {source}")]
    NoId {
        /// The probe's name in tracefs.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The kernel does not take a definition.
    #[error("the kernel does not take the probe '{definition}': {why}")]
    Refused {
        /// What was written.
        definition: String,
        /// Why.
        why: String,
    },
}

/// Why a probe has no place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] ElfError),
    /// No function of this name, or of this pattern.
    #[error("no function '{function}' in {}{suggestions}", path.display())]
    NoFunction {
        /// The name.
        function: String,
        /// Where it was looked for.
        path: PathBuf,
        /// Names that are close.
        suggestions: Suggestions,
    },
    /// The file says no functions at all.
    #[error("{} has no symbols: give an address of it, as in uprobe:/path:0x1234", path.display())]
    NoSymbols {
        /// The file.
        path: PathBuf,
    },
    /// The function is chosen when a program starts.
    #[error(
        "'{function}' in {} only stands for another function, which is chosen when a program starts \
         (IFUNC): name that one",
        path.display()
    )]
    Indirect {
        /// The name.
        function: String,
        /// The file.
        path: PathBuf,
    },
    /// Further than the function is long.
    #[error("'{function}' has {size} bytes, so {offset:#x} is not in it")]
    Beyond {
        /// The name.
        function: String,
        /// Its bytes.
        size: u64,
        /// The offset that was asked for.
        offset: u64,
    },
    /// A pattern fits more than can be watched.
    #[error("it fits {n} places, at most 256 can be watched at once: a longer pattern fits fewer")]
    TooMany {
        /// How many.
        n: usize,
    },
    /// Nothing of the file is at this address.
    #[error("nothing in {} has the address {address:#x}", path.display())]
    NoAddress {
        /// The address.
        address: u64,
        /// The file.
        path: PathBuf,
    },
    /// No marker of this name.
    #[error("no marker '{marker}' in {searched}{suggestions}")]
    NoMarker {
        /// Provider and name.
        marker: String,
        /// Where it was looked for.
        searched: String,
        /// Names that are close.
        suggestions: Suggestions,
    },
    /// Nobody says in which file.
    #[error("nothing says in which file: write it as sdt_provider:name@/path")]
    NoFile,
    /// There is no such command.
    #[error("'{command}' is not in PATH")]
    NoCommand {
        /// Its first word.
        command: String,
    },
    /// The command is a script, which others run.
    #[error(
        "{} is a script: markers are in its interpreter and what that loads; write it as \
         sdt_provider:name@/path",
        path.display()
    )]
    Script {
        /// The script.
        path: PathBuf,
    },
    /// Whose files were to be searched is gone.
    #[error("there is no process or thread {id} any more")]
    Ended {
        /// Its id.
        id: i32,
    },
    /// What a process has mapped may not be seen.
    #[error("what {id} has mapped cannot be seen; write it as sdt_provider:name@/path")]
    Unseen {
        /// Its id.
        id: i32,
        /// Why.
        source: io::Error,
    },
    /// Kernel threads, and processes whose files are gone.
    #[error("no file with code is mapped there; write it as sdt_provider:name@/path")]
    NothingMapped,
    /// Patterns of the kernel's functions.
    #[error("patterns are for functions of files: name one of the kernel's functions")]
    KernelPattern,
    /// The kernel cannot say where the marker's semaphore is.
    #[error("this kernel knows no semaphores of markers (before 4.20)")]
    NoSemaphores,
}
