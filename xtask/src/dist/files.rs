//! Files and folders of a release.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use crate::command::{captured, command};
use crate::files::{all_below, make_folder};

/// Copies a file, and makes the folder for it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    make_folder(to.parent().unwrap_or(to))?;
    let copied = fs::copy(from, to);
    copied.with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Copies all that is below a folder.
pub(super) fn copy_below(from: &Path, to: &Path) -> Result<()> {
    for path in all_below(from)?.iter().filter(|path| path.is_file()) {
        copy(path, &to.join(path.strip_prefix(from)?))?;
    }
    Ok(())
}

/// The size of all files below a folder, in KiB, each rounded up: on every file system the same.
pub(super) fn kib_below(folder: &Path) -> Result<u64> {
    let mut kib = 0;
    for path in all_below(folder)?.iter().filter(|path| path.is_file()) {
        let meta = fs::metadata(path).with_context(|| format!("looking at {}", path.display()))?;
        kib += meta.len().div_ceil(1024);
    }
    Ok(kib)
}

/// Compresses a file as Debian does; it has `.gz` added to its name.
pub(super) fn compress(path: &Path) -> Result<()> {
    captured(command("gzip").arg("-9n").arg(path))?;
    Ok(())
}

/// Lets everybody read all that is below `tree`, and run what is in a folder `bin`: whatever umask
/// it was made with.
pub(super) fn settle_modes(tree: &Path) -> Result<()> {
    let set = |path: &Path, mode| {
        let set = fs::set_permissions(path, Permissions::from_mode(mode));
        set.with_context(|| format!("changing the mode of {}", path.display()))
    };
    set(tree, 0o755)?;
    for path in all_below(tree)? {
        let is_run = path.parent().is_some_and(|folder| folder.ends_with("bin"));
        let is_entered = path.is_dir() || is_run;
        set(&path, if is_entered { 0o755 } else { 0o644 })?;
    }
    Ok(())
}
