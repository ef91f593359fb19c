//! Why code cannot be shown.

use rprof_images::MAX_CODE;
use rprof_symbols::Reason;

/// Why a function's code cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// There is no file of its image, or not the one that was recorded.
    #[error("{image}: its code cannot be shown: {reason}")]
    NoFile {
        /// The image.
        image: String,
        /// Why.
        reason: Reason,
    },
    /// The recorded kernel's file is not here.
    #[error("{image}: its code is not here: -k FILE takes the recorded kernel's vmlinux{fetch}")]
    NoVmlinux {
        /// The image.
        image: String,
        /// What fetches it.
        fetch: String,
    },
    /// Only the image's debug file is here.
    #[error("{image}: only its debug file is here ({file}), which has no code")]
    DebugOnly {
        /// The image.
        image: String,
        /// The debug file.
        file: String,
    },
    /// Where the function begins is known, but not where it ends.
    #[error(
        "{name} ({image}): where it ends is not known: it has neither a symbol with a size nor an FDE"
    )]
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
    /// It is longer than what is shown.
    #[error(
        "{name} ({image}): {len} bytes of code by its symbol or record: functions of more than {MAX_CODE} are not shown"
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
        "{image}: JIT code that only a perf map names: its bytes are not recorded (a jitdump has them)"
    )]
    PerfMap {
        /// The map.
        image: String,
    },
    /// Its instructions are of a machine that is not known.
    #[error("{image}: code of a machine that is not known")]
    UnknownMachine {
        /// The image.
        image: String,
    },
    /// It is of a guest, or made by the kernel.
    #[error("{image}: {what}, whose code is in no file")]
    NoCode {
        /// The image.
        image: String,
        /// What it is.
        what: &'static str,
    },
}
