//! What tells a file from what is written in its place later, where it has no build id.

use crate::source::Source;
use crate::{Elf, NoFile};
use flate2::Crc;
use rprof_untrusted::Budget;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// A file's contents, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Its size, bytes.
    pub len: u64,
    /// When it was last written to, nanoseconds since 1970.
    pub modified_ns: i64,
    /// When it, its names or its rights last changed, nanoseconds since 1970.
    pub changed_ns: i64,
    /// CRC-32 of all of it; `None` if that was not taken.
    pub crc: Option<u32>,
}

impl Fingerprint {
    /// Of an open file as it is now, without the checksum; `None` for one in memory.
    pub fn of(elf: &Elf) -> Option<Self> {
        let meta = elf.opened()?.file().metadata().ok()?;
        let since_1970 = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000) + ns;
        Some(Self {
            len: meta.len(),
            modified_ns: since_1970(meta.mtime(), meta.mtime_nsec()),
            changed_ns: since_1970(meta.ctime(), meta.ctime_nsec()),
            crc: None,
        })
    }

    /// When the file was last written to.
    pub fn modified(&self) -> Option<SystemTime> {
        let since_1970 = Duration::from_nanos(u64::try_from(self.modified_ns).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since_1970)
    }

    /// With the checksum, if the file is still as it was, and can be read as a whole until then.
    #[must_use]
    pub fn with_checksum(self, elf: &Elf, budget: &Budget, until: Option<Instant>) -> Self {
        let crc = elf
            .opened()
            .filter(|_| self.is_untouched(elf))
            .and_then(|opened| checksum(Source::again(&opened), budget, until).ok())
            .filter(|_| self.is_untouched(elf));
        Self { crc, ..self }
    }

    fn is_untouched(&self, elf: &Elf) -> bool {
        Self::of(elf).is_some_and(|now| {
            Self {
                crc: self.crc,
                ..now
            } == *self
        })
    }

    /// Whether an open file has these contents: it was not touched since, or has the same checksum.
    ///
    /// # Errors
    /// A [`NoFile`] if it has not.
    pub fn check(&self, elf: &Elf) -> Result<(), NoFile> {
        if self.is_untouched(elf) {
            return Ok(());
        }
        let now = Self::of(elf).filter(|now| now.len == self.len);
        let now = now.ok_or(NoFile::Rewritten)?;
        match (self.crc, now.with_checksum(elf, &elf.budget(), None).crc) {
            (Some(recorded), Some(found)) if recorded == found => Ok(()),
            (Some(_), Some(_)) => Err(NoFile::Rewritten),
            // Its date may have been set back.
            _ => Err(NoFile::Modified),
        }
    }
}

/// CRC-32 (IEEE, reflected) of a file, as `.gnu_debuglink` has it.
///
/// # Errors
/// If it cannot be read, or is more than the budget has left.
pub fn file_checksum(path: &Path, budget: &Budget) -> io::Result<u32> {
    checksum(Source::open(path)?, budget, None)
}

fn checksum(mut file: Source, budget: &Budget, until: Option<Instant>) -> io::Result<u32> {
    if file.is_mostly_hole() {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let len = file.meta().map_or(0, |meta| meta.len);
    budget.read(len).map_err(io::Error::other)?;
    let mut file = file.by_ref().take(len);
    let mut bytes = vec![0; 1 << 16];
    let mut crc = Crc::new();
    loop {
        if until.is_some_and(|until| Instant::now() > until) {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        let n = file.read(&mut bytes)?;
        if n == 0 {
            return Ok(crc.sum());
        }
        crc.update(bytes.get(..n).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::path::Path;

    fn open(path: &Path) -> Elf {
        Elf::open(path, &Budget::default()).unwrap()
    }

    /// Sets the time of the last change to so long after 1970.
    fn date(path: &Path, seconds: u64) {
        let file = File::options().append(true).open(path).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }

    #[test]
    fn the_checksum_is_that_of_debuglink() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, b"123456789").unwrap();
        let crc = |path| checksum(Source::open(path)?, &Budget::default(), None);
        assert_eq!(crc(&path).unwrap(), 0xcbf4_3926);
        assert!(crc(dir.path()).is_err(), "a folder has none");
    }

    #[test]
    fn a_touched_file_counts_by_its_contents_and_never_by_its_date() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        let bytes = std::fs::read("/bin/sh").unwrap();
        std::fs::write(&path, &bytes).unwrap();
        date(&path, 1000);
        let quick = Fingerprint::of(&open(&path)).unwrap();
        let whole = quick.with_checksum(&open(&path), &Budget::default(), None);
        assert_eq!(
            (quick.len, quick.modified_ns),
            (bytes.len() as u64, 1000 * 1_000_000_000)
        );
        let check = |print: Fingerprint| print.check(&open(&path)).err();
        assert_eq!((check(quick), check(whole)), (None, None));
        date(&path, 2000);
        assert_eq!((check(quick), check(whole)), (Some(NoFile::Modified), None));
        // Whatever dates say.
        let mut other = bytes.clone();
        other[bytes.len() / 2] ^= 1;
        std::fs::write(&path, &other).unwrap();
        date(&path, 1000);
        assert_eq!(
            (check(quick), check(whole)),
            (Some(NoFile::Modified), Some(NoFile::Rewritten))
        );
        other.push(0);
        std::fs::write(&path, &other).unwrap();
        assert_eq!(check(quick), Some(NoFile::Rewritten));
    }

    #[test]
    fn what_was_touched_since_is_too_large_or_takes_too_long_gets_no_checksum() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        std::fs::copy("/bin/sh", &path).unwrap();
        let elf = open(&path);
        let print = Fingerprint::of(&elf).unwrap();
        let crc = |budget: &Budget, until| print.with_checksum(&elf, budget, until).crc;
        let usual = Budget::default();
        let small = Budget::new(rprof_untrusted::Limits::of_memory(1));
        assert_eq!(crc(&small, None), None);
        assert_eq!(crc(&usual, Some(Instant::now())), None);
        assert!(crc(&usual, None).is_some());
        date(&path, 1000);
        assert_eq!(crc(&usual, None), None);
    }
}
