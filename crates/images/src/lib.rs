//! Files that say what code is where: ELF files and their debug files, the kernel's symbol
//! list, what JIT compilers write.
//!
//! Bytes go in, answers come out: an open [`Elf`], or a [`NoFile`] why there is none. Where files
//! are is another crate's matter. Nothing is mapped: sections are read with `pread`.

mod arch;
mod code;
mod contents;
mod elf;
mod fde_index;
mod files;
mod fingerprint;
mod frame_section;
mod function_search;
mod functions;
mod go;
mod headers;
mod jitdump;
mod kallsyms;
mod kernel_module;
mod marker_file;
mod markers;
mod mini;
mod no_file;
mod perf_map;
mod plt;
mod raw_section;
mod segments;
mod source;
mod static_data;
mod symbol_names;
mod symbol_table;

pub use code::{MAX_CODE, PointerTarget, SlotUse};
pub use elf::{AlternateLink, DebugLink, Elf, ElfError};
pub use fde_index::{FdeEntry, FdeIndex, cie_of};
pub use files::{FileOrigin, LinkedFiles, Located, SplitFiles};
pub use fingerprint::{Fingerprint, file_checksum};
pub use frame_section::{FrameEncoding, FrameSection};
pub use function_search::FunctionSearch;
pub use functions::ElfFunction;
pub use go::{GoFrame, GoFunction, GoTable};
pub use jitdump::{
    JitDamage, JitDump, JitDumpError, JitFrames, JitLine, JitLines, JitLoad, JitMove, JitRecord,
};
pub use kallsyms::{Kallsym, Kallsyms};
pub use kernel_module::{MODULE_BASE, module_from_file, module_from_memory};
pub use marker_file::{MarkerFile, WrittenSpan};
pub use markers::{Marker, markers};
pub use no_file::NoFile;
pub use perf_map::{PerfMap, PerfMapEntry};
pub use plt::PltEntry;
pub use raw_section::{RawSection, SectionBytes};
pub use segments::Segment;
pub use source::{Device, Opened};
pub use static_data::StaticData;
pub use symbol_table::{ElfSymbol, SymbolTable};
