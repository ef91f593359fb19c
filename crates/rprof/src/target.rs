//! The file that a command writes: whole, or not at all.

use anyhow::{Context, Result};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What is written before it is clear that all of it can be: a file's new contents lie beside it.
const PREFIX: &str = ".rprof-";

/// Writes to standard output, or to a file, which has all of its new contents or its old ones.
pub(crate) fn write(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        return write(&mut out)
            .and_then(|()| out.flush())
            .context("writing to standard output");
    };
    let doing = || format!("writing {}", path.display());
    // Behind a link, the file that it leads to is meant.
    let real = fs::canonicalize(path);
    let real = real.as_deref().unwrap_or(path);
    match fs::metadata(real) {
        Ok(found) if !found.is_file() => into_place(real, write).with_context(doing),
        _ => replace(real, write).with_context(doing),
    }
}

/// Into a pipe or a device.
fn into_place(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    write(&mut out)?;
    out.flush()
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // What may not be written is not replaced either.
    let permissions = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file.metadata()?.permissions(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Permissions::from_mode(0o666),
        Err(error) => return Err(error),
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let file = tempfile::Builder::new()
        .prefix(PREFIX)
        .permissions(permissions)
        .tempfile_in(folder)?;
    let mut out: BufWriter<&File> = BufWriter::with_capacity(1 << 16, file.as_file());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    file.persist(path)?;
    Ok(())
}
