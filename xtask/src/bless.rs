//! `cargo xtask bless`: runs the tests so that they rewrite their golden files, then shows what
//! changed. Look at the change before you commit it.

use anyhow::Result;

use crate::args::no_arguments;
use crate::command::{self, cargo, command};

/// Rewrites the golden files and lists them.
pub(crate) fn run(args: &[String]) -> Result<()> {
    no_arguments(args)?;
    // A failure that is not about a golden file must not keep the others from being written.
    let tests = command::run(
        cargo()
            .args(["test", "--workspace", "--no-fail-fast"])
            .env("RPROF_BLESS", "1"),
    );
    let folders = ["--", "fixtures", "tests"];
    command::run(
        command("git")
            .args(["--no-pager", "diff", "--stat"])
            .args(folders),
    )?;
    // `diff` leaves out files that are new.
    command::run(command("git").args(["status", "--short"]).args(folders))?;
    tests
}
