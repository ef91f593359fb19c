//! Source files: where they are looked for, and their lines.

mod notes;

use rprof_untrusted::{Author, Budget, Held, open, open_for, printable, read_all};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fmt, io};

/// The largest source file that is read.
const MAX_BYTES: u64 = 16 << 20;

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
    /// `None` if no file is looked for.
    settings: Option<SourceSettings>,
    budget: Budget,
    fetch: Option<Box<FetchSource<'f>>>,
    files: BTreeMap<String, Source>,
    /// When the code's file was last changed.
    built: Option<SystemTime>,
    /// Who may have written the paths that are looked for.
    authors: Vec<Author>,
}

/// Where a file may be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SourcePath {
    path: PathBuf,
    named_by: NamedBy,
}

/// Who says that a file is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedBy {
    /// The user, by an option: the file is in the folder that it names.
    User,
    /// DWARF, or a jitdump: whoever wrote it must be able to read the file, too.
    Code,
}

impl SourcePath {
    fn of_code(path: &str) -> Self {
        Self {
            path: path.into(),
            named_by: NamedBy::Code,
        }
    }

    /// What is left of a path, in a folder that the user names; `None` if it leads out of it.
    fn below(folder: &str, rest: &str) -> Option<Self> {
        let mut inside = PathBuf::new();
        for part in Path::new(rest.trim_start_matches('/')).components() {
            match part {
                Component::Normal(name) => inside.push(name),
                Component::ParentDir if inside.pop() => {}
                Component::CurDir => {}
                _ => return None,
            }
        }
        Some(Self {
            path: if inside.as_os_str().is_empty() {
                folder.into()
            } else {
                Path::new(folder).join(inside)
            },
            named_by: NamedBy::User,
        })
    }
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
    Missing(Vec<SourcePath>, Option<io::Error>),
}

#[derive(Debug)]
struct Text {
    text: String,
    /// Where its lines begin.
    starts: Vec<usize>,
    changed: Option<SystemTime>,
    is_fetched: bool,
    /// Whether the code at hand has lines of it.
    is_used: bool,
    _held: Held,
}

impl<'f> SourceFiles<'f> {
    /// Nothing has been looked for. What is read is of the budget. Without settings, no file is looked for.
    pub fn new(settings: impl Into<Option<SourceSettings>>, budget: &Budget) -> Self {
        Self {
            settings: settings.into(),
            budget: budget.clone(),
            fetch: None,
            files: BTreeMap::new(),
            built: None,
            authors: Vec::new(),
        }
    }

    /// What is asked for files of the next functions that are not found.
    pub fn fetch_with(&mut self, fetch: Option<Box<FetchSource<'f>>>) {
        self.fetch = fetch;
    }

    /// What comes is of the code of this file, and paths are of these authors. Source files that its server sent, or
    /// that were not found, say nothing of other code's; those that its authors may read are not for others.
    pub(crate) fn begin(&mut self, code: &str, authors: &[Author]) {
        if self.authors != authors {
            self.files.clear();
            self.authors = authors.to_vec();
        }
        self.files
            .retain(|_, source| matches!(source, Source::Found(text) if !text.is_fetched));
        for source in self.files.values_mut() {
            if let Source::Found(text) = source {
                text.is_used = false;
            }
        }
        let meta = std::fs::metadata(code).ok();
        self.built = meta.and_then(|meta| meta.modified().ok());
    }

    /// A line as it is printed, from 1 on.
    pub(crate) fn line(&mut self, path: &str, line: u32) -> Option<String> {
        self.settings.as_ref()?;
        if !self.files.contains_key(path) {
            let source = self.look(path);
            self.files.insert(path.to_owned(), source);
        }
        let source = self.files.get_mut(path)?;
        if let Source::Found(text) = source {
            text.is_used = true;
        }
        source.line(line)
    }

    /// What is to be said of the files that were looked at since the beginning.
    pub(crate) fn end(&self) -> Vec<String> {
        let mut notes = notes::Notes::default();
        for (path, source) in &self.files {
            match source {
                Source::Missing(_, None) => notes.absent.push(path),
                Source::Missing(places, Some(error)) => notes.broken.push((path, places, error)),
                Source::Found(text) => {
                    let is_newer = self.built.is_some_and(|built| text.changed > Some(built));
                    if text.is_used && is_newer {
                        notes.newer.push(path);
                    }
                }
            }
        }
        notes.sentences()
    }

    fn look(&mut self, path: &str) -> Source {
        let settings = self.settings.as_ref();
        let places = settings.map_or_else(Vec::new, |settings| settings.places(path));
        let mut wrong = None;
        for place in &places {
            let opened = match place.named_by {
                NamedBy::User => open(&place.path),
                NamedBy::Code => open_for(&place.path, &self.authors),
            };
            match opened.and_then(|opened| self.read(opened)) {
                Ok(text) => return Source::Found(text),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        let fetched = self.fetch.as_mut().and_then(|fetch| fetch(path));
        let fetched = fetched.map(|fetched| open(&fetched));
        match fetched.map(|fetched| self.read(fetched?)) {
            Some(Ok(text)) => Source::Found(Text {
                changed: None,
                is_fetched: true,
                ..text
            }),
            Some(Err(error)) => Source::Missing(places, wrong.or(Some(error))),
            None => Source::Missing(places, wrong),
        }
    }

    fn read(&self, (file, meta): (File, Metadata)) -> io::Result<Text> {
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
            is_used: false,
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
    fn places(&self, path: &str) -> Vec<SourcePath> {
        let is_absolute = path.starts_with('/');
        let mut places = Vec::new();
        let replaced = self.replaced.iter().find_map(|(from, to)| {
            let rest = if from.is_empty() {
                path.strip_prefix('/').is_none().then_some(path)
            } else {
                path.strip_prefix(from.as_str())
            }?;
            let is_whole = from.is_empty() || from.ends_with('/') || rest.is_empty();
            (is_whole || rest.starts_with('/')).then_some((to, rest))
        });
        // What leads out of the folder is of whoever wrote the path.
        places.extend(replaced.map(|(to, rest)| {
            SourcePath::below(to, rest)
                .unwrap_or_else(|| SourcePath::of_code(&format!("{to}/{rest}")))
        }));
        if let Some(prefix) = self.prefix.as_ref().filter(|_| is_absolute) {
            let mut rest = path.split('/').filter(|part| !part.is_empty());
            let n_folders = rest.clone().count().saturating_sub(1);
            for _ in 0..self.strip.min(n_folders) {
                rest.next();
            }
            places.extend(SourcePath::below(
                prefix,
                &rest.collect::<Vec<_>>().join("/"),
            ));
        }
        if is_absolute {
            let symfs = self.symfs.as_ref().and_then(|symfs| symfs.to_str());
            places.extend(symfs.and_then(|symfs| SourcePath::below(symfs, path)));
            places.push(SourcePath::of_code(path));
        }
        places.dedup();
        places
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
mod tests;
