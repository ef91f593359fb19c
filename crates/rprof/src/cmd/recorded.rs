//! A command that is recorded and read in one step.

use super::reading::open;
use super::record;
use crate::args::{CommandArgs, LimitArgs};
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_perfdata::Reader;
use rprof_ringbuf::sys::Rights;
use std::process::ExitCode;

/// Records a command as `rprof record` does; samples an event, or the usual one. Returns the recording, whose file has
/// no name any more, and the command's exit code.
pub(crate) fn record_first(
    command: &CommandArgs,
    event: Option<&str>,
    limits: LimitArgs,
    rights: Rights,
) -> Result<(Reader, ExitCode)> {
    let folder = tempfile::Builder::new().prefix("rprof-").tempdir();
    let folder = folder.context("creating a directory for the recording")?;
    let path = folder.path().join("perf.data");
    let args = command.record(event, &path).map_err(usage)?;
    let code = record::run_briefly(&args, rights)?;
    let reader = open(&path, limits)?;
    folder.close().context("removing the recording")?;
    Ok((reader, code))
}
