//! Why a probe has no place, or cannot be defined.

use rprof_events::Suggestions;
use rprof_images::ElfError;
use std::io;
use std::path::PathBuf;

/// A probe has no place.
#[derive(Debug, thiserror::Error)]
#[error("cannot place the probe '{event}'")]
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
    #[error("cannot define probes, as tracefs is not writable ({0}): run with sudo")]
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
    #[error("defined the probe '{name}', but cannot read its id: {source}")]
    NoId {
        /// The probe's name in tracefs.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The kernel does not take a definition.
    #[error("the kernel rejects the probe '{definition}': {why}")]
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
    #[error("{} has no symbols: give an address instead, as in uprobe:/path:0x1234", path.display())]
    NoSymbols {
        /// The file.
        path: PathBuf,
    },
    /// The function is chosen when a program starts.
    #[error(
        "'{function}' in {} is an IFUNC, which resolves to another function at program start: name that one",
        path.display()
    )]
    Indirect {
        /// The name.
        function: String,
        /// The file.
        path: PathBuf,
    },
    /// Further than the function is long.
    #[error("'{function}' has {size} bytes, so the offset {offset:#x} is outside it")]
    Beyond {
        /// The name.
        function: String,
        /// Its bytes.
        size: u64,
        /// The offset that was asked for.
        offset: u64,
    },
    /// Nothing says where the function's parameters are.
    #[error(
        "no debug information of '{function}' in {} (separate debug files are not read): compile with -g, or give \
         registers, as in {function}(%di)",
        path.display()
    )]
    NoParameters {
        /// The function.
        function: String,
        /// The file.
        path: PathBuf,
    },
    /// A parameter is not there, or cannot be read.
    #[error(
        "cannot record parameter '{name}' of '{function}': {why}; {}",
        match &readable[..] {
            [] => "none of its parameters can be recorded".to_owned(),
            names => format!("these can be recorded: {}", names.join(", ")),
        }
    )]
    Parameter {
        /// The name that was asked for.
        name: String,
        /// The function.
        function: String,
        /// Why.
        why: &'static str,
        /// The names of those that can be read.
        readable: Vec<String>,
    },
    /// Parameters may be anywhere when a function returns.
    #[error(
        "parameters can be recorded only where a function starts: use uprobe: instead of uretprobe:, or record $retval"
    )]
    AtReturn,
    /// The kernel's DWARF is not looked at.
    #[error(
        "parameters of the kernel's functions cannot be given by name: give registers, as in kprobe:f(%di)"
    )]
    KernelParameters,
    /// A pattern fits more than can be watched.
    #[error("it matches {n} places, but at most 256 can be probed at once: use a narrower pattern")]
    TooMany {
        /// How many.
        n: usize,
    },
    /// Nothing of the file is at this address.
    #[error("nothing in {} is at the address {address:#x}", path.display())]
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
    #[error("no file to search for it: write it as sdt_provider:name@/path")]
    NoFile,
    /// There is no such command.
    #[error("'{command}' is not in PATH")]
    NoCommand {
        /// Its first word.
        command: String,
    },
    /// The command is a script, which others run.
    #[error(
        "{} is a script: its markers are in the interpreter and the libraries it loads; write it as \
         sdt_provider:name@/path",
        path.display()
    )]
    Script {
        /// The script.
        path: PathBuf,
    },
    /// Whose files were to be searched is gone.
    #[error("the process or thread {id} has ended")]
    Ended {
        /// Its id.
        id: i32,
    },
    /// What a process has mapped may not be seen.
    #[error("the mappings of {id} cannot be read; write it as sdt_provider:name@/path")]
    Unseen {
        /// Its id.
        id: i32,
        /// Why.
        source: io::Error,
    },
    /// Kernel threads, and processes whose files are gone.
    #[error("no executable file is mapped there; write it as sdt_provider:name@/path")]
    NothingMapped,
    /// Patterns of the kernel's functions.
    #[error("patterns work only for functions in files: name one kernel function")]
    KernelPattern,
    /// The kernel cannot say where the marker's semaphore is.
    #[error("this kernel does not support semaphores of USDT markers (needs 4.20)")]
    NoSemaphores,
}
