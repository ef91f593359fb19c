//! Files that say what code is where: ELF files and their debug files, the kernel's symbol
//! list, what compilers at run time leave behind, and where to find each of them.
//!
//! A path and a build id go in; an open [`Elf`] (and its debug file) comes out, or a [`Reason`]
//! why not. A file is taken for the recorded one only if its build id matches. Nothing is mapped:
//! sections are read with `pread`.

mod contents;
mod debuginfod;
mod elf;
mod fingerprint;
mod go;
mod jitdump;
mod kallsyms;
mod kernel;
mod kernel_files;
mod kernel_module;
mod living;
mod locate;
mod packed;
mod perf_map;
mod plt;
mod segments;
mod source;

pub use debuginfod::{Debuginfod, DebuginfodSettings, Downloads, Kind as DebuginfodKind, Watch};
pub use elf::{DebugLink, Elf, ElfError, ElfMachine, ElfSymbol, SymbolTable};
pub use fingerprint::Fingerprint;
pub use go::{GoFrame, GoTable};
pub use jitdump::{
    JitDamage, JitDump, JitDumpError, JitFrames, JitLine, JitLines, JitLoad, JitMove, JitRecord,
};
pub use kallsyms::{Kallsym, Kallsyms};
pub use kernel::{kernel_build_id, running_vdso};
pub use kernel_files::{Depth, KernelFiles, Servers};
pub use kernel_module::{MODULE_BASE, module_from_memory};
pub use living::{Living, is_trusted_owner};
pub use locate::{KeptFiles, Located, Locator, Reason, Recorded, SplitFiles};
pub use packed::{PackedSection, SectionBytes};
pub use perf_map::{PerfMap, PerfMapEntry};
pub use plt::PltEntry;
pub use segments::Segment;
