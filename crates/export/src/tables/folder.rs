//! The files of a recording's tables: `TABLE/date=DATE/machine=MACHINE/RECORDING.parquet`.

use super::error::TablesError;
use rprof_base::Utc;
use rprof_untrusted::{Goal, NewFile, NewFolders, Placed};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// As Hive, Spark and DuckDB call the partition of rows whose column is NULL.
const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// Bytes of a machine's name that its folder is called by, as many as the kernel's host names have
/// (`HOST_NAME_MAX`): three times as many, escaped, fit into a file name.
const MAX_MACHINE: usize = 64;

/// As many folders are removed meanwhile by others, who failed, before making them is given up.
const MAX_TRIES: usize = 10;

/// Files are put into their places while a folder is locked: others do that in less time.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// A machine's name, as tables have it: `None` if it is not known.
pub(super) fn machine_name(host: Option<&str>) -> Option<&str> {
    let name = host.filter(|name| !name.is_empty())?;
    let end = (0..=name.len().min(MAX_MACHINE)).rfind(|&at| name.is_char_boundary(at));
    end.and_then(|end| name.get(..end))
}

/// The folders of a partition; the machine is a [`machine_name`].
pub(super) fn partition(start_ns: Option<i64>, machine: Option<&str>) -> PathBuf {
    let seconds = start_ns.and_then(|ns| u64::try_from(ns / 1_000_000_000).ok());
    let date = seconds.map(Utc::of);
    let date = date.map(|date| format!("{}-{:02}-{:02}", date.year, date.month, date.day));
    let machine = machine.map(escaped);
    let or_null = |value: Option<String>| value.unwrap_or_else(|| NULL_PARTITION.to_owned());
    let date = format!("date={}", or_null(date));
    Path::new(&date).join(format!("machine={}", or_null(machine)))
}

/// Escapes what Hive escapes, and nothing else: Spark reads escapes as bytes of Latin-1.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for (at, sign) in name.char_indices() {
        let is_null = at == 0 && name == NULL_PARTITION;
        if is_null || sign.is_ascii_control() || HIVE_ESCAPES.contains(sign) {
            escaped.push_str(&format!("%{:02X}", u32::from(sign)));
        } else {
            escaped.push(sign);
        }
    }
    escaped
}

/// What Hive escapes in names of partitions, besides control characters (`FileUtils.escapePathName`).
const HIVE_ESCAPES: &str = "\"#%'*/:=?\\{[]^";

/// A file that goes to its place with all others, or goes away.
#[derive(Debug)]
pub(super) struct TableFile {
    path: PathBuf,
    new: NewFile,
    /// Whether another file has its name.
    is_there: bool,
}

