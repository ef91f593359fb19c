//! Opening: magic, header, events, feature table; unpacking what is compressed.

use super::attrs::Described;
use super::bytes::Bytes;
use super::decompress::{DEFAULT_LIMIT, How, decompress};
use super::records::{Step, tracing_data, walk_part};
use super::source::{self, Source};
use super::stream::{Part, Stream};
use super::{Form, PIPE_HEADER_LEN, Reader};
use crate::{Error, Feature, FeatureId, FileHeader, Section, Warning};
use rprof_abi::{Cursor, Endian, WireError, event_type};
use rprof_untrusted::{Allowed, Budget, Limits};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

impl Reader {
    /// Opens a recording and reads everything but its records: a file, a directory, or `-` for
    /// standard input. A stream is read to its end, and what is compressed is decompressed: both into
    /// memory if they are small, else into a temporary file without a name (`$TMPDIR`).
    ///
    /// # Errors
    /// [`Error`]: no such file, no recording, a form that is not read, a damaged header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_allowing(path, Allowed::default())
    }

    /// The same within the limits that the user sets.
    ///
    /// # Errors
    /// As [`Self::open`]; more came through a pipe than may be spooled.
    pub fn open_allowing(path: &Path, allowed: Allowed) -> Result<Self, Error> {
        let source = source::open(path, allowed.spool)?;
        Self::open_source(path, source, allowed)
    }

    /// Opens a recording that is in memory: a whole file, or what came through a pipe. `path` is
    /// what messages call it; nothing is read there.
    ///
    /// # Errors
    /// [`Error`]: no recording, a form that is not read, a damaged header.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self, Error> {
        let source = Source::single(Bytes::Memory(bytes));
        Self::open_source(path, source, Allowed::default())
    }

    /// Opens a recording that is in a file which is open already; `path` is what messages call it.
    ///
    /// # Errors
    /// As [`Self::from_bytes`]; the file cannot be looked at.
    pub fn from_file(path: &Path, file: File) -> Result<Self, Error> {
        Self::from_file_allowing(path, file, Allowed::default())
    }

    /// The same within the limits that the user sets.
    ///
    /// # Errors
    /// As [`Self::from_file`].
    pub fn from_file_allowing(path: &Path, file: File, allowed: Allowed) -> Result<Self, Error> {
        let meta = file.metadata().map_err(Error::io(path))?;
        let len = meta.len();
        let source = Source::single(Bytes::File { file, len });
        Self::open_source(path, source, allowed)
    }

    pub(super) fn open_source(
        path: &Path,
        source: Source,
        allowed: Allowed,
    ) -> Result<Self, Error> {
        let head_len = FileHeader::LEN.min(source.main.len());
        let head = source.main.read(0, head_len).map_err(Error::io(path))?;
        let endian = check_magic(&head, path)?;
        let size = Cursor::new(head.get(8..).unwrap_or_default(), endian).u64("header size");
        let form = match size {
            Ok(PIPE_HEADER_LEN) => Form::Pipe,
            _ if source.is_directory => Form::Directory,
            _ => Form::File,
        };
        let budget = Budget::new(Limits::for_recording(source.stored(), allowed));
        let mut reader = Self::new(path, Arc::clone(&source.main), (endian, form), budget);
        if form == Form::Pipe {
            reader.open_pipe()?;
        } else {
            reader.open_file(&head, source)?;
        }
        if reader.events.is_empty() {
            let what = "no events: the recorder ended before it wrote any";
            return Err(reader.bad_header(head_len, what.to_owned()));
        }
        Ok(reader)
    }

    fn open_file(&mut self, head: &[u8], source: Source) -> Result<(), Error> {
        let header = FileHeader::parse(head, self.endian).map_err(|error| {
            let len = head.len() as u64;
            match error {
                WireError::Short { .. } => self.bad_header(
                    len,
                    format!(
                        "the file ends there, and the header has {} bytes",
                        FileHeader::LEN
                    ),
                ),
                error => self.bad_header(0, error.to_string()),
            }
        })?;
        let events = self.read_attrs(&header)?;
        self.read_feature_table(&header);
        let mut is_compressed = header.feature_ids().any(|id| id == FeatureId::COMPRESSED);
        let mut parts = vec![self.data_part(&header, source.is_directory)];
        if let Some(part) = parts.first() {
            self.find_tracing_data(part, &events)?;
        }
        self.take_events(events, &[]);
        for (name, bytes) in source.others {
            let start = parts.last().map_or(0, |part: &Part| part.range.end);
            parts.push(Part {
                range: start..start + bytes.len(),
                bytes,
                at: 0,
                name: Some(name),
                has_payloads: true,
                origins: Vec::new(),
                is_cut: false,
            });
        }
        self.stream = Stream { parts };
        // The feature bit says it, also before the recording was ended. A tool that copies records may
        // have lost it, and a full disk may have no room for it.
        is_compressed |= header.is_unfinished() && self.announces_compression()?;
        if is_compressed {
            self.decompress()?;
        }
        self.header = Some(header);
        Ok(())
    }

    /// simpleperf has the formats of tracepoints in a record, not in a section.
    fn find_tracing_data(&mut self, part: &Part, events: &[Described]) -> Result<(), Error> {
        let has = |id| self.features.iter().any(|&(other, _)| other == id);
        let is_tracepoint = |one: &Described| one.event.attr.kind == event_type::TRACEPOINT;
        if has(FeatureId::TRACING_DATA)
            || !has(FeatureId::SIMPLEPERF_META_INFO)
            || !events.iter().any(is_tracepoint)
        {
            return Ok(());
        }
        let mut found = None;
        let endian = self.endian;
        let walked = walk_part(part, endian, part.range.clone(), |offset, raw| {
            let at = part.at + (offset - part.range.start);
            found = tracing_data(at, raw, endian);
            match found {
                Some(_) => Step::Stop,
                None => Step::On,
            }
        });
        walked.map_err(Error::io(&self.path))?;
        let section = found.map(|section| (FeatureId::TRACING_DATA, section));
        self.features.extend(section);
        Ok(())
    }

    fn announces_compression(&self) -> Result<bool, Error> {
        let mut is_compressed = false;
        for part in &self.stream.parts {
            is_compressed |= self.read_announced(part)?.is_compressed;
        }
        Ok(is_compressed)
    }

    /// Where the records of a file-mode recording are.
    fn data_part(&self, header: &FileHeader, in_directory: bool) -> Part {
        let (data, len) = (header.data, self.main.len());
        let end = if header.is_unfinished() {
            len
        } else {
            data.end().min(len)
        };
        let start = data.offset.min(end);
        Part {
            range: start..end,
            bytes: Arc::clone(&self.main),
            at: start,
            name: in_directory.then(|| "data".to_owned()),
            has_payloads: true,
            origins: Vec::new(),
            is_cut: data.size != 0 && data.end() > len,
        }
    }

    fn open_pipe(&mut self) -> Result<(), Error> {
        let part = self.piped_part();
        let announced = self.read_announced(&part)?;
        self.features = announced.features;
        self.piped_build_ids = announced.build_ids;
        if announced.n_bad > 0 {
            let records = announced.n_bad;
            self.warnings.push(Warning::Undecodable { records });
        }
        self.take_events(announced.events, &announced.names);
        self.stream = Stream { parts: vec![part] };
        if announced.is_compressed {
            self.decompress()?;
        }
        Ok(())
    }

    /// Puts decompressed parts in place of the compressed ones.
    fn decompress(&mut self) -> Result<(), Error> {
        let limit = self.unpacked_limit();
        let mut parts: Vec<Part> = Vec::new();
        for part in &self.stream.parts {
            let base = parts.last().map_or(0, |part| part.range.end);
            let location = |offset| self.stream.location(offset);
            let how = How {
                endian: self.endian,
                base,
                limit,
                budget: &self.budget,
            };
            let decompressed = decompress(part, how, location).map_err(Error::io(&self.path))?;
            self.warnings.extend(decompressed.warnings);
            parts.push(decompressed.part);
        }
        self.stream = Stream { parts };
        self.is_compressed = true;
        Ok(())
    }

    /// What one compressed record may decompress to: a ring full, says the recorder; a few bytes of a
    /// damaged file must not fill the disk.
    fn unpacked_limit(&self) -> usize {
        let section = self.feature(FeatureId::COMPRESSED).ok().flatten();
        let feature =
            section.map(|bytes| Feature::parse(FeatureId::COMPRESSED, &bytes, self.endian));
        match feature {
            Some(Ok(Feature::Compressed(how))) => {
                let len = usize::try_from(how.mmap_len).unwrap_or(DEFAULT_LIMIT);
                len.clamp(1 << 16, DEFAULT_LIMIT)
            }
            _ => DEFAULT_LIMIT,
        }
    }

    /// The table right after the data: one section for each feature bit.
    fn read_feature_table(&mut self, header: &FileHeader) {
        let data = header.data;
        if header.is_unfinished() {
            self.warnings.push(Warning::Unfinished);
            return;
        }
        let file_len = self.main.len();
        if data.end() > file_len {
            // Cut before its table: walking the records says so.
            return;
        }
        let ids: Vec<FeatureId> = header.feature_ids().collect();
        let table = Section {
            offset: data.end(),
            size: Section::LEN * ids.len() as u64,
        };
        let bytes = self.read_section(table).unwrap_or_default();
        let mut cursor = Cursor::new(&bytes, self.endian);
        let mut missing = Vec::new();
        for id in ids {
            match Section::parse(&mut cursor) {
                Ok(section) if section.end() <= file_len => match self.refused(section) {
                    Some(what) => self.warnings.push(Warning::BadFeature {
                        feature: id.name(),
                        what,
                    }),
                    None => self.features.push((id, section)),
                },
                _ => missing.push(id),
            }
        }
        if !missing.is_empty() {
            self.warnings.push(Warning::CutFeatures { missing });
        }
    }

    /// Why there is no room for a section, if there is none.
    fn refused(&self, section: Section) -> Option<String> {
        let Section { offset, size } = section;
        if self.main.is_mostly_hole(offset, size) {
            return Some(format!("{size} bytes, mostly a hole (sparse file)"));
        }
        let most = self.budget.limits().memory;
        let what = || format!("{size} bytes: more than fit into --mem {most}");
        self.budget.hold(size).is_err().then(what)
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
            advice: "record it again with a newer perf",
        });
    }
    let Some(endian) = FileHeader::endian_of(*magic) else {
        return Err(not(match magic {
            [0x7f, b'E', b'L', b'F', ..] => "it is an ELF file",
            [0x1f, 0x8b, ..] => "it is a gzip file; decompress it first",
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "it is a zstd file; decompress it first",
            [0xfd, b'7', b'z', b'X', b'Z', ..] => "it is an xz file; decompress it first",
            b"SIMPLEPE" => "it is a simpleperf report; give the perf.data it was made from",
            [b'J', b'i', b'T', b'D', ..] | [b'D', b'T', b'i', b'J', ..] => {
                "it is a jitdump, not the recording"
            }
            _ => "it does not start with PERFILE2",
        }));
    };
    Ok(endian)
}
