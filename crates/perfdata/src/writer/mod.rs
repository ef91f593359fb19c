//! [`Writer`]: a recording as perf 6.1 writes it, into a file or into a pipe.

mod compressor;
mod pipe;

use crate::feature::{EventDesc, FeatureId};
use crate::{Error, FileHeader, Section};
use compressor::Compressor;
use rprof_abi::{AttrSize, Encoder, Endian, PerfEventAttr};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Feature sections, encoded.
type Features = Vec<(FeatureId, Vec<u8>)>;

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
/// A file that is not finished (killed, disk full) has no features: our reader takes records up to its
/// end, perf as far as its header says, which is told after each write. A pipe gets what is known of features before the records,
/// and the rest after them, as records, too.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    form: Form,
    /// Bytes of records in the file.
    data_len: u64,
    compressor: Option<Compressor>,
    /// Records, compressed.
    compressed: Vec<u8>,
    written: Arc<AtomicU64>,
}

/// Bytes written to a pipe in one call: small enough that progress is visible through a slow pipe.
const PIPE_CHUNK: usize = 16 << 10;

/// The header of a file, and the byte order of all of it.
#[derive(Clone, Debug)]
struct FileHead {
    header: FileHeader,
    endian: Endian,
}

/// Where it goes.
#[derive(Debug)]
enum Form {
    /// A file, whose header is written again at the end.
    Seekable {
        head: FileHead,
        /// Those known at the start.
        features: Features,
    },
    /// A pipe, and the number of bytes in it before the records.
    Pipe { preamble_len: u64 },
}

