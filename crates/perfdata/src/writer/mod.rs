//! [`Writer`]: a seekable recording, as perf 6.1 writes it.

use crate::feature::{EventDesc, FeatureId};
use crate::{Error, FileHeader, Section};
use rprof_abi::{AttrSize, Encoder, Endian, PerfEventAttr};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// One event as it goes into the file: need not be the attr that was opened.
#[derive(Clone, Debug)]
pub struct WrittenEvent {
    /// Its name, as on the command line.
    pub name: String,
    /// What its records hold.
    pub attr: PerfEventAttr,
    /// The ids in its records.
    pub ids: Vec<u64>,
}

/// What a finished file is.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// Bytes of the whole file.
    pub size_bytes: u64,
}

/// Writes header and attrs at once, then records as they come, then features.
///
/// A file that is not finished (killed, disk full) has a data size of 0: readers then read
/// records up to the end of the file.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    header: FileHeader,
    attr_size: AttrSize,
    events: Vec<EventDesc>,
    data_len: u64,
}

impl Writer {
    /// Starts a recording in an empty file; `path` is for messages.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn start(file: File, path: &Path, events: &[WrittenEvent]) -> Result<Self, Error> {
        // One size for all, the smallest that loses nothing: old perfs refuse longer attrs.
        let attr_size = events
            .iter()
            .map(|event| event.attr.smallest_size())
            .max()
            .unwrap_or(AttrSize::VER0);
        let attr_entry_size = u64::from(attr_size.0) + Section::LEN;
        let ids_len: u64 = events.iter().map(|event| event.ids.len() as u64 * 8).sum();
        let attrs = Section {
            offset: FileHeader::LEN + ids_len,
            size: attr_entry_size * events.len() as u64,
        };
        let header = FileHeader {
            attr_entry_size,
            attrs,
            data: Section {
                offset: attrs.end(),
                size: 0,
            },
            features: [0; 4],
        };

        let mut bytes = Vec::new();
        header.encode(&mut bytes, Endian::NATIVE);
        let mut id_sections = Vec::new();
        for event in events {
            id_sections.push(Section {
                offset: bytes.len() as u64,
                size: event.ids.len() as u64 * 8,
            });
            let mut encoder = Encoder::new(&mut bytes, Endian::NATIVE);
            event.ids.iter().for_each(|&id| encoder.u64(id));
        }
        for (event, ids) in events.iter().zip(id_sections) {
            event.attr.encode(&mut bytes, Endian::NATIVE, attr_size);
            ids.encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
        }
        let events = events
            .iter()
            .map(|event| EventDesc {
                attr: event.attr.clone(),
                name: event.name.clone().into_bytes(),
                ids: event.ids.clone(),
            })
            .collect();
        let mut writer = Self {
            file,
            path: path.to_owned(),
            header,
            attr_size,
            events,
            data_len: 0,
        };
        let written = writer.file.write_all(&bytes);
        written.map_err(|source| writer.io_error(source))?;
        Ok(writer)
    }

    fn io_error(&self, source: io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            source,
        }
    }

    /// Appends whole records.
    ///
    /// # Errors
    /// [`Error::Io`]; the records before it stay readable.
    pub fn write(&mut self, records: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(records);
        written.map_err(|source| self.io_error(source))?;
        self.data_len += records.len() as u64;
        Ok(())
    }

    /// Bytes of the file so far: where the next record will begin.
    pub fn end(&self) -> u64 {
        self.header.data.offset + self.data_len
    }

    /// Bytes of records so far.
    pub fn data_len(&self) -> u64 {
        self.data_len
    }

    /// Closes the data section and appends feature sections; EVENT_DESC comes by itself.
    ///
    /// # Errors
    /// [`Error::Io`]; the data stays readable.
    pub fn finish(mut self, mut features: Vec<(FeatureId, Vec<u8>)>) -> Result<Finished, Error> {
        let mut desc = Vec::new();
        EventDesc::encode_all(&self.events, self.attr_size, &mut desc, Endian::NATIVE);
        features.push((FeatureId::EVENT_DESC, desc));
        features.sort_by_key(|&(id, _)| id);

        self.header.data.size = self.data_len;
        // First a file without features, so that the data is whole whatever happens next.
        let written = self.write_header();
        written.map_err(|source| self.io_error(source))?;
        let mut at = self.header.data.end() + Section::LEN * features.len() as u64;
        let mut table = Vec::new();
        for (id, bytes) in &features {
            if let Some(word) = self.header.features.get_mut((id.0 / 64) as usize) {
                *word |= 1 << (id.0 % 64);
            }
            let section = Section {
                offset: at,
                size: bytes.len() as u64,
            };
            section.encode(&mut Encoder::new(&mut table, Endian::NATIVE));
            at = section.end();
        }
        for (_, bytes) in &features {
            table.extend_from_slice(bytes);
        }
        // The header goes last: it must not announce features that are not there.
        let written = self
            .file
            .write_all_at(&table, self.header.data.end())
            .and_then(|()| self.write_header());
        if let Err(source) = written {
            // Half a table is worse than none; if that fails too, the first error says why.
            let _ = self.file.set_len(self.header.data.end());
            return Err(self.io_error(source));
        }
        Ok(Finished { size_bytes: at })
    }

    /// Closes the data section without features, when the disk is full or writing failed:
    /// overwrites the header in place and cuts off half a record.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn abandon(mut self) -> Result<Finished, Error> {
        self.header.data.size = self.data_len;
        let end = self.header.data.end();
        let written = self.file.set_len(end).and_then(|()| self.write_header());
        written.map_err(|source| self.io_error(source))?;
        Ok(Finished { size_bytes: end })
    }

    fn write_header(&self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.header.encode(&mut bytes, Endian::NATIVE);
        self.file.write_all_at(&bytes, 0)
    }
}
