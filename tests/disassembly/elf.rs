//! Whose code a file has.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// The code of a file.
pub(crate) struct CodeOf {
    /// As `uname -m` has it.
    pub(crate) machine: &'static str,
    /// The programs that may know it.
    objdumps: [&'static str; 2],
}

impl CodeOf {
    /// By the head of an ELF file.
    pub(crate) fn file(path: &Path) -> Self {
        let mut head = [0; 20];
        File::open(path).unwrap().read_exact(&mut head).unwrap();
        let (machine, named) = match head[18] {
            62 => ("x86_64", "x86_64-linux-gnu-objdump"),
            3 => ("i686", "x86_64-linux-gnu-objdump"),
            183 => ("aarch64", "aarch64-linux-gnu-objdump"),
            other => panic!("{} is of machine {other}", path.display()),
        };
        let objdumps = [named, "objdump"];
        Self { machine, objdumps }
    }

    /// The program that disassembles it here.
    pub(crate) fn objdump(&self) -> Option<&'static str> {
        let runs = |program: &&str| Command::new(program).arg("--version").output().is_ok();
        self.objdumps.into_iter().find(runs)
    }
}
