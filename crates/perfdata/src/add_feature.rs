//! Adds a feature section to a recording that is finished.
//!
//! The table of sections lies between records and sections, without room for one more. What is in
//! the way is copied to the end of the file first, then the new section; then the table is changed,
//! and last the header, which says how much of the table counts. A crash between any two of these
//! leaves a file with all that it had before; but for sections with higher numbers than the new one,
//! which do not count while they move in the table ([`FeatureId::SYMBOLS`] has the highest).

use crate::{Error, FeatureId, FileHeader, Finished, Form, Reader, Section};
use rprof_abi::{Cursor, Encoder, Endian};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Adds a section, or puts it in the place of the one that is there. The old one's bytes stay in
/// the file, where nothing points to them. Of a recording in a directory, `path` is that
/// of its file `data`. A link that others may have made is not followed (`rprof_untrusted::Goal`).
///
/// # Errors
/// [`Error`]: the file cannot be written, has no place for sections (what went through a pipe), was
/// never finished, or is damaged. It is as it was then.
pub fn add_feature(path: &Path, id: FeatureId, section: &[u8]) -> Result<Finished, Error> {
    let file = open(path)?;
    add(&file, path, id, section)
}

/// The same, to the file that was read. If its name is another file's by now, that is an error: what
/// was read is nobody else's business.
///
/// # Errors
/// As [`add_feature`].
pub fn add_feature_to(reader: &Reader, id: FeatureId, section: &[u8]) -> Result<Finished, Error> {
    let path = match reader.form() {
        Form::Directory => reader.path().join("data"),
        Form::File | Form::Pipe => reader.path().to_owned(),
    };
    let file = open(&path)?;
    if !reader.is_of(&file) {
        let source = io::Error::other("it is not the file that was read");
        return Err(Error::Io { path, source });
    }
    add(&file, &path, id, section)
}

fn open(path: &Path) -> Result<File, Error> {
    rprof_untrusted::open_to_change(path).map_err(Error::io(path))
}

fn add(file: &File, path: &Path, id: FeatureId, section: &[u8]) -> Result<Finished, Error> {
    let io_error = Error::io(path);
    let write = |bytes: &[u8], at: u64| file.write_all_at(bytes, at);
    let mut table = SectionTable::open(file, &write, path)?;
    table.add(id, section).map_err(io_error)?;
    Ok(Finished {
        size_bytes: table.end,
    })
}

/// Writes bytes at a place of the file.
type Write<'f> = dyn Fn(&[u8], u64) -> io::Result<()> + 'f;

/// A file with a table that can be changed.
struct SectionTable<'f> {
    file: &'f File,
    write: &'f Write<'f>,
    endian: Endian,
    header: FileHeader,
    /// Where the file ends.
    end: u64,
    /// As in the file: one for each bit of the header, lowest first.
    table: Vec<(FeatureId, Section)>,
}

impl<'f> SectionTable<'f> {
    fn open(file: &'f File, write: &'f Write<'f>, path: &Path) -> Result<Self, Error> {
        let io_error = Error::io(path);
        let bad = |offset, what: &str| Error::BadHeader {
            path: path.to_owned(),
            offset,
            what: what.to_owned(),
        };
        let len = file.metadata().map_err(io_error)?.len();
        let head = read(file, 0, FileHeader::LEN.min(len)).map_err(io_error)?;
        let endian = head
            .first_chunk()
            .and_then(|magic| FileHeader::endian_of(*magic))
            .ok_or_else(|| bad(0, "no perf.data magic"))?;
        let mut sizes = Cursor::new(head.get(8..).unwrap_or_default(), endian);
        if sizes
            .u64("header size")
            .is_ok_and(|size| size < FileHeader::LEN)
        {
            return Err(Error::Unsupported {
                path: path.to_owned(),
                form: "adding a section to a piped recording",
                advice: "record into a file",
            });
        }
        let header =
            FileHeader::parse(&head, endian).map_err(|error| bad(0, &error.to_string()))?;
        if header.is_unfinished() {
            return Err(bad(
                0,
                "the recording was never finished: no room for sections",
            ));
        }
        let n_features = header.feature_ids().count() as u64;
        let at = Section {
            offset: header.data.end(),
            size: Section::LEN * n_features,
        };
        if at.end() > len {
            return Err(bad(at.offset, "the file is truncated before its sections"));
        }
        if header.attrs.end() > header.data.offset {
            return Err(bad(at.offset, "something else may follow the records"));
        }
        let bytes = read(file, at.offset, at.size).map_err(io_error)?;
        let mut cursor = Cursor::new(&bytes, endian);
        let mut table = Vec::new();
        for id in header.feature_ids() {
            let section = Section::parse(&mut cursor).ok();
            let inside = section.filter(|one| one.end() <= len && one.offset >= at.end());
            // One of no bytes may claim to be anywhere.
            let section = inside.or(section.filter(|one| one.size == 0));
            let section = section.ok_or_else(|| bad(at.offset, "sections lie outside it"))?;
            table.push((id, section));
        }
        Ok(Self {
            file,
            write,
            endian,
            header,
            end: len,
            table,
        })
    }