impl TableFile {
    /// Makes the file, and the folders that it is in. Only the first of these may be a link of ours.
    pub(super) fn create(
        folders: &mut NewFolders,
        folder: &Path,
        in_folder: &Path,
        recording: &str,
    ) -> Result<Self, TablesError> {
        let mut n_tries = 0;
        loop {
            match Self::create_once(folders, folder, in_folder, recording) {
                Err(TablesError::File { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && n_tries < MAX_TRIES =>
                {
                    n_tries += 1;
                }
                created => return created,
            }
        }
    }

    fn create_once(
        folders: &mut NewFolders,
        folder: &Path,
        in_folder: &Path,
        recording: &str,
    ) -> Result<Self, TablesError> {
        let mut path = folder.to_owned();
        folders.make(&path, 0o777).map_err(error_at(&path))?;
        for name in in_folder {
            path.push(name);
            folders.make(&path, 0o777).map_err(error_at(&path))?;
        }
        path.push(format!("{recording}.parquet"));
        match Goal::of(&path) {
            Ok(Goal::Place(place)) => {
                let is_there = place.meta().is_some();
                let new = NewFile::beside(place, 0o666).map_err(error_at(&path))?;
                Ok(Self {
                    path,
                    new,
                    is_there,
                })
            }
            Ok(Goal::There(_)) => Err(TablesError::Exists(path)),
            Err(error) => Err(error_at(&path)(error)),
        }
    }

    /// Is an error if another file has its name.
    pub(super) fn if_new(self) -> Result<Self, TablesError> {
        if self.is_there {
            Err(TablesError::Exists(self.path))
        } else {
            Ok(self)
        }
    }

    /// The file to write to.
    pub(super) fn file(&self) -> Result<File, TablesError> {
        self.new.file().try_clone().map_err(error_at(&self.path))
    }
}

/// Puts files into their places, the one that says that the recording is there when all others are: all, or none.
/// Others of their names are what an end without warning has left; they are replaced.
pub(super) fn put_all(tables: Vec<TableFile>, recordings: TableFile) -> Result<(), TablesError> {
    put_all_within(LOCK_TIMEOUT, tables, recordings)
}

fn put_all_within(
    timeout: Duration,
    tables: Vec<TableFile>,
    recordings: TableFile,
) -> Result<(), TablesError> {
    let name = &recordings.path;
    // A crash of the machine must not leave names of files without content. It takes its time, so no lock is held yet.
    for TableFile { path, new, .. } in tables.iter().chain([&recordings]) {
        new.file().sync_data().map_err(error_at(path))?;
    }
    // Two writers of one recording must not mix their tables. Whoever may read the folder can hold its lock for ever:
    // then nothing is replaced.
    let lock = match recordings.new.lock_folder(timeout) {
        Err(error) if error.kind() == io::ErrorKind::TimedOut => None,
        lock => Some(lock.map_err(error_at(name))?),
    };
    let may_replace = lock.is_some();
    if recordings.new.is_name_taken() {
        return Err(TablesError::Exists(name.clone()));
    }
    if let Some(TableFile { path, new, .. }) = tables.last().filter(|_| may_replace) {
        // Samples must not be joined with the stacks of another export.
        new.remove_old().map_err(error_at(path))?;
    }
    let mut placed: Vec<Placed> = Vec::new();
    let take_back = |placed: &[Placed]| placed.iter().for_each(Placed::take_back);
    for TableFile { path, new, .. } in tables {
        let put = if may_replace {
            new.put_instead()
        } else {
            new.put_new()
        };
        match put {
            Ok(file) => placed.push(file),
            Err(error) => {
                take_back(&placed);
                return Err(error_or_exists(path, error));
            }
        }
    }
    placed.iter().for_each(Placed::sync_folder);
    let TableFile { path, new, .. } = recordings;
    match new.put_new() {
        Ok(recordings) => {
            recordings.sync_folder();
            Ok(())
        }
        // Where folders cannot be locked: somebody else has written the recording meanwhile, and needs the other tables.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(TablesError::Exists(path))
        }
        Err(error) => {
            take_back(&placed);
            Err(error_at(&path)(error))
        }
    }
}

fn error_or_exists(path: PathBuf, error: io::Error) -> TablesError {
    if error.kind() == io::ErrorKind::AlreadyExists {
        TablesError::Exists(path)
    } else {
        error_at(&path)(error)
    }
}

fn error_at(path: &Path) -> impl FnOnce(io::Error) -> TablesError {
    let path = path.to_owned();
    move |source| TablesError::File { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const NULL_PARTITIONS: &str =
        "date=__HIVE_DEFAULT_PARTITION__/machine=__HIVE_DEFAULT_PARTITION__";

    /// A file of a table, with this in it.
    fn create(folder: &Path, table: &str, content: &str) -> TableFile {
        let in_folder = Path::new(table).join(NULL_PARTITIONS);
        let mut folders = NewFolders::default();
        let file = TableFile::create(&mut folders, folder, &in_folder, "r").unwrap();
        file.file().unwrap().write_all(content.as_bytes()).unwrap();
        file
    }

    fn place(folder: &Path, table: &str) -> PathBuf {
        folder.join(table).join(NULL_PARTITIONS).join("r.parquet")
    }

    #[test]
    fn partitions_are_called_as_hive_calls_them() {
        let called = |start_ns, machine| partition(start_ns, machine).display().to_string();
        let start_ns = Some(1_767_225_599_999_999_999);
        assert_eq!(
            called(start_ns, Some("build-7.local")),
            "date=2025-12-31/machine=build-7.local"
        );
        assert_eq!(called(None, None), NULL_PARTITIONS);
        assert_eq!(called(Some(-1), None), called(Some(0), None));
    }

    #[test]
    fn a_machine_has_one_name_in_columns_and_folders() {
        assert_eq!(machine_name(None), None);
        assert_eq!(machine_name(Some("")), None);
        assert_eq!(machine_name(Some("vm")), Some("vm"));
        let long = format!("{}\u{e4}{}", "a".repeat(63), "b".repeat(5000));
        assert_eq!(machine_name(Some(&long)), Some(&long[..63]));
        let slashes = "/".repeat(5000);
        let partition = partition(None, machine_name(Some(&slashes)));
        assert!(partition.file_name().unwrap().len() < 255);
    }

    #[test]
    fn a_hostile_machine_stays_in_its_folder() {
        for (name, folder) in [
            ("../../etc", "machine=..%2F..%2Fetc"),
            ("a=b/c%d", "machine=a%3Db%2Fc%25d"),
            ("..", "machine=.."),
            ("\u{e4}\n*", "machine=\u{e4}%0A%2A"),
            (NULL_PARTITION, "machine=%5F_HIVE_DEFAULT_PARTITION__"),
        ] {
            let partition = partition(None, Some(name));
            assert_eq!(partition.file_name().unwrap(), folder);
            assert_eq!(partition.components().count(), 2);
        }
    }

    #[test]
    fn what_is_left_of_a_recording_is_replaced_and_a_recording_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new");
        let create = |table| create(&folder, table, "");
        let place = |table| place(&folder, table);
        put_all(vec![create("a")], create("b")).unwrap();
        let error = create("b").if_new().unwrap_err();
        assert!(matches!(error, TablesError::Exists(path) if path == place("b")));
        // A killed writer has left one table.
        std::fs::remove_file(place("b")).unwrap();
        std::fs::write(place("a"), "left").unwrap();
        let (table, recordings) = (create("a"), create("b").if_new().unwrap());
        put_all(vec![table], recordings).unwrap();
        assert_eq!(std::fs::read(place("a")).unwrap(), b"");
        // Another one is faster: nothing of it is replaced.
        let (table, recordings) = (create("a"), create("d").if_new().unwrap());
        std::fs::write(place("a"), "meanwhile").unwrap();
        std::fs::write(place("d"), "meanwhile").unwrap();
        let error = put_all(vec![table], recordings).unwrap_err();
        assert!(matches!(error, TablesError::Exists(path) if path == place("d")));
        for table in ["a", "d"] {
            assert_eq!(std::fs::read(place(table)).unwrap(), b"meanwhile");
            let place = place(table);
            assert_eq!(place.parent().unwrap().read_dir().unwrap().count(), 1);
        }
    }

    #[test]
    fn of_two_writers_of_a_recording_one_writes_all_tables() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let files = ["one", "other"].map(|content| {
                let create = |table| create(dir.path(), table, content);
                (vec![create("a"), create("b")], create("c"))
            });
            let written = std::thread::scope(|scope| {
                let put = |(tables, last)| scope.spawn(move || put_all(tables, last).is_ok());
                files.map(put).map(|writer| writer.join().unwrap())
            });
            assert_ne!(written[0], written[1]);
            let read = |table| std::fs::read_to_string(place(dir.path(), table)).unwrap();
            let winner = if written[0] { "one" } else { "other" };
            assert_eq!(["a", "b", "c"].map(read), [winner; 3]);
        }
    }

    #[test]
    fn a_lock_of_somebody_else_is_waited_for_and_then_nothing_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let create = |table, content| create(dir.path(), table, content);
        let other = create("c", "");
        let lock = other.new.lock_folder(Duration::ZERO).unwrap();
        if !lock.is_locked() {
            return;
        }
        let put = |tables, last| put_all_within(Duration::ZERO, tables, last);
        let left = place(dir.path(), "a");
        let files = (vec![create("a", "new")], create("c", "new"));
        std::fs::write(&left, "left").unwrap();
        let error = put(files.0, files.1).unwrap_err();
        assert!(matches!(error, TablesError::Exists(path) if path == left));
        std::fs::remove_file(&left).unwrap();
        put(vec![create("a", "new")], create("c", "new")).unwrap();
        let read = |table| std::fs::read(place(dir.path(), table)).unwrap();
        assert_eq!(["a", "c"].map(read), [b"new"; 2]);
    }

    #[test]
    fn a_table_that_cannot_be_placed_takes_back_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let create = |table| create(dir.path(), table, "");
        let (first, second, recordings) = (create("a"), create("b"), create("c"));
        std::fs::create_dir(place(dir.path(), "b")).unwrap();
        let error = put_all(vec![first, second], recordings).unwrap_err();
        assert!(matches!(error, TablesError::File { .. }), "{error}");
        for table in ["a", "c"] {
            let place = place(dir.path(), table);
            assert!(place.parent().unwrap().read_dir().unwrap().next().is_none());
        }
    }

    #[test]
    fn a_file_where_a_folder_should_be_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("samples"), "").unwrap();
        let mut folders = NewFolders::default();
        let in_folder = Path::new("samples/a/b");
        let error = TableFile::create(&mut folders, dir.path(), in_folder, "r").unwrap_err();
        assert!(error.to_string().ends_with("samples"), "{error}");
    }
}
