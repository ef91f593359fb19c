//! `rprof completions`.

use crate::args::{CompletionsArgs, documented};
use anyhow::{Context, Result};
use std::io::{Write, stdout};
use std::process::ExitCode;

pub(crate) fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    // Into memory first: what generates it panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut documented(), "rprof", &mut script);
    let written = stdout().write_all(&script);
    written.context("writing completions")?;
    Ok(ExitCode::SUCCESS)
}