impl Writer {
    /// Starts a recording in an empty file, with the features that are known already; `path` is for
    /// messages.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn start(
        file: File,
        path: &Path,
        events: &[WrittenEvent],
        features: Vec<(FeatureId, Vec<u8>)>,
    ) -> Result<Self, Error> {
        Self::start_in_order(Endian::NATIVE, (file, path), events, features)
    }

    /// The same in a byte order, which records and features have already.
    pub(crate) fn start_in_order(
        endian: Endian,
        (file, path): (File, &Path),
        events: &[WrittenEvent],
        mut features: Features,
    ) -> Result<Self, Error> {
        features.push(event_desc(events, endian));
        let attr_size = attr_size(events);
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
        header.encode(&mut bytes, endian);
        let mut id_sections = Vec::new();
        for event in events {
            id_sections.push(Section {
                offset: bytes.len() as u64,
                size: event.ids.len() as u64 * 8,
            });
            let mut encoder = Encoder::new(&mut bytes, endian);
            event.ids.iter().for_each(|&id| encoder.u64(id));
        }
        for (event, ids) in events.iter().zip(id_sections) {
            event.attr.encode(&mut bytes, endian, attr_size);
            ids.encode(&mut Encoder::new(&mut bytes, endian));
        }
        let head = FileHead { header, endian };
        let form = Form::Seekable { head, features };
        Self::start_with(file, path, form, &bytes, Arc::default())
    }

    /// Starts a recording in a pipe; `path` is for messages. `written` grows with what the pipe takes,
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Io`]; also if an event has more ids than a record of a pipe holds.
    pub fn start_pipe(
        file: File,
        path: &Path,
        events: &[WrittenEvent],
        features: Vec<(FeatureId, Vec<u8>)>,
        written: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let preamble = pipe::preamble(events, features).map_err(|source| Error::Io {
            path: path.to_owned(),
            source: io::Error::new(io::ErrorKind::InvalidInput, source),
        })?;
        let preamble_len = preamble.len() as u64;
        let form = Form::Pipe { preamble_len };
        Self::start_with(file, path, form, &preamble, written)
    }

    fn start_with(
        file: File,
        path: &Path,
        form: Form,
        bytes: &[u8],
        written: Arc<AtomicU64>,
    ) -> Result<Self, Error> {
        let mut writer = Self {
            file,
            path: path.to_owned(),
            form,
            data_len: 0,
            compressor: None,
            compressed: Vec::new(),
            written,
        };
        writer.append(bytes)?;
        Ok(writer)
    }

    /// Compresses the records that follow; `level` is zstd's, from 1 to 22.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn compress(&mut self, level: i32) -> Result<(), Error> {
        let compressor = Compressor::new(level).map_err(Error::io(&self.path))?;
        let announced = pipe::records_of(vec![compressor.feature()]);
        let is_pipe = matches!(self.form, Form::Pipe { .. });
        if is_pipe {
            self.append(&announced)?;
        }
        if let Form::Pipe { preamble_len } = &mut self.form {
            *preamble_len += announced.len() as u64;
        }
        self.compressor = Some(compressor);
        Ok(())
    }

    /// What is written counts there, too, from now on.
    pub fn count_in(&mut self, written: Arc<AtomicU64>) {
        written.fetch_add(self.len(), Ordering::Relaxed);
        self.written = written;
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let at_once = match self.form {
            Form::Seekable { .. } => bytes.len().max(1),
            Form::Pipe { .. } => PIPE_CHUNK,
        };
        for piece in bytes.chunks(at_once) {
            let written = self.file.write_all(piece);
            written.map_err(Error::io(&self.path))?;
            self.written
                .fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Appends whole records. What is compressed is flushed: nothing stays behind.
    ///
    /// # Errors
    /// [`Error::Io`]; the records before it stay readable.
    pub fn write(&mut self, records: &[u8]) -> Result<(), Error> {
        let Some(compressor) = &mut self.compressor else {
            self.append(records)?;
            return self.extend_data(records.len());
        };
        let mut compressed = std::mem::take(&mut self.compressed);
        compressed.clear();
        let done = compressor.compress(records, &mut compressed);
        done.map_err(Error::io(&self.path))?;
        self.append(&compressed)?;
        let n_bytes = compressed.len();
        self.compressed = compressed;
        self.extend_data(n_bytes)
    }

    /// The file has more data, and says so from now on.
    fn extend_data(&mut self, n_bytes: usize) -> Result<(), Error> {
        self.data_len += n_bytes as u64;
        let Form::Seekable { head, .. } = &self.form else {
            return Ok(());
        };
        let mut size = Vec::new();
        Encoder::new(&mut size, head.endian).u64(self.data_len);
        let told = self.file.write_all_at(&size, FileHeader::DATA_SIZE_OFFSET);
        told.map_err(Error::io(&self.path))
    }

    /// Where the next record will begin, for a [`Reader`](crate::Reader): bytes of the file so far, or of
    /// records before they were compressed.
    pub fn end(&self) -> u64 {
        if let Some(compressor) = &self.compressor {
            return compressor.plain_len;
        }
        self.len()
    }

    /// Bytes of the file so far.
    fn len(&self) -> u64 {
        let before = match &self.form {
            Form::Seekable { head, .. } => head.header.data.offset,
            Form::Pipe { preamble_len } => *preamble_len,
        };
        before + self.data_len
    }

    /// Bytes of records so far.
    pub fn data_len(&self) -> u64 {
        self.data_len
    }

    /// Closes the data section and appends feature sections; EVENT_DESC comes by itself.
    ///
    /// # Errors
    /// [`Error::Io`]; the data stays readable.
    pub fn finish(mut self, mut features: Features) -> Result<Finished, Error> {
        let form = std::mem::replace(&mut self.form, Form::Pipe { preamble_len: 0 });
        let finished = match form {
            Form::Seekable {
                head,
                features: mut all,
            } => {
                features.extend(self.compressor.as_ref().map(Compressor::feature));
                all.extend(features);
                all.sort_by_key(|&(id, _)| id);
                let finished = finish_file(&self.file, head.clone(), self.data_len, &all);
                if finished.is_err() {
                    // The first error says why.
                    let _ = self.close(head);
                }
                finished
            }
            Form::Pipe { preamble_len } => {
                let rest = pipe::records_of(features);
                let size_bytes = preamble_len + self.data_len + rest.len() as u64;
                self.form = Form::Pipe { preamble_len };
                self.append(&rest)?;
                Ok(size_bytes)
            }
        };
        let size_bytes = finished.map_err(Error::io(&self.path))?;
        Ok(Finished { size_bytes })
    }

    /// Closes the data section without features, when the disk is full or writing failed:
    /// overwrites the header in place and cuts off half a record. A pipe is left as it is.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn abandon(self) -> Result<(), Error> {
        let Form::Seekable { head, .. } = &self.form else {
            return Ok(());
        };
        let cut = self.file.set_len(self.len());
        let closed = cut.and_then(|()| self.close(head.clone()));
        closed.map_err(Error::io(&self.path))
    }

    /// Ends a file with no feature but the one that is needed to read it.
    fn close(&self, head: FileHead) -> io::Result<()> {
        let needed = self.compressor.as_ref().map(Compressor::feature);
        let needed: Features = needed.into_iter().collect();
        finish_file(&self.file, head, self.data_len, &needed).map(|_| ())
    }

    /// Bytes of records before they were compressed, if they are.
    pub fn uncompressed_len(&self) -> Option<u64> {
        Some(self.compressor.as_ref()?.plain_len)
    }
}

/// Returns the size of the file.
fn finish_file(
    file: &File,
    mut head: FileHead,
    data_len: u64,
    features: &[(FeatureId, Vec<u8>)],
) -> io::Result<u64> {
    head.header.data.size = data_len;
    // First a file without features, so that the data is whole whatever happens next.
    write_header(file, &head)?;
    let data_end = head.header.data.end();
    let mut at = data_end + Section::LEN * features.len() as u64;
    let mut table = Vec::new();
    for (id, bytes) in features {
        if let Some(word) = head.header.features.get_mut((id.0 / 64) as usize) {
            *word |= 1 << (id.0 % 64);
        }
        let section = Section {
            offset: at,
            size: bytes.len() as u64,
        };
        section.encode(&mut Encoder::new(&mut table, head.endian));
        at = section.end();
    }
    for (_, bytes) in features {
        table.extend_from_slice(bytes);
    }
    // The header goes last: it must not announce features that are not there.
    let written = file.write_all_at(&table, data_end);
    if let Err(error) = written.and_then(|()| write_header(file, &head)) {
        // Half a table is worse than none; if that fails too, the first error says why.
        let _ = file.set_len(data_end);
        return Err(error);
    }
    Ok(at)
}

fn write_header(file: &File, head: &FileHead) -> io::Result<()> {
    let mut bytes = Vec::new();
    head.header.encode(&mut bytes, head.endian);
    file.write_all_at(&bytes, 0)
}

/// One size for all, the smallest that loses nothing: old perfs refuse longer attrs.
fn attr_size(events: &[WrittenEvent]) -> AttrSize {
    let sizes = events.iter().map(|event| event.attr.smallest_size());
    sizes.max().unwrap_or(AttrSize::VER0)
}

/// The section that names the events.
fn event_desc(events: &[WrittenEvent], endian: Endian) -> (FeatureId, Vec<u8>) {
    let attr_size = attr_size(events);
    let desc = |event: &WrittenEvent| EventDesc {
        attr: event.attr.clone(),
        attr_size,
        name: event.name.clone().into_bytes(),
        ids: event.ids.clone(),
    };
    let descs: Vec<EventDesc> = events.iter().map(desc).collect();
    let mut section = Vec::new();
    EventDesc::encode_all(&descs, attr_size, &mut section, endian);
    (FeatureId::EVENT_DESC, section)
}
