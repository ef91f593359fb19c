//! Recordings that are derived from others, by `xtask/derive-recording`.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;

use crate::command::{captured, cargo};

/// Runs the program that derives them, and returns what it prints.
pub(crate) fn derive(args: &[&dyn AsRef<OsStr>]) -> Result<String> {
    let mut cargo = cargo();
    cargo.args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "derive-recording",
        "--",
    ]);
    captured(cargo.args(args.iter().map(AsRef::as_ref)))
}

/// Writes `copies` of the records of `from` to `to`, each later in time; of the copies after the first `all`, or only
/// `samples`.
pub(crate) fn repeat(what: &str, from: &Path, to: &Path, copies: u64) -> Result<()> {
    derive(&[&"repeat", &what, &from, &to, &copies.to_string()]).map(drop)
}
