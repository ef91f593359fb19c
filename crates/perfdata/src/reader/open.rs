//! Opening: magic, header, attrs, ids, feature table.

use super::{Reader, RecordedEvent};
use crate::feature::EventDesc;
use crate::{Error, FeatureId, FileHeader, Section, Warning};
use rprof_abi::{Cursor, Endian, PerfEventAttr, SampleLayout, event_type, hw, sw};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// `O_NONBLOCK` (asm-generic): opening a FIFO must not wait for its writer.
const O_NONBLOCK: i32 = 0o4000;

/// More than any recording has, less than what a damaged header may claim.
const MAX_ATTR_SECTION: u64 = 64 << 20;

impl Reader {
    /// Opens a recording and reads everything but its records.
    ///
    /// # Errors
    /// [`Error`]: no such file, no recording, a form that is not read, a damaged header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let io_error = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let file = File::options()
            .read(true)
            .custom_flags(O_NONBLOCK)
            .open(path)
            .map_err(io_error)?;
        let meta = file.metadata().map_err(io_error)?;
        if meta.is_dir() {
            return Err(Error::Unsupported {
                path: path.to_owned(),
                form: "a recording in a directory (perf record --threads)",
                advice: "record without --threads",
            });
        }
        if !meta.is_file() {
            return Err(Error::Unsupported {
                path: path.to_owned(),
                form: "a recording from a pipe",
                advice: "write it to a file first",
            });
        }
        let mut head = vec![0; usize::try_from(meta.len().min(FileHeader::LEN)).unwrap_or(0)];
        file.read_exact_at(&mut head, 0).map_err(io_error)?;
        let endian = check_magic(&head, path)?;
        let header = FileHeader::parse(&head, endian).map_err(|error| Error::BadHeader {
            path: path.to_owned(),
            offset: 0,
            what: error.to_string(),
        })?;
        let mut reader = Self {
            file,
            path: path.to_owned(),
            file_len: meta.len(),
            endian,
            header,
            events: Vec::new(),
            event_by_id: HashMap::new(),
            features: Vec::new(),
            warnings: Vec::new(),
        };
        if reader
            .header
            .feature_ids()
            .any(|id| id == FeatureId::COMPRESSED)
        {
            return Err(Error::Unsupported {
                path: path.to_owned(),
                form: "a compressed recording (perf record -z)",
                advice: "record without -z",
            });
        }
        let ids = reader.read_attrs()?;
        reader.read_feature_table();
        reader.name_events(&ids);
        Ok(reader)
    }

    /// Reads the events; returns their ids.
    fn read_attrs(&mut self) -> Result<Vec<Vec<u64>>, Error> {
        let attrs = self.header.attrs;
        let entry = self.header.attr_entry_size;
        let bad = |what: String| Error::BadHeader {
            path: self.path.clone(),
            offset: attrs.offset,
            what,
        };
        if entry < u64::from(rprof_abi::AttrSize::VER0.0) + Section::LEN {
            return Err(bad(format!("attrs of {entry} bytes")));
        }
        if attrs.size > MAX_ATTR_SECTION || attrs.end() > self.file_len {
            return Err(bad(format!(
                "{} bytes of attrs in a file of {}",
                attrs.size, self.file_len
            )));
        }
        let bytes = self.read_section(attrs)?;
        let mut all_ids = Vec::new();
        let mut events = Vec::new();
        // All ids together are less than the file, whatever a damaged header says.
        let mut ids_left = self.file_len;
        let entry_len = usize::try_from(entry).map_err(|error| bad(error.to_string()))?;
        for chunk in bytes.chunks_exact(entry_len) {
            let (attr_bytes, ids) = chunk
                .split_last_chunk::<16>()
                .ok_or_else(|| bad("an attr without ids".to_owned()))
                .map(|(attr, ids)| (attr, ids.as_slice()))?;
            let (attr, _) = PerfEventAttr::parse(attr_bytes, self.endian)
                .map_err(|error| bad(error.to_string()))?;
            let section = Section::parse(&mut Cursor::new(ids, self.endian))
                .map_err(|error| bad(error.to_string()))?;
            ids_left = ids_left
                .checked_sub(section.size)
                .ok_or_else(|| bad("more ids than the file can hold".to_owned()))?;
            let id_bytes = if section.size == 0 {
                Vec::new()
            } else {
                self.read_section(section)?
            };
            let mut cursor = Cursor::new(&id_bytes, self.endian);
            let ids: Vec<u64> = std::iter::from_fn(|| cursor.u64("id").ok()).collect();
            events.push(RecordedEvent {
                name: name_of_attr(&attr),
                layout: SampleLayout::new(&attr, self.endian),
                attr,
            });
            all_ids.push(ids);
        }
        if events.is_empty() {
            return Err(bad("no events".to_owned()));
        }
        for (idx, ids) in all_ids.iter().enumerate() {
            self.event_by_id.extend(ids.iter().map(|&id| (id, idx)));
        }
        self.events = events;
        Ok(all_ids)
    }

    /// The table right behind the data: one section for each feature bit.
    fn read_feature_table(&mut self) {
        let data = self.header.data;
        if data.size == 0 {
            self.warnings.push(Warning::Unfinished);
            return;
        }
        let ids: Vec<FeatureId> = self.header.feature_ids().collect();
        let table = Section {
            offset: data.end(),
            size: Section::LEN * ids.len() as u64,
        };
        // A file that is cut before its table: walking the records says so.
        let Ok(bytes) = self.read_section(table) else {
            return;
        };
        let mut cursor = Cursor::new(&bytes, self.endian);
        for id in ids {
            if let Ok(section) = Section::parse(&mut cursor) {
                self.features.push((id, section));
            }
        }
    }

    /// Takes names from EVENT_DESC, matched by id where there are ids, else by place.
    fn name_events(&mut self, ids: &[Vec<u64>]) {
        let section = match self.feature(FeatureId::EVENT_DESC) {
            Ok(Some(section)) => section,
            Ok(None) => return,
            Err(_) => return self.bad_event_desc("it lies outside of the file"),
        };
        let described = match EventDesc::parse_all(&section, self.endian) {
            Ok(described) => described,
            Err(error) => return self.bad_event_desc(&error.to_string()),
        };
        for (place, (event, ids)) in self.events.iter_mut().zip(ids).enumerate() {
            let same_id = |desc: &&EventDesc| ids.first().is_some_and(|id| desc.ids.contains(id));
            let by_place = || described.get(place);
            if let Some(desc) = described.iter().find(same_id).or_else(by_place) {
                event.name = String::from_utf8_lossy(&desc.name).into_owned();
            }
        }
    }

    fn bad_event_desc(&mut self, what: &str) {
        self.warnings.push(Warning::BadFeature {
            feature: FeatureId::EVENT_DESC.name(),
            what: what.to_owned(),
        });
    }
}

