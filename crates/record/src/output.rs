//! The output: of a file, an older one is kept beside it, and under sudo it belongs to the caller.
//!
//! It is always a new file, under its name from the start on, so that a recorder that is killed leaves
//! what it has. Where links are followed is said in `rprof_untrusted`.

use crate::background::in_background;
use crate::features::Features;
use crate::interrupts::Interrupts;
use crate::{Error, Output};
use rprof_perfdata::{Writer, WrittenEvent};
use rprof_ringbuf::sys;
use rprof_untrusted::{Goal, NewFile, Placed};
use std::fs::File;
use std::io;
use std::os::unix::fs::fchown;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An output that is open. Unless it is kept, it is taken back in the end: nothing was recorded, and an
/// older recording gets its name again.
#[derive(Debug)]
pub(crate) struct Created {
    output: Output,
    file: File,
    /// A file's place.
    placed: Option<Placed>,
    is_kept: bool,
    /// Bytes that a pipe has taken.
    pub(crate) taken: Arc<AtomicU64>,
}

impl Created {
    /// Creates the output; an old recording of that name becomes `NAME.old`.
    pub(crate) fn new(output: &Output) -> Result<Self, Error> {
        let (file, placed) = match output {
            Output::File(path) => {
                let created = create(path).map_err(|source| Error::Output {
                    path: path.to_owned(),
                    source,
                });
                let placed = created?;
                (duplicate(placed.file())?, Some(placed))
            }
            Output::Pipe(pipe) => (duplicate(pipe)?, None),
        };
        Ok(Self {
            output: output.clone(),
            file,
            placed,
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
        if let (Some(placed), false) = (&self.placed, self.is_kept) {
            placed.take_back();
        }
    }
}

fn duplicate(file: &File) -> Result<File, Error> {
    file.try_clone()
        .map_err(Error::system("duplicating a descriptor"))
}

/// Creates a file; an old recording of that name becomes `NAME.old`.
fn create(path: &Path) -> io::Result<Placed> {
    let Goal::Place(place) = Goal::of(path)? else {
        let what = "not a regular file (a recording is written in several places)";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    };
    // Addresses of other users' programs are nobody else's business: 0600, as perf.
    let new = NewFile::beside(place, 0o600)?;
    if let Some((uid, gid)) = sudo_caller() {
        // A file of root's is still a recording.
        let _ = fchown(new.file(), Some(uid), Some(gid));
    }
    new.put_beside_old(".old")
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
    fn a_device_or_folder_is_refused() {
        assert!(create(Path::new("/dev/null")).is_err());
        assert!(create(Path::new("/tmp")).is_err());
    }
}
