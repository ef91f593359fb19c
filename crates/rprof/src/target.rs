//! The file that a command writes: whole, or not at all. Where links are followed is said in
//! `rprof_untrusted`.

use crate::say;
use anyhow::{Context, Result, bail};
use rprof_untrusted::{FolderEntry, Goal, NewFile, Seen};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes to standard output, or to a file, which has all of its new contents or its old ones.
pub(crate) fn write(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        return write(&mut out)
            .and_then(|()| out.flush())
            .context("writing to stdout");
    };
    let doing = || format!("writing {}", path.display());
    match Goal::of(path).with_context(doing)? {
        Goal::There(seen) => into_place(&seen, write).with_context(doing),
        Goal::Place(place) => replace(place, write).with_context(doing),
    }
}

/// Into a pipe, a device, or an open file of ours.
fn into_place(seen: &Seen, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = seen.open(options.write(true).truncate(seen.meta().is_file()))?;
    let mut out = BufWriter::with_capacity(1 << 16, Watched::new(file));
    write(&mut out)?;
    out.flush()
}

/// Makes a file in which bytes are written at any place; it has its name when all are there.
pub(crate) fn make<T>(path: &Path, make: impl FnOnce(File) -> Result<T>) -> Result<T> {
    let doing = || format!("writing {}", path.display());
    let Goal::Place(place) = Goal::of(path).with_context(doing)? else {
        bail!("{}: not a regular file", path.display());
    };
    let new = beside(place).with_context(doing)?;
    let made = make(new.file().try_clone().with_context(doing)?)?;
    new.put().with_context(doing)?;
    Ok(made)
}

fn replace(
    place: FolderEntry,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let new = beside(place)?;
    let mut out = BufWriter::with_capacity(1 << 16, Watched::new(new.file()));
    write(&mut out)?;
    out.flush()?;
    drop(out);
    new.put()
}

/// A file with a line, for somebody who watches, that says how far it is.
struct Watched<W> {
    file: W,
    n_bytes: u64,
    progress: say::Progress,
}

impl<W> Watched<W> {
    fn new(file: W) -> Self {
        Self {
            file,
            n_bytes: 0,
            progress: say::Progress::new("writing"),
        }
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.n_bytes += n as u64;
        self.progress.show_bytes(self.n_bytes);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn beside(place: FolderEntry) -> io::Result<NewFile> {
    if let Some(old) = place.seen().filter(|old| old.meta().is_file()) {
        // What may not be written is not replaced either.
        old.open_regular(OpenOptions::new().write(true))?;
    }
    let mode = place.own_mode().unwrap_or(0o666);
    NewFile::beside(place, mode)
}
