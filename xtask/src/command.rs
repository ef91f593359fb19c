//! Starting other programs in the workspace's root, and showing what was started.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// The workspace's root folder.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// `program` in the workspace's root.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that started us, without what it has told us of ourselves: build scripts that ask for
/// that (ring's) would run again, and all that depends on them would be built again.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if of_package
            .iter()
            .any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
        {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// The command line as one would type it: the program without its folder.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let words = std::iter::once(program.file_name().unwrap_or(program.as_os_str()))
        .chain(command.get_args())
        .map(OsStr::to_string_lossy);
    words.collect::<Vec<_>>().join(" ")
}

/// Prints the command and runs it with our own output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(command)))?;
    ensure!(status.success(), "{} failed ({status})", shown(command));
    Ok(())
}

/// Runs the command and returns its stdout; its stderr goes to the error if it fails.
pub(crate) fn captured(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("starting {}", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} failed ({}) {}",
            shown(command),
            output.status,
            said.trim()
        );
    }
    String::from_utf8(output.stdout).context("output is not UTF-8")
}

/// The triple of the machine we run on.
pub(crate) fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = captured(command(rustc).arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// What `cargo metadata` knows. Nothing is downloaded.
///
/// With `args` empty this is about every dependency that `Cargo.lock` names.
pub(crate) fn metadata(args: &[&str]) -> Result<Value> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--offline"]);
    let json = captured(cargo.args(args))?;
    serde_json::from_str(&json).context("parsing the output of cargo metadata")
}

/// The packages of the workspace, as `cargo metadata` describes them.
pub(crate) fn packages() -> Result<Vec<Value>> {
    let mut metadata = metadata(&["--no-deps"])?;
    match metadata["packages"].take() {
        Value::Array(packages) => Ok(packages),
        _ => bail!("cargo metadata lists no packages"),
    }
}

/// Where cargo puts what it builds.
pub(crate) fn target_folder() -> Result<PathBuf> {
    let metadata = metadata(&["--no-deps"])?;
    let folder = metadata.get("target_directory").and_then(Value::as_str);
    Ok(folder
        .context("cargo metadata names no target folder")?
        .into())
}
