//! Programs that tests compile. One way to do it, and what tests that record one begin with.

use super::{live, needs, run, scratch, tool, work};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The kernel finds callers by frame pointers.
pub const FRAME_POINTERS: &[&str] = &[
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-pthread",
];

/// Callers are only found by what describes frames.
pub const NO_FRAME_POINTERS: &[&str] = &[
    "-O2",
    "-g",
    "-fomit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-pthread",
    "-Wl,--build-id",
];

/// Compiles C to a file; what it does for a while is [`work::C`]. The source stays beside the file.
#[track_caller]
pub fn compile(output: &Path, source: &str, options: &[&str]) {
    let input = output.with_extension("c");
    std::fs::write(&input, format!("{}{source}", work::C)).unwrap();
    let mut cc = tool("cc");
    // Libraries are only taken from after what needs them.
    cc.arg("-o").arg(output).arg(&input).args(options);
    run(&mut cc).ok();
}

/// Compiles a program with frame pointers.
#[track_caller]
pub fn compile_c(dir: &Path, name: &str, source: &str) -> PathBuf {
    let output = dir.join(name);
    compile(&output, source, FRAME_POINTERS);
    output
}

/// A program to record, in a folder of its own. The machine's place for live tests is only taken
/// while it is recorded: others may record while a test compiles, or reads what it has.
#[derive(Debug)]
pub struct Program {
    dir: TempDir,
}

impl Program {
    /// Compiles C. `None` if there is no compiler or nothing can be recorded here, which is said.
    #[track_caller]
    pub fn new(source: &str, options: &[&str]) -> Option<Self> {
        needs!(cc);
        Self::made(|path| compile(path, source, options))
    }

    /// One that is made in another way, at the path it is to have. `None` if nothing can be recorded
    /// here.
    #[track_caller]
    pub fn made(make: impl FnOnce(&Path)) -> Option<Self> {
        live()?;
        let program = Self { dir: scratch() };
        make(&program.path());
        Some(program)
    }

    /// Its folder, which goes with it.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The program itself.
    pub fn path(&self) -> PathBuf {
        self.dir().join("program")
    }

    /// A file in its folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }
}
