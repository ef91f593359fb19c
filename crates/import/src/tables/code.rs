//! Stacks and frames: each once, whatever number of recordings has it.

use super::columns::{Batch, Kind, TableFile, Wanted};
use super::files::{Files, FoundFile};
use crate::Error;
use crate::names::{Level, build_id, image_identity};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_perfdata::SyntheticIdentity;
use rprof_untrusted::{Budget, Held};
use std::ops::Range;

/// A function at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameRow {
    hash: i64,
    /// From 0, innermost first.
    depth: i64,
    /// By number of the text.
    pub(super) function: Option<u32>,
    pub(super) line: Option<(u32, u32)>,
    /// By number of the image.
    pub(super) image: u32,
}

/// The code of all recordings in a folder.
pub(super) struct Code {
    texts: Interner<u32, Vec<u8>, RandomState>,
    images: Interner<u32, SyntheticIdentity, RandomState>,
    /// By hash, positions in `frames`.
    stacks: HashMap<i64, Range<usize>>,
    /// Hashes of frames, innermost first.
    frames: Vec<i64>,
    /// By hash, positions in `rows`.
    locations: HashMap<i64, Range<usize>>,
    rows: Vec<FrameRow>,
    held: Held,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code")
            .field("n_stacks", &self.stacks.len())
            .field("n_locations", &self.locations.len())
            .finish_non_exhaustive()
    }
}

const STACKS: [Wanted; 2] = [
    Wanted {
        name: "stack_hash",
        kind: Kind::Number,
        is_required: true,
    },
    Wanted {
        name: "frame_hashes",
        kind: Kind::Numbers,
        is_required: true,
    },
];

const fn optional(name: &'static str, kind: Kind) -> Wanted {
    Wanted {
        name,
        kind,
        is_required: false,
    }
}

const FRAMES: [Wanted; 9] = [
    Wanted {
        name: "frame_hash",
        kind: Kind::Number,
        is_required: true,
    },
    optional("inline_depth", Kind::Number),
    optional("function", Kind::Text),
    optional("module", Kind::Text),
    optional("path", Kind::Text),
    optional("level", Kind::Text),
    optional("build_id", Kind::Text),
    optional("file", Kind::Text),
    optional("line", Kind::Number),
];

/// Bytes that an entry of a table takes beside what it holds.
const ENTRY_BYTES: usize = 48;

impl Code {
    /// Reads the stacks and frames of a folder.
    ///
    /// # Errors
    /// [`Error`]: a table cannot be read, or all take too much memory.
    pub(super) fn read(files: &Files, budget: &Budget) -> Result<Self, Error> {
        let mut code = Self {
            texts: Interner::default(),
            images: Interner::default(),
            stacks: HashMap::default(),
            frames: Vec::new(),
            locations: HashMap::default(),
            rows: Vec::new(),
            held: budget.hold_nothing(),
        };
        for file in files.of("stacks") {
            let table = TableFile::open(file, &STACKS)?;
            table.for_each_batch(budget, |batch| code.add_stacks(file, batch))?;
        }
        for file in files.of("frames") {
            code.add_frames_of(file, budget)?;
        }
        Ok(code)
    }

    /// The frames of a stack, innermost first; `None` if it is not known.
    pub(super) fn stack(&self, hash: i64) -> Option<&[i64]> {
        self.frames.get(self.stacks.get(&hash)?.clone())
    }

    /// The functions of a frame, innermost first; `None` if it is not known.
    pub(super) fn functions(&self, hash: i64) -> Option<&[FrameRow]> {
        self.rows.get(self.locations.get(&hash)?.clone())
    }

    pub(super) fn text(&self, number: u32) -> &[u8] {
        self.texts.get(number).map_or(&[], Vec::as_slice)
    }

    pub(super) fn image(&self, number: u32) -> Option<&SyntheticIdentity> {
        self.images.get(number)
    }

    fn hold(&mut self, file: &FoundFile, bytes: usize) -> Result<(), Error> {
        let held = self.held.grow(bytes as u64);
        held.map_err(|_| Error::memory(&file.path, self.held.budget()))
    }

    fn add_stacks(&mut self, file: &FoundFile, batch: &Batch) -> Result<(), Error> {
        let mut bytes = 0;
        for row in 0..batch.n_rows {
            let Some(hash) = batch.number(0, row) else {
                continue;
            };
            let frames = batch.list(1, row);
            let start = self.frames.len();
            self.stacks.entry(hash).or_insert_with(|| {
                self.frames.extend_from_slice(frames);
                bytes += ENTRY_BYTES + 2 * size_of_val(frames);
                start..start + frames.len()
            });
        }
        self.hold(file, bytes)
    }

