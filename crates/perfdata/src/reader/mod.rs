//! [`Reader`]: opens a recording, knows its events, and walks its records.

mod attrs;
mod blocks;
mod bytes;
mod decompress;
mod input;
mod names;
mod open;
mod pipe;
mod records;
mod source;
mod stream;
mod walk;

pub use blocks::{BlockWalk, WalkedBlock};
pub use input::RecordingInput;
pub use records::{Records, Step};

use crate::attr_fields::visit_attr;
use crate::feature::{self, BuildIdEntry};
use crate::{Error, FeatureId, FileHeader, FileLocation, Section, Warning};
use bytes::Bytes;
use foldhash::HashMap;
use rprof_abi::{
    Endian, Fields, PerfEventAttr, RawRecord, SampleLayout, SampleType, WireError, event_type, sw,
};
use rprof_untrusted::{Budget, Untrusted};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stream::Stream;

/// An event of a recording.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// Its name, from EVENT_DESC, else made from the attr.
    pub name: Untrusted<String>,
    /// Its attr.
    pub attr: PerfEventAttr,
    /// Where the fields of its records sit.
    pub layout: SampleLayout,
}

impl RecordedEvent {
    /// Says the fields of its attr.
    pub fn visit_attr(&self, fields: &mut dyn Fields) {
        visit_attr(&self.attr, fields);
    }

    /// Whether it counts nothing and only carries sideband.
    pub fn is_dummy(&self) -> bool {
        self.attr.kind == event_type::SOFTWARE && self.attr.config == sw::DUMMY
    }
}

/// Bytes of the header of a pipe-mode recording.
pub(crate) const PIPE_HEADER_LEN: u64 = 16;

/// Feature sections that are one string are a line of text, bytes.
const MAX_TEXT: u64 = 64 << 10;

/// How a recording is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Header, records and features in one file.
    File,
    /// Records only, as they went through a pipe (`perf record -o -`).
    Pipe,
    /// A directory of files (`perf record --threads`).
    Directory,
}

/// An open recording. Reading needs only `&self`: threads share it.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    form: Form,
    endian: Endian,
    is_compressed: bool,
    /// The file with the header; sections are its.
    main: Arc<Bytes>,
    header: Option<FileHeader>,
    stream: Stream,
    events: Vec<RecordedEvent>,
    event_by_id: HashMap<u64, usize>,
    /// One event of each place where an id may sit in a record.
    id_layouts: Vec<usize>,
    features: Vec<(FeatureId, Section)>,
    piped_build_ids: Vec<BuildIdEntry>,
    warnings: Vec<Warning>,
    budget: Budget,
}

impl Reader {
    fn new(path: &Path, main: Arc<Bytes>, (endian, form): (Endian, Form), budget: Budget) -> Self {
        Self {
            path: path.to_owned(),
            form,
            endian,
            is_compressed: false,
            main,
            header: None,
            stream: Stream::default(),
            events: Vec::new(),
            event_by_id: HashMap::default(),
            id_layouts: Vec::new(),
            features: Vec::new(),
            piped_build_ids: Vec::new(),
            warnings: Vec::new(),
            budget,
        }
    }

    /// What the recording, and the files that it leads to, may cost.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// How it is stored.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether its records were compressed (`perf record -z`).
    pub fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    /// The header of a file or directory.
    pub fn header(&self) -> Option<&FileHeader> {
        self.header.as_ref()
    }

    /// Byte order of the recording.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Whether an open file is the one with the header.
    pub(crate) fn is_of(&self, file: &File) -> bool {
        let id = |file: &File| file.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
        match &*self.main {
            Bytes::File { file: own, .. } => id(own).is_some() && id(own) == id(file),
            Bytes::Memory(_) => false,
        }
    }

