//! Names of programs compiled here: those that their tools give them, too.

mod inlined;
mod namesakes;
mod symbols;
mod whole;

use crate::common::{run, tool};
use rprof_base::{FileOffset, Svma};
use rprof_images::{Elf, Located, SymbolTable};
use rprof_locate::{Locator, Recorded};
use rprof_symbols::{Demangling, Detail, Request, symbolize_user};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

fn locate(path: &Path) -> Located {
    let recorded = Recorded {
        path: path.as_os_str().as_bytes(),
        ..Recorded::default()
    };
    Locator::default().locate(recorded).unwrap()
}

/// A function and where in the source, innermost first.
type Frames = Vec<(String, Option<(String, u32)>)>;

fn frames(path: &Path, addresses: &[u64], n_threads: usize) -> Vec<Frames> {
    let located = locate(path);
    let offset = |&address: &u64| located.binary.file_offset(Svma(address)).unwrap();
    let offsets: Vec<FileOffset> = addresses.iter().map(offset).collect();
    let request = Request {
        detail: Detail::Lines,
        demangling: Demangling::Short,
        fde: false,
        n_threads,
        index: false,
    };
    let answers = symbolize_user(&located, &offsets, request).unwrap();
    let frame = |frame: &rprof_symbols::Frame| {
        let line = frame.line.filter(|line| line.line != 0);
        let line = line.map(|line| (answers.name(line.file).to_owned(), line.line));
        (answers.name(frame.name).to_owned(), line)
    };
    (0..offsets.len())
        .map(|idx| answers.frames(idx).iter().map(frame).collect())
        .collect()
}

/// Every address of a file's functions whose names `choose` takes.
fn addresses(path: &Path, choose: impl Fn(&str) -> bool) -> Vec<u64> {
    let elf = Elf::open(path, &rprof_untrusted::Budget::default()).unwrap();
    let mut all = Vec::new();
    elf.for_each_symbol(SymbolTable::Static, |symbol| {
        let name = String::from_utf8_lossy(symbol.name);
        if symbol.in_code && symbol.size > 0 && choose(&name) {
            all.extend(symbol.address.0..symbol.address.0 + symbol.size);
        }
    })
    .unwrap();
    all.sort_unstable();
    all.dedup();
    all
}

fn compile(dir: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let program = dir.join(name);
    std::fs::write(dir.join("main.c"), source).unwrap();
    let mut compiler = tool("cc");
    compiler.args(options).arg("-o").arg(&program);
    run(compiler.arg("main.c").current_dir(dir)).ok();
    program
}
