//! Why code cannot be shown.

use rprof_images::{MAX_CODE, NoFile};
use rprof_symbols::Reason;

/// Why a function's code cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// There is no file of its image, or not the one that was recorded.
    #[error("{image}: cannot show its code: {reason}")]
    NoFile {
        /// The image.
        image: String,
        /// Why.
        reason: Reason,
    },
    /// The recorded kernel's file is not here.
    #[error("{image}: code not found: pass the recorded kernel's vmlinux with -k FILE{fetch}")]
    NoVmlinux {
        /// The image.
        image: String,
        /// What fetches it.
        fetch: String,
    },
    /// Only the image's debug file is here.
    #[error("{image}: found only its debug file ({file}), which has no code")]
    DebugOnly {
        /// The image.
        image: String,
        /// The debug file.
        file: String,
    },
    /// Where the function begins is known, but not where it ends.
    #[error("{name} ({image}): unknown end: it has neither a symbol with a size nor an FDE")]
    NoEnd {
        /// The function.
        name: String,
        /// The image.
        image: String,
    },
    /// The file does not have all of the code.
    #[error("{name} ({image}): its code, {start:#x}-{end:#x}, is not in the file")]
    NotInFile {
        /// The function.
        name: String,
        /// The image.
        image: String,
        /// Where it begins.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// A jitdump has no record of it any more.
    #[error("{name} ({image}): its code is not in the jitdump")]
    NotInJitDump {
        /// The function.
        name: String,
        /// The image.
        image: String,
    },
    /// A jitdump has a record of it, whose code cannot be read.
    #[error("{name} ({image}): cannot show its code: {reason}")]
    Unreadable {
        /// The function.
        name: String,
        /// The image.
        image: String,
        /// Why.
        reason: NoFile,
    },
    /// It is longer than what is shown.
    #[error(
        "{name} ({image}): {len} bytes of code according to its symbol or record: functions larger than \
         {MAX_CODE} bytes are not shown"
    )]
    TooLong {
        /// The function.
        name: String,
        /// The image.
        image: String,
        /// Bytes.
        len: u64,
    },
    /// A perf map has names, but no code.
    #[error(
        "{image}: JIT code known only from a perf map: its bytes are not recorded (a jitdump has them)"
    )]
    PerfMap {
        /// The map.
        image: String,
    },
    /// Its instructions are of a machine that is not known.
    #[error("{image}: code of an unknown architecture")]
    UnknownMachine {
        /// The image.
        image: String,
    },
    /// It is of a guest, or made by the kernel.
    #[error("{image}: {what}: its code is in no file")]
    NoCode {
        /// The image.
        image: String,
        /// What it is.
        what: &'static str,
    },
}

impl CodeError {
    /// Whether no other function of the image has code, for the same reason.
    pub fn is_of_image(&self) -> bool {
        match self {
            Self::NoFile { .. }
            | Self::NoVmlinux { .. }
            | Self::DebugOnly { .. }
            | Self::PerfMap { .. }
            | Self::UnknownMachine { .. }
            | Self::NoCode { .. } => true,
            Self::NoEnd { .. }
            | Self::NotInFile { .. }
            | Self::NotInJitDump { .. }
            | Self::Unreadable { .. }
            | Self::TooLong { .. } => false,
        }
    }
}
