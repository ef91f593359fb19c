//! What is decoded, instruction by instruction, beside what `objdump` has: lengths, texts in both
//! syntaxes, and the addresses that are referred to.
//!
//! `cargo xtask sweep FILE..` adds files (`RPROF_SWEEP`) and shows what was compared.

#[path = "../common/mod.rs"]
mod common;
mod elf;
mod listing;
mod rules;
mod sweep;

use std::path::{Path, PathBuf};

use common::skipped;
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

/// Sweeps over the libraries and over what the chore names.
fn sweep(test: &str, syntax: Syntax) {
    let mut files = libraries();
    if files.len() < 2 {
        skipped(test, "libc.so.6 and libstdc++.so.6");
    }
    let asked = std::env::var_os("RPROF_SWEEP").unwrap_or_default();
    files.extend(std::env::split_paths(&asked).filter(|path| !path.as_os_str().is_empty()));
    for file in files {
        let code = CodeOf::file(&file);
        let Some(objdump) = code.objdump() else {
            skipped(test, "objdump of binutils");
            continue;
        };
        let mut sweep = Sweep::of(code.machine, syntax);
        sweep.file(objdump, &file);
        if !asked.is_empty() {
            println!("{}\n{sweep}", file.display());
        }
        assert_eq!(sweep.n_different(), 0, "{}\n{sweep}", file.display());
    }
}

#[test]
fn libraries_are_decoded_as_objdump_does() {
    sweep("libraries_are_decoded_as_objdump_does", Syntax::Att);
}

#[test]
fn libraries_are_decoded_as_objdump_does_in_intels_syntax() {
    // Other machines have one syntax.
    if cfg!(target_arch = "x86_64") {
        sweep(
            "libraries_are_decoded_as_objdump_does_in_intels_syntax",
            Syntax::Intel,
        );
    }
}
