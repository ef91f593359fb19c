//! What is decoded, instruction by instruction, beside what `objdump` has: lengths, texts in both
//! syntaxes, and the addresses that are referred to.
//!
//! `cargo xtask sweep FILE..` adds files (`RPROF_SWEEP`) and shows what was compared.

mod elf;
mod listing;
mod rules;
mod sweep;

use std::path::{Path, PathBuf};

use crate::common::skipped;
use elf::CodeOf;
use rprof_disassembly::Syntax;
use sweep::Sweep;

/// The C library that this program runs with, and the C++ library beside it.
fn libraries() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let libc = paths.into_iter().find(|path| path.ends_with("/libc.so.6"));
    let Some(libc) = libc else { return Vec::new() };
    let folder = Path::new(libc).parent().unwrap();
    let names = ["libc.so.6", "libstdc++.so.6"];
    let all = names.map(|name| folder.join(name));
    all.into_iter().filter(|path| path.exists()).collect()
}

/// What was found in a file, if it can be compared here.
fn swept(syntax: Syntax, file: &Path) -> Option<Sweep> {
    let code = CodeOf::file(file);
    // Other machines have one syntax.
    if code.machine == "aarch64" && syntax == Syntax::Intel {
        return None;
    }
    let Some(objdump) = code.objdump() else {
        skipped("objdump of binutils");
        return None;
    };
    let mut sweep = Sweep::of(code.machine, syntax);
    sweep.file(objdump, file);
    Some(sweep)
}

/// Sweeps over the libraries, where nothing may differ, and over what the chore names.
fn sweep(syntax: Syntax) {
    let libraries = libraries();
    if libraries.len() < 2 {
        skipped("libc.so.6 and libstdc++.so.6");
    }
    for file in libraries {
        if let Some(sweep) = swept(syntax, &file) {
            assert_eq!(sweep.n_different(), 0, "{}\n{sweep}", file.display());
        }
    }
    let asked = std::env::var_os("RPROF_SWEEP").unwrap_or_default();
    for file in std::env::split_paths(&asked).filter(|path| path.is_file()) {
        if let Some(sweep) = swept(syntax, &file) {
            println!("{}, {syntax:?}: {sweep}", file.display());
        }
    }
}

#[test]
fn libraries_are_decoded_as_objdump_does() {
    sweep(Syntax::Att);
}

#[test]
fn libraries_are_decoded_as_objdump_does_in_intels_syntax() {
    sweep(Syntax::Intel);
}
