//! The folder of files that were fetched, laid out as elfutils' client does (debuginfod-client.c,
//! 0.188): `BUILDID/debuginfo`, `BUILDID/executable`; an empty file for what no server has.

use super::request::{Kind, Wanted};
use rprof_base::BuildId;
use rprof_images::Elf;
use rprof_untrusted::Budget;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{NamedTempFile, TempPath};

#[derive(Debug)]
pub(super) struct Cache {
    dir: PathBuf,
    budget: Budget,
}

/// What the folder says of a file.
#[derive(Debug)]
pub(super) enum Cached<F> {
    File(F),
    /// No server had it a short while ago.
    Missing,
    Unknown,
}

impl Cache {
    /// How long it is believed that no server has a file; a file of the folder may say otherwise.
    const MISSING: Duration = Duration::from_secs(600);

    pub(super) fn new(dir: PathBuf, budget: Budget) -> Self {
        Self { dir, budget }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    fn folder(&self, id: &BuildId) -> PathBuf {
        self.dir.join(hex(id))
    }

    fn path(&self, id: &BuildId, wanted: &Wanted) -> PathBuf {
        self.folder(id).join(wanted.file_name())
    }

    pub(super) fn look(&self, id: &BuildId, kind: Kind) -> Cached<Box<Elf>> {
        match self.look_at(id, &Wanted::Elf(kind)) {
            Cached::File(path) => match open_checked(&path, id, &self.budget) {
                Some(elf) => Cached::File(Box::new(elf)),
                None => Cached::Unknown,
            },
            Cached::Missing => Cached::Missing,
            Cached::Unknown => Cached::Unknown,
        }
    }

    /// The same, whatever is in the file.
    pub(super) fn look_at(&self, id: &BuildId, wanted: &Wanted) -> Cached<PathBuf> {
        let path = self.path(id, wanted);
        let Ok(meta) = std::fs::symlink_metadata(&path) else {
            return Cached::Unknown;
        };
        if meta.len() > 0 {
            return Cached::File(path);
        }
        let since = meta.modified().map(|then| then.elapsed());
        match since {
            Ok(Ok(since)) if since <= self.missing_for() => Cached::Missing,
            _ => Cached::Unknown,
        }
    }

    fn missing_for(&self) -> Duration {
        let text = std::fs::read_to_string(self.dir.join("cache_miss_s"));
        let seconds = text.ok().and_then(|text| text.trim().parse().ok());
        seconds.map_or(Self::MISSING, Duration::from_secs)
    }

    /// A file to download into, beside its place.
    pub(super) fn create(&self, id: &BuildId, wanted: &Wanted) -> io::Result<NamedTempFile> {
        let folder = self.folder(id);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        tempfile::Builder::new()
            .prefix(&format!("{}.", wanted.file_name()))
            .tempfile_in(&folder)
    }

    /// Puts a download into its place, if it is what was asked for: nothing tells a source file.
    pub(super) fn keep(&self, partial: TempPath, id: &BuildId, wanted: &Wanted) -> io::Result<()> {
        let is_it = match wanted {
            Wanted::Elf(_) => open_checked(&partial, id, &self.budget).is_some(),
            Wanted::Source(_) => std::fs::metadata(&partial)?.len() > 0,
        };
        if !is_it {
            let why = "the server sent a different file";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        std::fs::set_permissions(&partial, Permissions::from_mode(0o400))?;
        partial.persist(self.path(id, wanted))?;
        Ok(())
    }

    /// Remembers that no server has a file.
    pub(super) fn note_missing(&self, id: &BuildId, wanted: &Wanted) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(self.folder(id))?;
        let path = self.path(id, wanted);
        // An old note would keep its time.
        let _ = std::fs::remove_file(&path);
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .mode(0o000)
            .open(path)?;
        Ok(())
    }
}

fn open_checked(path: &Path, id: &BuildId, budget: &Budget) -> Option<Elf> {
    let elf = Elf::open(path, budget).ok()?;
    elf.has_build_id(id).then_some(elf)
}

/// Build ids that are shorter than records have room for are filled up with zeros there.
pub(super) fn hex(id: &BuildId) -> String {
    const FULL: usize = 20;
    let bytes = id.as_bytes();
    let is_filled = |used: usize| bytes[used..].iter().all(|&byte| byte == 0);
    let used = match bytes.len() {
        FULL => [8, 16].into_iter().find(|&used| is_filled(used)),
        _ => None,
    };
    let used = &bytes[..used.unwrap_or(bytes.len())];
    used.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_server_has_is_remembered_for_a_while() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().join("new"), Budget::default());
        let id = BuildId::new(&[0xab; 20]).unwrap();
        assert!(matches!(cache.look(&id, Kind::Debuginfo), Cached::Unknown));
        let wanted = Wanted::Elf(Kind::Debuginfo);
        cache.note_missing(&id, &wanted).unwrap();
        cache.note_missing(&id, &wanted).unwrap();
        assert!(matches!(cache.look(&id, Kind::Debuginfo), Cached::Missing));
        assert!(matches!(cache.look(&id, Kind::Executable), Cached::Unknown));
        let path = dir
            .path()
            .join("new")
            .join("ab".repeat(20))
            .join("debuginfo");
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!((meta.len(), meta.permissions().mode() & 0o777), (0, 0));
        std::fs::write(dir.path().join("new/cache_miss_s"), "0\n").unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(2);
        let times = std::fs::FileTimes::new().set_modified(old);
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_times(times).unwrap();
        assert!(matches!(cache.look(&id, Kind::Debuginfo), Cached::Unknown));
    }

    #[test]
    fn only_the_file_that_was_asked_for_is_kept() {
        let sh = Elf::open(Path::new("/bin/sh"), &Budget::default()).unwrap();
        let id = sh.build_id().unwrap().clone();
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().to_owned(), Budget::default());
        let other = BuildId::new(&[1; 20]).unwrap();
        for (id, is_right) in [(&other, false), (&id, true)] {
            let wanted = Wanted::Elf(Kind::Executable);
            let partial = cache.create(id, &wanted).unwrap();
            std::fs::copy("/bin/sh", partial.path()).unwrap();
            let kept = cache.keep(partial.into_temp_path(), id, &wanted);
            assert_eq!(kept.is_ok(), is_right);
            let found = cache.look(id, Kind::Executable);
            assert_eq!(matches!(found, Cached::File(_)), is_right);
        }
        let left = std::fs::read_dir(cache.folder(&other)).unwrap();
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn zeros_that_records_add_are_left_out() {
        let mut bytes = [7; 20];
        assert_eq!(hex(&BuildId::new(&bytes).unwrap()), "07".repeat(20));
        bytes[16..].fill(0);
        assert_eq!(hex(&BuildId::new(&bytes).unwrap()), "07".repeat(16));
        bytes[8..].fill(0);
        assert_eq!(hex(&BuildId::new(&bytes).unwrap()), "07".repeat(8));
    }
}
