//! The output file, or pipe.
//!
//! An older file of that name is kept beside it. Under sudo the file belongs to the caller. It is always a
//! new file, and has its name from the start: so a recorder that is killed leaves what it has. Where links
//! are followed is said in `rprof_untrusted`.

pub(crate) mod features;
pub(crate) mod file_end;
pub(crate) mod files;
pub(crate) mod flight_window;
mod open_spans;
pub(crate) mod saved;
pub(crate) mod segments;
mod span_trigger;
pub(crate) mod timestamp;
pub(crate) mod trigger;
mod trigger_attr;

use crate::background::in_background;
use crate::error::Error;
use crate::interrupts::{Interrupts, Progress};
use crate::output::features::Features;
use crate::output::segments::{SegmentBegin, SegmentEnd};
use crate::settings::Output;
use rprof_perfdata::{Writer, WrittenEvent};
use rprof_ringbuf::sys;
use rprof_untrusted::{FileId, Goal, NewFile, Placed, memory_file};
use std::fs::File;
use std::io;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An output that is open. Unless it is kept, it is removed in the end, and an older recording gets its
/// name again.
#[derive(Debug)]
pub(crate) struct Created {
    output: Output,
    file: File,
    /// A file's place.
    placed: Option<Placed>,
    has_timestamp: bool,
    /// Of a segment, what it begins with.
    begin: SegmentBegin,
    fate: Fate,
    /// Bytes that it has taken.
    taken: Arc<AtomicU64>,
}

/// What an output begins with.
#[derive(Clone, Debug)]
pub(crate) struct FileBegin {
    pub(crate) events: Vec<WrittenEvent>,
    /// Features that are known already.
    pub(crate) features: Features,
    pub(crate) records: Vec<u8>,
    /// zstd's level, if records are compressed.
    pub(crate) compression: Option<i32>,
}

/// What becomes of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// There is something in it that is worth keeping.
    Kept,
    TakenBack,
}

impl Fate {
    /// Kept if this is so.
    pub(crate) fn kept_if(is_worth_it: bool) -> Self {
        if is_worth_it {
            Self::Kept
        } else {
            Self::TakenBack
        }
    }
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
            Output::Segments(_) => {
                let file = memory_file("rprof-segment");
                (
                    file.map_err(Error::system("making a file in memory"))?,
                    None,
                )
            }
        };
        Ok(Self {
            output: output.clone(),
            file,
            placed,
            has_timestamp: false,
            begin: SegmentBegin::default(),
            fate: Fate::TakenBack,
            taken: Arc::default(),
        })
    }

    /// Starts writing to it, in the background: the reader of a pipe may not read yet.
    pub(crate) fn start(
        &mut self,
        begin: FileBegin,
        interrupts: &Interrupts,
    ) -> Result<Writer, Error> {
        let file = duplicate(&self.file)?;
        let FileBegin {
            events,
            features,
            records,
            compression,
        } = begin;
        if let Output::Segments(_) = self.output {
            self.begin = SegmentBegin {
                events: events.clone(),
                repeated_bytes: records.len() as u64,
            };
        }
        let (output, taken) = (self.output.clone(), Arc::clone(&self.taken));
        let starting = in_background("rprof-start", move || {
            let path = output.path();
            let mut writer = match &output {
                Output::File(_) | Output::Segments(_) => {
                    let mut writer = Writer::start(file, path, &events, features)?;
                    writer.count_in(taken);
                    writer
                }
                Output::Pipe(_) => Writer::start_pipe(file, path, &events, features, taken)?,
            };
            if let Some(level) = compression {
                writer.compress(level)?;
            }
            if !records.is_empty() {
                writer.write(&records)?;
            }
            Ok(writer)
        })?;
        let started = interrupts.receive(&starting, || self.progress())?;
        started.map_err(|source| self.write_error(source, 0))
    }

    /// By which it is found again once it is closed.
    pub(crate) fn identity(&self) -> Option<(PathBuf, FileId)> {
        let identity = FileId::of(&self.file).ok()?;
        Some((self.output.path().to_owned(), identity))
    }

    /// Of a segment, how it is sent once it is complete. It has all records up to `end_ns`.
    pub(crate) fn segment_end(&self, end_ns: u64) -> Result<Option<SegmentEnd>, Error> {
        SegmentEnd::new(&self.output, &self.file, &self.begin, end_ns)
    }

    /// The number of bytes that it has taken.
    pub(crate) fn taken(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.taken)
    }

    /// Bytes that it has taken.
    pub(crate) fn n_taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Changes while something is taken.
    pub(crate) fn progress(&self) -> Progress {
        Progress::writing(self.n_taken())
    }

    /// Gives a file the name that finished ones have, once: with the moment as its ending.
    pub(crate) fn add_timestamp(&mut self) -> Result<(), Error> {
        let (Some(placed), Output::File(path)) = (&mut self.placed, &mut self.output) else {
            return Ok(());
        };
        if self.has_timestamp {
            return Ok(());
        }
        let mut n_tries = 0;
        loop {
            match placed.add_ending(&format!(".{}", timestamp::now())) {
                Ok(()) => {
                    *path = placed.path(path);
                    self.has_timestamp = true;
                    return Ok(());
                }
                // The moment has a file already: names have hundredths of a second.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n_tries < 100 => {
                    n_tries += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(source) => {
                    let path = path.clone();
                    return Err(Error::Output { path, source });
                }
            }
        }
    }

    /// An error of writing it, with the name that it has now.
    pub(crate) fn write_error(&self, source: rprof_perfdata::Error, size_bytes: u64) -> Error {
        Error::Write {
            source: match source {
                rprof_perfdata::Error::Io { source, .. } => rprof_perfdata::Error::Io {
                    path: self.output.path().to_owned(),
                    source,
                },
                other => other,
            },
            size_bytes,
            status: None,
        }
    }

    /// Where it is now.
    pub(crate) fn output(&self) -> &Output {
        &self.output
    }

    /// What becomes of it in the end.
    pub(crate) fn set_fate(&mut self, fate: Fate) {
        self.fate = fate;
    }
}

impl Drop for Created {
    fn drop(&mut self) {
        if let (Some(placed), Fate::TakenBack) = (&self.placed, self.fate) {
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
        let what = "not a regular file (a recording is written at several offsets)";
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
