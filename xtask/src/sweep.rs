//! `cargo xtask sweep FILE..`: decodes all code of files, and shows what `objdump` has otherwise. Files of
//! another machine need its binutils (`binutils-aarch64-linux-gnu`).

use std::env::join_paths;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::command::{self, cargo};

/// Adds the files to those that the test compares.
pub(crate) fn run(args: &[String]) -> Result<()> {
    ensure!(!args.is_empty(), "which files: cargo xtask sweep FILE..");
    let mut files = Vec::new();
    for file in args {
        // The test runs in another folder.
        let path = Path::new(file).canonicalize();
        files.push(path.with_context(|| format!("looking for {file}"))?);
    }
    let files = join_paths(files).context("a path with a colon in it")?;
    let test = ["test", "--locked", "-p", "rprof-cli", "--test", "reading"];
    let shown = ["disassembly::", "--", "--nocapture", "--test-threads=1"];
    command::run(cargo().args(test).args(shown).env("RPROF_SWEEP", files))
}
