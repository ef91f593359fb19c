//! Files and folders of a release.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use crate::command::{captured, command};
use crate::files::make_folder;

/// Copies a file, and makes the folder for it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    make_folder(to.parent().unwrap_or(to))?;
    let copied = fs::copy(from, to);
    copied.with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Copies all that is below a folder.
pub(super) fn copy_below(from: &Path, to: &Path) -> Result<()> {
    let context = || format!("listing {}", from.display());
    for entry in fs::read_dir(from).with_context(context)? {
        let path = entry.with_context(context)?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_below(&path, &target)?;
        } else {
            copy(&path, &target)?;
        }
    }
    Ok(())
}

/// The size of all files below a folder, in KiB, each rounded up: on every file system the same.
pub(super) fn kib_below(folder: &Path) -> Result<u64> {
    let context = || format!("listing {}", folder.display());
    let mut kib = 0;
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let meta = entry.metadata().with_context(context)?;
        kib += if meta.is_dir() {
            kib_below(&entry.path())?
        } else {
            meta.len().div_ceil(1024)
        };
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
    let context = || format!("listing {}", tree.display());
    for entry in fs::read_dir(tree).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path.is_dir() {
            settle_modes(&path)?;
        } else {
            set(&path, if tree.ends_with("bin") { 0o755 } else { 0o644 })?;
        }
    }
    Ok(())
}