fn check_magic(head: &[u8], path: &Path) -> Result<Endian, Error> {
    let not = |found: &str| Error::NotPerfData {
        path: path.to_owned(),
        found: found.to_owned(),
    };
    let Some(magic) = head.first_chunk::<8>() else {
        return Err(not(if head.is_empty() {
            "it is empty"
        } else {
            "it is shorter than a header"
        }));
    };
    if magic == b"PERFFILE" || magic == b"ELIFFREP" {
        return Err(Error::Unsupported {
            path: path.to_owned(),
            form: "the format of perf before 2.6.33 (PERFFILE)",
            advice: "record it again with any perf since",
        });
    }
    let Some(endian) = FileHeader::endian_of(*magic) else {
        return Err(not(match magic {
            [0x7f, b'E', b'L', b'F', ..] => "it is an ELF file",
            [0x1f, 0x8b, ..] => "it is a gzip file; unpack it first",
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is a zstd file; unpack it first",
            _ => "it does not start with PERFILE2",
        }));
    };
    let size = head.get(8..16).and_then(|bytes| bytes.first_chunk());
    if size.map(|bytes| endian.u64(*bytes)) == Some(16) {
        return Err(Error::Unsupported {
            path: path.to_owned(),
            form: "a recording in pipe mode (perf record -o -)",
            advice: "record to a file",
        });
    }
    if (head.len() as u64) < FileHeader::LEN {
        let source = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(Error::Io {
            path: path.to_owned(),
            source,
        });
    }
    Ok(endian)
}

/// A name for an event that the file does not name.
fn name_of_attr(attr: &PerfEventAttr) -> String {
    let known = |names: &[(&str, Option<&str>)]| {
        let place = usize::try_from(attr.config & 0xffff_ffff).ok()?;
        names.get(place).map(|(name, _)| (*name).to_owned())
    };
    match attr.kind {
        event_type::HARDWARE => known(hw::NAMES),
        event_type::SOFTWARE => known(sw::NAMES),
        _ => None,
    }
    .unwrap_or_else(|| format!("type {} config {:#x}", attr.kind, attr.config))
}