    /// Adds what a file says of locations; of two files, the one counts that knows more of a location.
    fn add_frames_of(&mut self, file: &FoundFile, budget: &Budget) -> Result<(), Error> {
        let mut rows = Vec::new();
        let mut of_file = budget.hold_nothing();
        let table = TableFile::open(file, &FRAMES)?;
        table.for_each_batch(budget, |batch| {
            let bytes = (2 * batch.n_rows * size_of::<FrameRow>()) as u64;
            let held = of_file.grow(bytes);
            held.map_err(|_| Error::memory(&file.path, budget))?;
            for row in 0..batch.n_rows {
                rows.extend(self.frame(file, batch, row)?);
            }
            Ok(())
        })?;
        rows.sort_by_key(|row: &FrameRow| (row.hash, row.depth));
        rows.dedup_by_key(|row| (row.hash, row.depth));
        for location in rows.chunk_by(|a, b| a.hash == b.hash) {
            let Some(first) = location.first() else {
                continue;
            };
            let known = self.functions(first.hash).map_or(0, knowledge);
            if known < knowledge(location) {
                self.hold(file, ENTRY_BYTES + 2 * size_of_val(location))?;
                let start = self.rows.len();
                self.rows.extend_from_slice(location);
                self.locations.insert(first.hash, start..self.rows.len());
            }
        }
        Ok(())
    }

    fn frame(
        &mut self,
        file: &FoundFile,
        batch: &Batch,
        row: usize,
    ) -> Result<Option<FrameRow>, Error> {
        let Some(hash) = batch.number(0, row) else {
            return Ok(None);
        };
        let text = |column| batch.text(column, row).filter(|text| !text.is_empty());
        // Code of guests and hypervisors has no level of its own here.
        let level = match text(5) {
            Some(level) if level.ends_with(b"kernel") || level == b"hypervisor" => Level::Kernel,
            _ => Level::User,
        };
        let name = image_name(text(3), text(4), level);
        let image = image_identity(name, text(6).and_then(build_id), level);
        let line = batch
            .number(8, row)
            .and_then(|line| u32::try_from(line).ok());
        let n_images = self.images.len();
        let bytes = ENTRY_BYTES + 4 * image.name.len();
        let image = self.images.intern(image);
        if self.images.len() > n_images {
            self.hold(file, bytes)?;
        }
        Ok(Some(FrameRow {
            hash,
            depth: batch.number(1, row).unwrap_or(0),
            function: text(2).map(|name| self.intern(file, name)).transpose()?,
            line: match text(7) {
                Some(path) => Some((self.intern(file, path)?, line.unwrap_or(0))),
                None => None,
            },
            image,
        }))
    }

    /// The number of a text, new or known.
    fn intern(&mut self, file: &FoundFile, text: &[u8]) -> Result<u32, Error> {
        let n_texts = self.texts.len();
        let number = self.texts.intern_ref(text);
        if self.texts.len() > n_texts {
            self.hold(file, ENTRY_BYTES + 2 * text.len())?;
        }
        Ok(number)
    }
}

/// How much is known of a location: functions, names and lines.
fn knowledge(rows: &[FrameRow]) -> usize {
    let of_row = |row: &FrameRow| {
        4 + 2 * usize::from(row.function.is_some()) + usize::from(row.line.is_some())
    };
    rows.iter().map(of_row).sum()
}

/// What an image is called, so that it is shown as `module`.
fn image_name<'t>(module: Option<&'t [u8]>, path: Option<&'t [u8]>, level: Level) -> &'t [u8] {
    let (Some(module), Some(path)) = (module, path) else {
        return module.or(path).unwrap_or_default();
    };
    let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let is_module = level == Level::Kernel && last.windows(3).any(|end| end == b".ko");
    if last == module || is_module || path.starts_with(b"[") {
        path
    } else {
        module
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_shown_as_modules() {
        let name = |module: &str, path: &str, level| {
            let path = (!path.is_empty()).then_some(path.as_bytes());
            let name = image_name(Some(module.as_bytes()), path, level);
            String::from_utf8(name.to_vec()).unwrap()
        };
        assert_eq!(name("app", "/bin/app", Level::User), "/bin/app");
        assert_eq!(
            name("[ext4]", "/lib/ext4.ko.xz", Level::Kernel),
            "/lib/ext4.ko.xz"
        );
        assert_eq!(name("bpf", "bpf_prog_1", Level::Kernel), "bpf");
        assert_eq!(name("[unknown]", "", Level::User), "[unknown]");
    }
}
