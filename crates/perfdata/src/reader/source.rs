//! What a path stands for: a file, standard input or another stream, a directory.

use super::bytes::{Bytes, Spool};
use crate::Error;
use rprof_untrusted::Seen;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

/// The bytes of a recording.
#[derive(Debug)]
pub(super) struct Source {
    /// The file with the header.
    pub(super) main: Arc<Bytes>,
    /// Of a directory, the other files with records: name and bytes.
    pub(super) others: Vec<(String, Arc<Bytes>)>,
    pub(super) is_directory: bool,
}

impl Source {
    /// Bytes that there really are.
    pub(super) fn stored(&self) -> u64 {
        let others = self.others.iter().map(|(_, bytes)| bytes.stored());
        others.fold(self.main.stored(), u64::saturating_add)
    }

    /// One file, or what stands for it.
    pub(super) fn single(bytes: Bytes) -> Self {
        Self {
            main: Arc::new(bytes),
            others: Vec::new(),
            is_directory: false,
        }
    }
}

/// Opens what a path stands for; `-` is standard input. At most that many bytes are taken of a pipe.
///
/// # Errors
/// [`Error::Io`], [`Error::Unsupported`] for what is no file and no stream.
pub(super) fn open(path: &Path, most_piped: Option<u64>) -> Result<Source, Error> {
    let io_error = Error::io(path);
    if path.as_os_str() == "-" {
        return standard_input(path, most_piped);
    }
    let seen = Seen::at(path).map_err(io_error)?;
    let meta = seen.meta();
    if meta.is_dir() {
        return directory(path);
    }
    let bytes = if meta.is_file() {
        plain(&seen).map_err(io_error)?
    } else if meta.file_type().is_fifo() {
        // Opening waits for the writer.
        let stream = seen.open(File::options().read(true)).map_err(io_error)?;
        Spool::drain(stream, most_piped).map_err(io_error)?
    } else {
        return Err(unsupported(path, "a device or socket"));
    };
    Ok(Source::single(bytes))
}

fn plain(seen: &Seen) -> io::Result<Bytes> {
    Ok(Bytes::File {
        file: seen.open_regular(File::options().read(true))?,
        len: seen.meta().len(),
    })
}

fn unsupported(path: &Path, form: &'static str) -> Error {
    Error::Unsupported {
        path: path.to_owned(),
        form,
        advice: "give a file, a directory, or - for standard input",
    }
}

fn standard_input(path: &Path, most_piped: Option<u64>) -> Result<Source, Error> {
    let io_error = Error::io(path);
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(unsupported(path, "a terminal as input"));
    }
    let file = File::from(stdin.as_fd().try_clone_to_owned().map_err(io_error)?);
    let meta = file.metadata().map_err(io_error)?;
    let bytes = if meta.is_file() {
        Bytes::File {
            file,
            len: meta.len(),
        }
    } else {
        Spool::drain(file, most_piped).map_err(io_error)?
    };
    Ok(Source::single(bytes))
}

/// `perf record --threads`: `data` with the header, `data.0` and so on with records only.
/// Source: tools/perf/Documentation/perf.data-directory-format.txt.
fn directory(path: &Path) -> Result<Source, Error> {
    let open_in = |name: &str| {
        let path = path.join(name);
        let io_error = Error::io(&path);
        let seen = Seen::at(&path).map_err(io_error)?;
        if !seen.meta().is_file() {
            return Err(unsupported(&path, "a part that is not a file"));
        }
        Ok(Arc::new(plain(&seen).map_err(io_error)?))
    };
    let main = open_in("data").map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            Error::NotPerfData {
                path: path.to_owned(),
                found: "it is a directory without a file `data`".to_owned(),
            }
        }
        error => error,
    })?;
    let entries = path.read_dir().map_err(Error::io(path))?;
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_prefix("data.")?.parse().ok()
        })
        .collect();
    numbers.sort_unstable();
    let others = numbers.into_iter().map(|number| {
        let name = format!("data.{number}");
        let bytes = open_in(&name)?;
        Ok((name, bytes))
    });
    Ok(Source {
        main,
        others: others.collect::<Result<_, Error>>()?,
        is_directory: true,
    })
}