    fn add(&mut self, id: FeatureId, bytes: &[u8]) -> io::Result<()> {
        if let Some(place) = self.table.iter().position(|(other, _)| *other == id) {
            let section = self.append(bytes)?;
            self.file.sync_data()?;
            return self.put(place, section);
        }
        self.make_room()?;
        let section = self.append(bytes)?;
        self.file.sync_data()?;
        let place = self.table.partition_point(|(other, _)| *other < id);
        self.table.insert(place, (id, section));
        // Those after it move by one: while they do, they do not count.
        let bits = self.header.features;
        let has_higher = place + 1 < self.table.len();
        if has_higher {
            let higher = self.header.feature_ids().filter(|other| *other > id);
            let higher: Vec<FeatureId> = higher.collect();
            higher.into_iter().for_each(|id| self.clear_bit(id));
            self.write_header()?;
        }
        for place in place..self.table.len() {
            let section = self.table.get(place).map(|(_, section)| *section);
            section.map_or(Ok(()), |section| self.put(place, section))?;
        }
        self.file.sync_data()?;
        self.header.features = bits;
        self.set_bit(id);
        self.write_header()?;
        self.file.sync_data()
    }

    /// Copies the sections that lie where the table's next entry will be to the end of the file.
    fn make_room(&mut self) -> io::Result<()> {
        let table_end = self.header.data.end() + Section::LEN * self.table.len() as u64;
        let is_in_the_way =
            |section: Section| section.size > 0 && section.offset < table_end + Section::LEN;
        let mut moved = Vec::new();
        for place in 0..self.table.len() {
            let Some(&(id, section)) = self.table.get(place) else {
                continue;
            };
            if is_in_the_way(section) {
                let bytes = read(self.file, section.offset, section.size)?;
                moved.push((place, id, self.append(&bytes)?));
            }
        }
        // Nothing must lie between the table and the end of the file that is not there yet.
        if self.end < table_end + Section::LEN {
            self.append(&[0; 16])?;
        }
        self.file.sync_data()?;
        for (place, id, section) in moved {
            self.put(place, section)?;
            if let Some(one) = self.table.get_mut(place) {
                *one = (id, section);
            }
        }
        self.file.sync_data()
    }

    /// Writes bytes at the end of the file.
    fn append(&mut self, bytes: &[u8]) -> io::Result<Section> {
        let section = Section {
            offset: self.end,
            size: bytes.len() as u64,
        };
        if let Err(error) = (self.write)(bytes, self.end) {
            // The disk is full: what nothing points to yet goes away again.
            let _ = self.file.set_len(self.end);
            return Err(error);
        }
        self.end = section.end();
        Ok(section)
    }

    /// Writes one entry of the table.
    fn put(&self, place: usize, section: Section) -> io::Result<()> {
        let mut bytes = Vec::new();
        section.encode(&mut Encoder::new(&mut bytes, self.endian));
        let at = self.header.data.end() + Section::LEN * place as u64;
        (self.write)(&bytes, at)
    }

    fn set_bit(&mut self, id: FeatureId) {
        if let Some(word) = self.header.features.get_mut((id.0 / 64) as usize) {
            *word |= 1 << (id.0 % 64);
        }
    }

    fn clear_bit(&mut self, id: FeatureId) {
        if let Some(word) = self.header.features.get_mut((id.0 / 64) as usize) {
            *word &= !(1 << (id.0 % 64));
        }
    }

    /// Writes the bits, in one piece; what else a header has stays as it is.
    fn write_header(&self) -> io::Result<()> {
        let mut bits = Vec::new();
        let mut encoder = Encoder::new(&mut bits, self.endian);
        let words = self.header.features.iter();
        words.for_each(|&word| encoder.u64(word));
        let at = FileHeader::LEN - bits.len() as u64;
        (self.write)(&bits, at)
    }
}

