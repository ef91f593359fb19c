//! Where the files of an image are: at the mapped path, with live processes, in folders of
//! debug files, in perf's cache, on servers.
//!
//! A path and a build id go in; open files come out, or a [`NoFile`] why not. A file is taken for
//! the recorded one only if its build id matches. Search paths have one order: the mapped path,
//! what live processes have mapped, then what is named by build id.
//!
//! [`NoFile`]: rprof_images::NoFile

mod debug_file;
mod debuginfod;
mod kept;
mod kernel_files;
mod linked;
mod live_process;
mod locator;
mod mapped;
mod recorded;
mod running_kernel;
mod search_paths;

pub use debuginfod::{
    Debuginfod, DebuginfodSettings, DownloadWatch, Downloads, Kind as DebuginfodKind, ServerFailure,
};
pub use kept::KeptFiles;
pub use kernel_files::{KernelFiles, ModuleDetail, ModuleRequest, Servers};
pub use live_process::{LiveProcess, is_trusted_owner};
pub use locator::Locator;
pub use recorded::Recorded;
pub use running_kernel::{kallsyms_of_kernel, kernel_build_id, running_kallsyms, running_vdso};
