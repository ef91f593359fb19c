//! Source files: where they are looked for, and their lines.

use rprof_untrusted::{Budget, Held, open, printable, read_all};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fmt, io};

/// The largest source file that is read.
const MAX_BYTES: u64 = 16 << 20;

/// Files that are named where several have not been found.
const MAX_NAMED: usize = 3;

/// Asked for a source file that is nowhere here, by its path in DWARF; answers with a copy of it.
pub type FetchSource<'f> = dyn FnMut(&str) -> Option<PathBuf> + 'f;

/// Where source files are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceSettings {
    /// A folder with the files of the recorded machine (`--symfs`).
    pub symfs: Option<PathBuf>,
    /// What paths begin with, and what instead (`--source-prefix A=B`); the first that fits.
    pub replaced: Vec<(String, String)>,
    /// What is put before absolute paths (perf's `--prefix`).
    pub prefix: Option<String>,
    /// How many folders are taken off before that (perf's `--prefix-strip`).
    pub strip: usize,
}

/// Source files that have been looked for.
pub struct SourceFiles<'f> {
    settings: SourceSettings,
    budget: Budget,
    fetch: Option<Box<FetchSource<'f>>>,
    files: BTreeMap<String, Source>,
    /// When the code's file was last changed.
    built: Option<SystemTime>,
}

impl fmt::Debug for SourceFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFiles")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What became of a file.
#[derive(Debug)]
enum Source {
    Found(Text),
    /// Where it was looked for, and what was wrong at the first place that is not just empty.
    Missing(Vec<PathBuf>, Option<io::Error>),
}

#[derive(Debug)]
struct Text {
    text: String,
    /// Where its lines begin.
    starts: Vec<usize>,
    changed: Option<SystemTime>,
    is_fetched: bool,
    _held: Held,
}

impl<'f> SourceFiles<'f> {
    /// Nothing has been looked for. What is read is of the budget.
    pub fn new(settings: SourceSettings, budget: &Budget) -> Self {
        Self {
            settings,
            budget: budget.clone(),
            fetch: None,
            files: BTreeMap::new(),
            built: None,
        }
    }

    /// What is asked for files of the next functions that are not found.
    pub fn fetch_with(&mut self, fetch: Option<Box<FetchSource<'f>>>) {
        self.fetch = fetch;
    }

    /// What comes is of the code of this file. Source files that its server sent, or that were not found, say nothing
    /// of other code's.
    pub(crate) fn begin(&mut self, code: &str) {
        self.files
            .retain(|_, source| matches!(source, Source::Found(text) if !text.is_fetched));
        let meta = std::fs::metadata(code).ok();
        self.built = meta.and_then(|meta| meta.modified().ok());
    }

    /// A line as it is printed, from 1 on.
    pub(crate) fn line(&mut self, path: &str, line: u32) -> Option<String> {
        if let Some(known) = self.files.get(path) {
            return known.line(line);
        }
        let source = self.look(path);
        let text = source.line(line);
        self.files.insert(path.to_owned(), source);
        text
    }

    /// What is to be said of the files that were looked at since the beginning.
    pub(crate) fn end(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut missing = Vec::new();
        for (path, source) in &self.files {
            match source {
                Source::Missing(places, error) => missing.push((path, places, error)),
                Source::Found(text)
                    if self.built.is_some_and(|built| text.changed > Some(built)) =>
                {
                    let path = printable(path);
                    notes.push(format!(
                        "{path} is newer than the code's file: its lines may be others"
                    ));
                }
                Source::Found(_) => {}
            }
        }
        for (path, places, error) in missing.iter().take(MAX_NAMED) {
            let path = printable(path);
            let places = places.iter().map(|place| place.display().to_string());
            let places: Vec<String> = places.map(|place| printable(&place).into_owned()).collect();
            let looked = match &places[..] {
                [] => "its path is relative".to_owned(),
                places => format!("looked for at {}", places.join(", ")),
            };
            let why = error
                .as_ref()
                .map_or_else(String::new, |why| format!(": {why}"));
            notes.push(format!(
                "no source of {path} ({looked}{why}): say where it is with --source-prefix FROM=TO or --symfs DIR"
            ));
        }
        if let Some(more @ 1..) = missing.len().checked_sub(MAX_NAMED) {
            notes.push(format!("no source of {more} more files"));
        }
        notes
    }

