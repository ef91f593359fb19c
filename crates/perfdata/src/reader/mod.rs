//! [`Reader`]: opens a recording, knows its events, and walks its records.

mod open;
mod walk;

pub use walk::Step;

use crate::feature::{self, BuildIdEntry};
use crate::{Error, FeatureId, FileHeader, Section, Warning};
use rprof_abi::{
    Endian, PerfEventAttr, RawRecord, SampleLayout, SampleType, WireError, event_type, sw,
};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// An event of a recording.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// Its name, from EVENT_DESC, else made from the attr.
    pub name: String,
    /// Its attr.
    pub attr: PerfEventAttr,
    /// Where the fields of its records sit.
    pub layout: SampleLayout,
}

impl RecordedEvent {
    /// Whether it counts nothing and only carries sideband.
    pub fn is_dummy(&self) -> bool {
        self.attr.kind == event_type::SOFTWARE && self.attr.config == sw::DUMMY
    }
}

/// An open recording. Reading needs only `&self`: threads share it.
#[derive(Debug)]
pub struct Reader {
    file: File,
    path: PathBuf,
    file_len: u64,
    endian: Endian,
    header: FileHeader,
    events: Vec<RecordedEvent>,
    event_by_id: HashMap<u64, usize>,
    features: Vec<(FeatureId, Section)>,
    warnings: Vec<Warning>,
}

impl Reader {
    /// Byte order of the recording.
    pub fn endian(&self) -> Endian {
        self.endian
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
        let mut events = self.events.iter();
        events.any(|event| event.attr.sample_type.has(SampleType::CALLCHAIN))
    }

    /// What could not be used when it was opened.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Where the records are, in bytes of the file.
    pub fn data(&self) -> Range<u64> {
        let data = self.header.data;
        let end = if data.size == 0 {
            self.file_len
        } else {
            data.end().min(self.file_len)
        };
        data.offset.min(end)..end
    }

    /// The event that a record belongs to: by its id, or the only one, or (for records without
    /// id) the first.
    #[inline]
    pub fn event_of(&self, raw: RawRecord<'_>) -> Option<usize> {
        let first = self.events.first()?;
        if self.events.len() == 1 {
            return Some(0);
        }
        match first.layout.event_id(raw) {
            // Synthesized records carry id 0.
            None | Some(0) => Some(0),
            Some(id) => self.event_by_id.get(&id).copied(),
        }
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

    /// A feature section that is text, such as OSRELEASE; `None` if absent or damaged.
    pub fn feature_text(&self, id: FeatureId) -> Option<String> {
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
            Ok(None) => (Vec::new(), None),
            Ok(Some(section)) => {
                let (entries, error) = BuildIdEntry::parse_all(&section, self.endian);
                let bad = error.and_then(|error: WireError| warning(error.to_string()));
                (entries, bad)
            }
            Err(_) => (
                Vec::new(),
                warning("it lies outside of the file".to_owned()),
            ),
        }
    }

    fn read_section(&self, section: Section) -> Result<Vec<u8>, Error> {
        // Checked first: a damaged size must not become an allocation.
        if section.end() > self.file_len {
            return Err(self.io_error(io::Error::from(io::ErrorKind::UnexpectedEof)));
        }
        let len = usize::try_from(section.size)
            .map_err(|_| self.io_error(io::Error::from(io::ErrorKind::OutOfMemory)))?;
        let mut bytes = vec![0; len];
        self.file
            .read_exact_at(&mut bytes, section.offset)
            .map_err(|source| self.io_error(source))?;
        Ok(bytes)
    }

    fn io_error(&self, source: io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            source,
        }
    }
}

#[cfg(test)]
mod tests;