    /// When the file with the header was changed last, in seconds since 1970; `None` for what came through
    /// a pipe.
    pub fn modified(&self) -> Option<u64> {
        match &*self.main {
            _ if self.path == Path::new("-") => None,
            Bytes::File { file, .. } => file.metadata().ok()?.mtime().try_into().ok(),
            Bytes::Memory(_) => None,
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its events, in the file's order.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// Whether samples of any event hold call chains.
    pub fn has_call_chains(&self) -> bool {
        self.events
            .iter()
            .any(|event| event.attr.sample_type.has(SampleType::CALLCHAIN))
    }

    /// What could not be used when it was opened.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Where the records are: offsets for [`Self::walk`]. In a plain file they are the file's own.
    pub fn data(&self) -> Range<u64> {
        self.stream.range()
    }

    /// Where an offset of a walk is, in the user's terms.
    pub fn location(&self, offset: u64) -> FileLocation {
        self.stream.location(offset)
    }

    /// The event that a record belongs to: by its id, or the only one, or (for records without
    /// id) the first.
    #[inline]
    pub fn event_of(&self, raw: RawRecord<'_>) -> Option<usize> {
        if self.events.len() == 1 {
            return Some(0);
        }
        let mut has_id = false;
        for &layout in &self.id_layouts {
            match self.events.get(layout)?.layout.event_id(raw) {
                // Synthesized records carry id 0.
                None | Some(0) => {}
                Some(id) => {
                    has_id = true;
                    let event = self.event_by_id.get(&id).copied();
                    // With several places, what was found must be where this event has its id.
                    if event.is_some_and(|event| self.holds_id(event, raw, id)) {
                        return event;
                    }
                }
            }
        }
        (!has_id && !self.events.is_empty()).then_some(0)
    }

    /// The ids of an event, sorted.
    pub fn ids_of(&self, place: usize) -> Vec<u64> {
        let all = self.event_by_id.iter();
        let own = all.filter(|&(_, &event)| event == place);
        let mut ids: Vec<u64> = own.map(|(&id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    /// The event with this id.
    pub fn event_of_id(&self, id: u64) -> Option<usize> {
        self.event_by_id.get(&id).copied()
    }

    #[inline]
    fn holds_id(&self, event: usize, raw: RawRecord<'_>, id: u64) -> bool {
        let event = self.events.get(event);
        self.id_layouts.len() == 1
            || event.is_some_and(|event| event.layout.event_id(raw) == Some(id))
    }

    /// Events may differ in where their records hold the id, if none of them has it at the place
    /// that is the same for all (IDENTIFIER). perf does not open such files.
    fn find_id_layouts(&mut self) {
        let mut layouts: Vec<usize> = Vec::new();
        for (idx, event) in self.events.iter().enumerate() {
            let is_new = !layouts.iter().any(|&other| {
                let other = self.events.get(other).map(|other| other.layout.id_places());
                other == Some(event.layout.id_places())
            });
            if is_new {
                layouts.push(idx);
            }
        }
        self.id_layouts = layouts;
    }

    /// The feature sections, by number and place in the file.
    pub fn features(&self) -> &[(FeatureId, Section)] {
        &self.features
    }

    /// The bytes of a feature section; `None` if the file has none.
    ///
    /// # Errors
    /// [`Error::Io`], or an unexpected end of file.
    pub fn feature(&self, id: FeatureId) -> Result<Option<Vec<u8>>, Error> {
        let Some(&(_, section)) = self.features.iter().find(|(other, _)| *other == id) else {
            return Ok(None);
        };
        self.read_section(section).map(Some)
    }

    /// A feature section that is text, such as OSRELEASE; `None` if absent, damaged, or longer than
    /// any: some are asked for once an image.
    pub fn feature_text(&self, id: FeatureId) -> Option<String> {
        let (_, section) = self.features.iter().find(|(other, _)| *other == id)?;
        if section.size > MAX_TEXT {
            return None;
        }
        let section = self.feature(id).ok()??;
        let text = feature::decode_string(&section, self.endian).ok()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Build ids by path, and a warning if not all of them could be read.
    pub fn build_ids(&self) -> (Vec<BuildIdEntry>, Option<Warning>) {
        let warning = |what: String| {
            let feature = FeatureId::BUILD_ID.name();
            Some(Warning::BadFeature { feature, what })
        };
        match self.feature(FeatureId::BUILD_ID) {
            Ok(None) => (self.piped_build_ids.clone(), None),
            Ok(Some(section)) => {
                let (entries, error) = BuildIdEntry::parse_until_damage(&section, self.endian);
                let bad = error.and_then(|error: WireError| warning(error.to_string()));
                (entries, bad)
            }
            Err(_) => (Vec::new(), warning("it lies outside the file".to_owned())),
        }
    }

    fn read_section(&self, section: Section) -> Result<Vec<u8>, Error> {
        let bytes = self.main.read(section.offset, section.size);
        bytes.map_err(Error::io(&self.path))
    }

    fn bad_header(&self, offset: u64, what: String) -> Error {
        Error::BadHeader {
            path: self.path.clone(),
            offset,
            what,
        }
    }
}

#[cfg(test)]
mod tests;