    fn look(&mut self, path: &str) -> Source {
        let places = self.settings.places(path);
        let mut wrong = None;
        for place in &places {
            match self.read(place) {
                Ok(text) => return Source::Found(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        let fetched = self.fetch.as_mut().and_then(|fetch| fetch(path));
        match fetched.map(|fetched| self.read(&fetched)) {
            Some(Ok(text)) => Source::Found(Text {
                changed: None,
                is_fetched: true,
                ..text
            }),
            Some(Err(error)) => Source::Missing(places, wrong.or(Some(error))),
            None => Source::Missing(places, wrong),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Text> {
        let (file, meta) = open(path)?;
        let mut held = self.budget.hold_nothing();
        let bytes = read_all(file, MAX_BYTES, &mut held)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let after = ends.map(|(end, _)| end + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(after).collect();
        let starts: Vec<usize> = starts.into_iter().filter(|&at| at < text.len()).collect();
        let more = text.len() - bytes.len().min(text.len()) + size_of_val(&starts[..]);
        held.grow(more as u64)
            .map_err(|over| io::Error::new(io::ErrorKind::OutOfMemory, over))?;
        Ok(Text {
            text,
            starts,
            changed: meta.modified().ok(),
            is_fetched: false,
            _held: held,
        })
    }
}

impl Source {
    /// A line as it is printed, from 1 on.
    fn line(&self, line: u32) -> Option<String> {
        let Self::Found(found) = self else {
            return None;
        };
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = *found.starts.get(at)?;
        let end = found.starts.get(at + 1).copied();
        let text = found.text.get(start..end.unwrap_or(found.text.len()))?;
        let text = text.trim_end_matches(['\n', '\r']);
        Some(printable(&without_tabs(text)).into_owned())
    }
}

impl SourceSettings {
    /// Where a file may be, in order.
    fn places(&self, path: &str) -> Vec<PathBuf> {
        let is_absolute = path.starts_with('/');
        let mut places = Vec::new();
        let replaced = self.replaced.iter().find_map(|(from, to)| {
            let rest = match from.is_empty() {
                true => path.strip_prefix('/').is_none().then_some(path),
                false => path.strip_prefix(from.as_str()),
            }?;
            let is_whole = from.is_empty() || from.ends_with('/') || rest.is_empty();
            (is_whole || rest.starts_with('/')).then(|| below(to, rest))
        });
        places.extend(replaced);
        if let Some(prefix) = self.prefix.as_ref().filter(|_| is_absolute) {
            let mut rest = path.split('/').filter(|part| !part.is_empty());
            let n_folders = rest.clone().count().saturating_sub(1);
            for _ in 0..self.strip.min(n_folders) {
                rest.next();
            }
            places.push(below(prefix, &rest.collect::<Vec<_>>().join("/")));
        }
        if is_absolute {
            let symfs = self.symfs.as_ref();
            places.extend(symfs.map(|symfs| symfs.join(path.trim_start_matches('/'))));
            places.push(path.into());
        }
        places.dedup();
        places
    }
}

/// A path below a folder.
fn below(folder: &str, rest: &str) -> PathBuf {
    match rest.trim_start_matches('/') {
        "" => folder.into(),
        rest => Path::new(folder).join(rest),
    }
}

/// Tabs fill up to the next eighth column.
fn without_tabs(text: &str) -> String {
    const TAB: usize = 8;
    let mut all = String::with_capacity(text.len());
    let mut column = 0;
    for character in text.chars() {
        let n = if character == '\t' {
            TAB - column % TAB
        } else {
            1
        };
        match character {
            '\t' => all.extend(std::iter::repeat_n(' ', n)),
            _ => all.push(character),
        }
        column += n;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(settings: &SourceSettings, path: &str) -> Vec<String> {
        let places = settings.places(path).into_iter();
        places.map(|place| place.display().to_string()).collect()
    }

    #[test]
    fn a_prefix_is_replaced_where_a_folder_ends() {
        let settings = SourceSettings {
            replaced: vec![
                ("/rustc/abc".to_owned(), "/usr/src/rust".to_owned()),
                (String::new(), "/home/work".to_owned()),
            ],
            ..SourceSettings::default()
        };
        let rust = "/rustc/abc/library/core/src/lib.rs";
        let found = "/usr/src/rust/library/core/src/lib.rs";
        assert_eq!(places(&settings, rust), [found, rust]);
        assert_eq!(places(&settings, "/rustc/abcd/x.rs"), ["/rustc/abcd/x.rs"]);
        assert_eq!(places(&settings, "src/x.rs"), ["/home/work/src/x.rs"]);
    }

    #[test]
    fn a_relative_path_is_not_looked_for_in_the_working_folder() {
        assert!(places(&SourceSettings::default(), "src/x.rs").is_empty());
    }

    #[test]
    fn prefixes_of_perf_are_put_before_what_is_left_of_a_path() {
        let mut settings = SourceSettings {
            prefix: Some("/new".to_owned()),
            ..SourceSettings::default()
        };
        assert_eq!(places(&settings, "/a/b/c.c"), ["/new/a/b/c.c", "/a/b/c.c"]);
        settings.strip = 1;
        assert_eq!(places(&settings, "/a/b/c.c")[0], "/new/b/c.c");
        settings.strip = 9;
        assert_eq!(places(&settings, "/a/b/c.c")[0], "/new/c.c");
    }

    #[test]
    fn lines_are_printed_and_counted_from_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.c");
        std::fs::write(&path, "\tone\r\n\x1b[2Jtwo\n\nfour").unwrap();
        let path = path.display().to_string();
        let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
        let lines: Vec<Option<String>> = (0..6).map(|line| files.line(&path, line)).collect();
        let lines: Vec<Option<&str>> = lines.iter().map(Option::as_deref).collect();
        let two = "\\x1b[2Jtwo";
        assert_eq!(
            lines,
            [
                None,
                Some("        one"),
                Some(two),
                Some(""),
                Some("four"),
                None
            ]
        );
        assert!(files.end().is_empty());
    }

    #[test]
    fn what_is_not_found_is_said_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone.c").display().to_string();
        let folder = dir.path().display().to_string();
        let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
        for path in [&gone, &folder, "rel.c", "x1.c", "x2.c"] {
            assert_eq!(files.line(path, 1), None);
        }
        let notes = files.end().join("\n");
        assert!(notes.contains("not a regular file"), "{notes}");
        assert!(notes.contains(&format!("no source of {gone} (looked for at {gone})")));
        assert!(notes.contains("--source-prefix FROM=TO"));
        assert!(notes.ends_with("no source of 2 more files"), "{notes}");
    }

    #[test]
    fn what_a_server_sent_is_not_taken_for_other_code() {
        let dir = tempfile::tempdir().unwrap();
        let sent = dir.path().join("sent");
        std::fs::write(&sent, "line\n").unwrap();
        let mut files = SourceFiles::new(SourceSettings::default(), &Budget::default());
        let copy = sent.clone();
        files.fetch_with(Some(Box::new(move |_| Some(copy.clone()))));
        assert_eq!(files.line("/none/a.c", 1).unwrap(), "line");
        files.fetch_with(None);
        files.begin("/none/other");
        assert_eq!(files.line("/none/a.c", 1), None);
    }
}