fn read(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
    let mut bytes = vec![0; usize::try_from(len).map_err(too_long)?];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Writer, WrittenEvent};
    use proptest::prelude::*;
    use rprof_abi::PerfEventAttr;

    /// A finished recording with these sections beside the one that it always has.
    fn recording(sections: &[(FeatureId, Vec<u8>)]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let event = WrittenEvent {
            name: "x".to_owned(),
            attr: PerfEventAttr::default(),
            ids: vec![7],
        };
        let mut writer =
            Writer::start(file.reopen().unwrap(), file.path(), &[event], Vec::new()).unwrap();
        writer.write(&[0; 64]).unwrap();
        writer.finish(sections.to_vec()).unwrap();
        file
    }

    fn sections(path: &Path) -> Vec<(FeatureId, Vec<u8>)> {
        let reader = Reader::open(path).unwrap();
        assert_eq!(reader.warnings(), []);
        let ids = reader.features().iter().map(|&(id, _)| id);
        ids.map(|id| (id, reader.feature(id).unwrap().unwrap()))
            .collect()
    }

    proptest! {
        #[test]
        fn sections_are_added_and_replaced_and_the_others_stay(
            first in proptest::collection::btree_map(128u32..256, 0usize..40, 0..6),
            added in proptest::collection::vec((128u32..256, 0usize..40), 1..4),
        ) {
            let section = |(id, len): (u32, usize)| (FeatureId(id), vec![id.to_le_bytes()[0]; len]);
            let first: Vec<_> = first.into_iter().map(section).collect();
            let file = recording(&first);
            let mut expected = sections(file.path());
            for (n, one) in added.into_iter().enumerate() {
                let (id, mut bytes) = section(one);
                bytes.extend(n.to_le_bytes());
                let finished = add_feature(file.path(), id, &bytes).unwrap();
                prop_assert_eq!(finished.size_bytes, file.as_file().metadata().unwrap().len());
                expected.retain(|(other, _)| *other != id);
                expected.push((id, bytes));
                expected.sort();
                prop_assert_eq!(&sections(file.path()), &expected);
            }
        }
    }

    /// Writing ends after any number of writes, as in a crash or when the disk is full.
    #[test]
    fn whatever_was_written_last_all_that_was_there_still_is() {
        let section = |id: u32| (FeatureId(id), vec![id.to_le_bytes()[0]; 7]);
        // One in the place of another, one after all others.
        for added in [FeatureId(150), FeatureId::SYMBOLS] {
            let mut n_writes = 0;
            loop {
                let file = recording(&[section(140), section(150), section(160)]);
                let before = sections(file.path());
                let left = std::cell::Cell::new(n_writes);
                let write = |bytes: &[u8], at: u64| {
                    if left.get() == 0 {
                        return Err(io::Error::from(io::ErrorKind::StorageFull));
                    }
                    left.set(left.get() - 1);
                    file.as_file().write_all_at(bytes, at)
                };
                let mut table = SectionTable::open(file.as_file(), &write, file.path()).unwrap();
                let done = table.add(added, b"new section").is_ok();
                let mut after = sections(file.path());
                if done {
                    assert!(after.contains(&(added, b"new section".to_vec())));
                    break;
                }
                // The new one may be there or not; one that it replaces is there until then.
                let ids = |all: &[(FeatureId, Vec<u8>)]| -> Vec<_> {
                    let ids = all.iter().map(|(id, _)| *id);
                    ids.filter(|id| *id != FeatureId::SYMBOLS).collect()
                };
                assert_eq!(ids(&after), ids(&before), "after {n_writes} writes");
                let is_new = |bytes: &[u8]| bytes == b"new section";
                after.retain(|(id, bytes)| *id != added || !is_new(bytes));
                assert!(after.iter().all(|one| before.contains(one)));
                n_writes += 1;
            }
            assert!(n_writes > 0);
        }
    }

    #[test]
    fn a_section_goes_into_the_file_that_was_read_or_nowhere() {
        let (file, other) = (recording(&[]), recording(&[]));
        let reader = Reader::open(file.path()).unwrap();
        add_feature_to(&reader, FeatureId::SYMBOLS, b"names").unwrap();
        let before = std::fs::read(other.path()).unwrap();
        std::fs::rename(other.path(), file.path()).unwrap();
        assert!(add_feature_to(&reader, FeatureId::SYMBOLS, b"names").is_err());
        assert_eq!(std::fs::read(file.path()).unwrap(), before);
    }

    #[test]
    fn what_has_no_place_for_sections_is_an_error_and_stays_as_it_is() {
        let whole = std::fs::read(recording(&[]).path()).unwrap();
        let with = |at: usize, bytes: &[u8]| {
            let mut whole = whole.clone();
            whole[at..at + bytes.len()].copy_from_slice(bytes);
            whole
        };
        let cases = [
            Vec::new(),
            b"nonsense".to_vec(),
            whole[..90].to_vec(),
            whole[..whole.len() - 8].to_vec(),
            // A pipe's header; a recording that was not finished; one of more than there is.
            with(8, &16u64.to_ne_bytes()),
            with(48, &0u64.to_ne_bytes()),
            with(48, &u64::MAX.to_ne_bytes()),
            with(32, &u64::MAX.to_ne_bytes()),
        ];
        for bytes in cases {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            assert!(add_feature(file.path(), FeatureId::SYMBOLS, b"x").is_err());
            assert!(std::fs::read(file.path()).unwrap() == bytes);
        }
        assert!(add_feature(Path::new("/dev/null"), FeatureId::SYMBOLS, b"x").is_err());
    }
}
