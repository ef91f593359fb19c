//! Man pages and completions: an example of rprof's writes them, so that neither rprof nor this
//! program needs what makes them.

use std::path::Path;

use anyhow::Result;

use super::Release;
use crate::command::{self, cargo};

/// Writes them below `prefix`.
pub(super) fn write(release: &Release, prefix: &Path) -> Result<()> {
    let run = [
        "run",
        "--quiet",
        "--locked",
        "-p",
        "rprof",
        "--example",
        "docs",
    ];
    let mut docs = cargo();
    let docs = docs.args(run).arg("--").arg(prefix);
    command::run(docs.arg(release.date("+%F")?))
}
