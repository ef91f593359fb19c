//! The output: of a file, an older one is kept beside it, and under sudo it belongs to the caller.

use crate::features::Features;
use crate::interrupts::Interrupts;
use crate::sink::in_background;
use crate::{Error, Output};
use rprof_perfdata::{Writer, WrittenEvent};
use rprof_ringbuf::sys;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::{OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An output that is open. Unless it is kept, it is taken back in the end: nothing was recorded, and an
/// older recording gets its name again.
#[derive(Debug)]
pub(crate) struct Created {
    output: Output,
    file: File,
    /// The new name of an older recording.
    kept_old: Option<PathBuf>,
    is_kept: bool,
    /// Bytes that a pipe has taken.
    pub(crate) taken: Arc<AtomicU64>,
}

impl Created {
    /// Creates the output; an old recording of that name becomes `NAME.old`.
    pub(crate) fn new(output: &Output) -> Result<Self, Error> {
        let (file, kept_old) = match output {
            Output::File(path) => create(path)?,
            Output::Pipe(pipe) => (duplicate(pipe)?, None),
        };
        Ok(Self {
            output: output.clone(),
            file,
            kept_old,
            is_kept: false,
            taken: Arc::default(),
        })
    }

    /// Starts writing to it, in the background: the reader of a pipe may not read yet.
    pub(crate) fn start(
        &self,
        events: &[WrittenEvent],
        features: Features,
        interrupts: &Interrupts,
    ) -> Result<Writer, Error> {
        let (file, events) = (duplicate(&self.file)?, events.to_vec());
        let (output, taken) = (self.output.clone(), Arc::clone(&self.taken));
        let starting = in_background("rprof-start", move || {
            let path = output.path();
            match &output {
                Output::File(_) => Writer::start(file, path, &events, features),
                Output::Pipe(_) => Writer::start_pipe(file, path, &events, features, taken),
            }
        })?;
        let started = interrupts.receive(&starting, || self.progress())?;
        started.map_err(|source| Error::Write {
            source,
            size_bytes: 0,
            status: None,
        })
    }

    /// Grows while something is taken.
    pub(crate) fn progress(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether there is something in it that is worth keeping.
    pub(crate) fn keep(&mut self, is_kept: bool) {
        self.is_kept = is_kept;
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        let (Output::File(path), false) = (&self.output, self.is_kept) else {
            return;
        };
        // Whatever fails here, the reason why nothing was recorded is what the user needs.
        let _ = match &self.kept_old {
            Some(old) => std::fs::rename(old, path),
            None => std::fs::remove_file(path),
        };
    }
}

fn duplicate(file: &File) -> Result<File, Error> {
    file.try_clone()
        .map_err(Error::system("duplicating a descriptor"))
}

/// Creates a file; an old recording of that name becomes `NAME.old`, which is the second part of
/// the answer.
fn create(path: &Path) -> Result<(File, Option<PathBuf>), Error> {
    let output_error = |source| Error::Output {
        path: path.to_owned(),
        source,
    };
    let old = std::fs::metadata(path).ok();
    if let Some(meta) = &old {
        if meta.is_dir() {
            return Err(output_error(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        if !meta.is_file() {
            let what = "not a regular file (a recording is written in several places)";
            return Err(output_error(io::Error::new(
                io::ErrorKind::InvalidInput,
                what,
            )));
        }
    }
    let mut kept = None;
    if old.is_some_and(|meta| meta.len() > 0) {
        let name = old_name(path);
        std::fs::rename(path, &name).map_err(output_error)?;
        kept = Some(name);
    }
    // Addresses of other users' programs are nobody else's business: 0600, as perf.
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(output_error)?;
    if let Some((uid, gid)) = sudo_caller() {
        // A file of root's is still a recording.
        let _ = fchown(&file, Some(uid), Some(gid));
    }
    Ok((file, kept))
}

fn old_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".old");
    PathBuf::from(name)
}

fn sudo_caller() -> Option<(u32, u32)> {
    if sys::effective_uid() != 0 {
        return None;
    }
    let id = |name| std::env::var(name).ok()?.parse().ok();
    Some((id("SUDO_UID")?, id("SUDO_GID")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_name_is_appended_not_replaced() {
        assert_eq!(
            old_name(Path::new("a/perf.data")),
            Path::new("a/perf.data.old")
        );
    }

    #[test]
    fn a_device_or_folder_is_refused() {
        assert!(create(Path::new("/dev/null")).is_err());
        assert!(create(Path::new("/tmp")).is_err());
    }
}
