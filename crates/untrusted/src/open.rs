//! Opening files that others name.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// `O_PATH` (asm-generic): a handle to look at, which no driver and no reader of a FIFO notices.
const O_PATH: i32 = 0o10_000_000;

/// `O_NONBLOCK` (asm-generic).
const O_NONBLOCK: i32 = 0o4000;

/// `O_NOCTTY` (asm-generic): a terminal does not become the controlling one.
const O_NOCTTY: i32 = 0o400;

/// What a path leads to: looked at, not opened. Opening a FIFO would let its writer go; a device (a
/// watchdog, a tape) would react.
#[derive(Debug)]
pub struct Seen {
    /// The name that it was found by, if that is all of it.
    path: Option<PathBuf>,
    handle: File,
    meta: Metadata,
}

impl Seen {
    /// Looks at what a path leads to.
    ///
    /// # Errors
    /// As `open(2)` with `O_PATH`.
    pub fn at(path: &Path) -> io::Result<Self> {
        let mut look = File::options();
        let seen = Self::of(look.read(true).custom_flags(O_PATH).open(path)?)?;
        Ok(Self {
            path: Some(path.to_owned()),
            ..seen
        })
    }

    /// What a handle made with `O_PATH` is of.
    pub(crate) fn of(handle: File) -> io::Result<Self> {
        let meta = handle.metadata()?;
        Ok(Self {
            path: None,
            handle,
            meta,
        })
    }

    /// The handle: to look at, or as a folder to go on from.
    pub(crate) fn handle(&self) -> &File {
        &self.handle
    }

    /// The same, without the rest.
    pub(crate) fn into_handle(self) -> File {
        self.handle
    }

    /// What the file system says of it.
    pub fn meta(&self) -> &Metadata {
        &self.meta
    }

    /// Opens it, whatever has its name by now.
    ///
    /// # Errors
    /// As `open(2)`.
    pub fn open(&self, options: &OpenOptions) -> io::Result<File> {
        let opened = options.open(format!("/proc/self/fd/{}", self.handle.as_raw_fd()));
        match (opened, &self.path) {
            // Without `/proc` there is only the name.
            (Err(error), Some(path)) if error.kind() == io::ErrorKind::NotFound => {
                let file = options.open(path)?;
                let meta = file.metadata()?;
                let is_it = (meta.dev(), meta.ino()) == (self.meta.dev(), self.meta.ino());
                is_it.then_some(file).ok_or(error)
            }
            (opened, _) => opened,
        }
    }

    /// Opens it to be read or written, if it is a regular file.
    ///
    /// # Errors
    /// As `open(2)`; `InvalidInput` if it is something else.
    pub fn open_regular(&self, options: &mut OpenOptions) -> io::Result<File> {
        if !self.meta.is_file() {
            let what = "not a regular file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        self.open(options.custom_flags(O_NONBLOCK | O_NOCTTY))
    }

    /// Opens it to be read and written, if it is a FIFO or a pipe. Nobody is waited for: neither here nor
    /// where it is read or written.
    ///
    /// # Errors
    /// As `open(2)`; `InvalidInput` if it is something else.
    pub fn open_fifo(&self) -> io::Result<File> {
        if !self.meta.file_type().is_fifo() {
            let what = "neither a FIFO nor a pipe";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut options = File::options();
        self.open(options.read(true).write(true).custom_flags(O_NONBLOCK))
    }
}

/// Opens a regular file to be read.
///
/// # Errors
/// As `open(2)`; `InvalidInput` if it is something else, which is not opened then.
pub fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let seen = Seen::at(path)?;
    let file = seen.open_regular(File::options().read(true))?;
    Ok((file, seen.meta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_regular_file_is_opened_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "text").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        for path in [&path, &link] {
            let (mut file, meta) = open(path).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), meta.len()), ("text", 4));
        }
        for path in [dir.path(), Path::new("/dev/null")] {
            assert_eq!(open(path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        let missing = open(&dir.path().join("none"));
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_pipe_is_opened_as_such_and_nobody_is_waited_for() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        let mut pipe = Seen::at(&path).unwrap().open_fifo().unwrap();
        let mut bytes = [0; 8];
        let empty = pipe.read(&mut bytes).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
        io::Write::write_all(&mut writer, b"word").unwrap();
        assert_eq!(pipe.read(&mut bytes).unwrap(), 4);
        let null = Seen::at(Path::new("/dev/null")).unwrap().open_fifo();
        assert_eq!(null.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn what_was_looked_at_is_opened_though_its_name_is_another_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "old").unwrap();
        let seen = Seen::at(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "new").unwrap();
        let file = seen.open_regular(File::options().read(true)).unwrap();
        let text = io::read_to_string(file).unwrap();
        assert_eq!(text, "old");
    }
}
