//! The recordings that are damaged: fixtures, and the corpus if it is there.

use crate::common::{corpus, fixtures, scratch};
use rprof_perfdata::{Error, FileHeader, Reader, Section};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Larger files of the corpus are left out: they take long and show nothing new.
const MAX_BYTES: u64 = 32 << 10;

/// A recording whose bytes may be changed before it is opened. Thousands are read in one process, by
/// the library: other tests ask the binary (`common::Recording`).
pub(crate) struct Original {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// Of a directory recording: a copy of it, and which file of it `bytes` are.
    folder: Option<(TempDir, String)>,
    /// Where its programs are, if they are part of what is tested.
    pub(crate) root: Option<PathBuf>,
    /// Whether it is one of the project's own, which are damaged more thoroughly.
    pub(crate) is_fixture: bool,
}

impl Original {
    /// Opens it as if it had these bytes.
    pub(crate) fn open(&self, bytes: Vec<u8>) -> Result<Reader, Error> {
        match &self.folder {
            None => Reader::from_bytes(Path::new(&self.name), bytes),
            Some((dir, file)) => {
                std::fs::write(dir.path().join(file), bytes).unwrap();
                Reader::open(dir.path())
            }
        }
    }

    /// Where what it is made of lies in its bytes; `None` if it cannot be opened as it is.
    pub(crate) fn places(&self) -> Option<Places> {
        let reader = self.open(self.bytes.clone()).ok()?;
        let len = self.bytes.len();
        let at = |offset: u64| usize::try_from(offset).map_or(len, |at| at.min(len));
        let range = |section: Section| at(section.offset)..at(section.end());
        let has_magic = |magic: &[u8]| self.bytes.starts_with(magic);
        let is_part = !has_magic(b"PERFILE2") && !has_magic(b"2ELIFREP");
        let mut places = Places {
            endian: reader.endian(),
            heads: Vec::new(),
            sections: Vec::new(),
            data: 0..len,
            promised: None,
        };
        match reader.header() {
            _ if is_part => {}
            None => {
                places.heads.push(0..16);
                places.data = 16..len;
            }
            Some(header) => {
                let table = Section {
                    offset: header.data.end(),
                    size: Section::LEN * header.feature_ids().count() as u64,
                };
                let sections = reader.features().iter().map(|&(_, section)| section);
                places.sections = sections.clone().map(range).collect();
                places.heads = vec![0..at(FileHeader::LEN), range(header.attrs), range(table)];
                places.data = range(header.data);
                let all = [header.attrs, header.data, table]
                    .into_iter()
                    .chain(sections);
                places.promised = all.map(|section| range(section).end).max();
            }
        }
        Some(places)
    }
}

/// Where things lie in a file.
pub(crate) struct Places {
    pub(crate) endian: rprof_abi::Endian,
    /// Header, attrs, table of features.
    pub(crate) heads: Vec<Range<usize>>,
    /// Feature sections.
    pub(crate) sections: Vec<Range<usize>>,
    /// Records.
    pub(crate) data: Range<usize>,
    /// The last end that the header speaks of. Pipes and parts of directories promise nothing.
    pub(crate) promised: Option<usize>,
}

impl Places {
    /// Where records start, as far as they can be followed.
    pub(crate) fn records(&self, bytes: &[u8]) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut at = self.data.start;
        while at < self.data.end {
            starts.push(at);
            let Some(&[low, high]) = bytes.get(at + 6..at + 8) else {
                break;
            };
            let len = usize::from(self.endian.u16([low, high]));
            // Less is no record.
            if len < 8 {
                break;
            }
            at += len;
        }
        starts
    }
}

/// All of them, in the same order every time.
pub(crate) fn all() -> Vec<Original> {
    let mut all = Vec::new();
    for name in [
        "spin/perf.data",
        "forms/compressed.data",
        "forms/piped.data",
        "forms/piped-compressed.data",
    ] {
        all.push(file(&fixtures().join(name), true));
    }
    let dir = fixtures().join("dwarf");
    all.push(Original {
        root: Some(dir.join("root")),
        ..file(&dir.join("perf.data"), true)
    });
    for part in ["data", "data.1"] {
        all.push(directory(part));
    }
    if let Some(dir) = corpus() {
        let mut paths = Vec::new();
        collect(&dir, &mut paths);
        paths.sort();
        let recordings = paths.iter().map(|path| file(path, false));
        // Others are notes, expected output and what was found by fuzzing.
        all.extend(recordings.filter(|one| one.open(one.bytes.clone()).is_ok()));
    }
    all
}

fn file(path: &Path, is_fixture: bool) -> Original {
    let name = path.file_name().unwrap_or_default();
    Original {
        name: name.to_string_lossy().into_owned(),
        bytes: std::fs::read(path).unwrap(),
        folder: None,
        root: None,
        is_fixture,
    }
}

fn directory(part: &str) -> Original {
    let (from, to) = (fixtures().join("forms/directory"), scratch());
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.path().join(entry.file_name())).unwrap();
    }
    Original {
        name: format!("directory/{part}"),
        bytes: std::fs::read(from.join(part)).unwrap(),
        folder: Some((to, part.to_owned())),
        root: None,
        is_fixture: true,
    }
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) {
    for entry in dir.read_dir().unwrap() {
        let entry = entry.unwrap();
        let meta = entry.metadata().unwrap();
        if meta.is_dir() {
            collect(&entry.path(), paths);
        } else if meta.len() <= MAX_BYTES {
            paths.push(entry.path());
        }
    }
}
