//! `rprof push`, against servers of our own: what they get, what is noted, and what happens if they do not take it.

mod collector;
mod delivery;
mod limits;
mod protocols;
mod refusals;
mod secrets;
mod spool;
mod stubs;

use crate::common::{Ran, Recording, fixtures, rprof, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The command that pushes what is at a path to a server.
fn push(url: &str, protocol: &str, path: &Path) -> Command {
    let mut command = rprof(["push", "--to", url, "--protocol", protocol]);
    command.arg("--symfs").arg(fixtures().join("spin/root"));
    command.env_remove("RPROF_PUSH_TOKEN").arg(path);
    command
}

#[track_caller]
fn pushed(url: &str, protocol: &str, path: &Path) -> Ran {
    run(&mut push(url, protocol, path)).ok()
}

/// A copy of a fixture's recording in a directory.
#[track_caller]
fn copied(fixture: &str, dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::copy(Recording::fixture(fixture).file, &path).unwrap();
    path
}
