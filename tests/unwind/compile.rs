//! Programs made in the test.

use crate::common::{has, is_wide, is_x86_64, links, run, scratch, tool, write};
use crate::unwind::gdb::can_be_followed;
use rprof_abi::Machine;
use std::path::PathBuf;
use tempfile::TempDir;

/// A program in a folder of its own.
#[derive(Debug)]
pub struct Program {
    pub folder: TempDir,
    pub path: PathBuf,
    machine: Machine,
}

/// How a program is made.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'r> {
    /// The compiler, and the package that it is in.
    pub compiler: (&'r str, &'r str),
    /// The source's name, which says its language.
    pub name: &'r str,
    pub source: &'r str,
    pub flags: &'r [&'r str],
}

/// A C program; `None` if a tool is missing.
#[track_caller]
pub fn c(source: &str, flags: &[&str]) -> Option<Program> {
    make(Recipe {
        compiler: ("gcc", "gcc"),
        name: "program.c",
        source,
        flags,
    })
}

/// A C program for a machine that is emulated; `None` where no such are asked for, or a tool is missing.
#[track_caller]
pub fn emulated(machine: Machine, source: &str, flags: &[&str]) -> Option<Program> {
    let name = machine.name();
    let recipe = Recipe {
        compiler: (
            &format!("{name}-linux-gnu-gcc"),
            &format!("gcc-{name}-linux-gnu"),
        ),
        name: "program.c",
        source,
        flags,
    };
    let has_all = is_wide()
        && has("gdb-multiarch", "gdb-multiarch")
        && has(&format!("qemu-{name}"), "qemu-user");
    if has_all { make(recipe) } else { None }
}

/// Any program; `None` if a tool is missing.
#[track_caller]
pub fn make(recipe: Recipe<'_>) -> Option<Program> {
    let Recipe {
        compiler: (compiler, package),
        name,
        source,
        flags,
    } = recipe;
    if !can_be_followed() || !has(compiler, package) {
        return None;
    }
    let target = compiler.strip_suffix("-linux-gnu-gcc");
    let machine = match target.and_then(Machine::named) {
        Some(machine) => machine,
        None if is_x86_64() => Machine::X86_64,
        None => return None,
    };
    let linked = flags.iter().find(|flag| flag.starts_with("-static"));
    if compiler == "gcc" && linked.is_some_and(|kind| !links(&[kind], "libc6-dev (libc.a)")) {
        return None;
    }
    let folder = scratch();
    let path = folder.path().join("program");
    write(&folder.path().join(name), source.as_bytes());
    let mut command = tool(compiler);
    command.current_dir(folder.path());
    // Go wants flags first.
    command.args(flags.iter().take_while(|flag| **flag == "build"));
    command.args(["-o", "program", name]);
    command.args(flags.iter().skip_while(|flag| **flag == "build"));
    run(&mut command).ok();
    Some(Program {
        folder,
        path,
        machine,
    })
}

impl Program {
    /// Runs another tool in its folder.
    #[track_caller]
    pub fn tool(&self, words: &[&str]) {
        let (name, args) = words.split_first().unwrap();
        let mut command = tool(name);
        run(command.current_dir(self.folder.path()).args(args)).ok();
    }

    /// What gdb sees in it.
    #[track_caller]
    pub fn truth(&self, plan: &str) -> crate::unwind::gdb::Truth {
        crate::unwind::gdb::truth(self.folder.path(), &self.path, self.machine, plan)
    }
}
