//! Writes a recording anew, as a finished file with one more section: for what went through a pipe,
//! and for what was cut or never finished, which have no place for sections.

use crate::feature::BuildIdEntry;
use crate::reader::Reader;
use crate::{Error, FeatureId, Finished, Step, Writer, WrittenEvent, file_kind};
use foldhash::HashSet;
use rprof_abi::{Encoder, RawRecord, RecordHeader, RecordKind};
use std::fs::File;
use std::path::Path;

/// Records that say what sections of a file say.
const ANNOUNCEMENTS: [RecordKind; 6] = [
    file_kind::HEADER_ATTR,
    file_kind::HEADER_EVENT_TYPE,
    file_kind::HEADER_TRACING_DATA,
    file_kind::HEADER_BUILD_ID,
    file_kind::HEADER_FEATURE,
    file_kind::SIMPLEPERF_TRACING_DATA,
];

/// Sections that do not hold for another file: those made anew, those of how the old one is stored,
/// and those that say where in it something is.
const LEFT_OUT: [FeatureId; 5] = [
    FeatureId::EVENT_DESC,
    FeatureId::AUXTRACE,
    FeatureId::DIR_FORMAT,
    FeatureId::COMPRESSED,
    FeatureId::STACK_ENDS,
];

/// Writes what can be read of a recording into an empty file, with a section that it gets; `path` is
/// for messages.
///
/// # Errors
/// [`Error`]: the file cannot be written, or the recording not be read.
pub fn rewrite_with(
    reader: &Reader,
    (file, path): (File, &Path),
    (id, section): (FeatureId, Vec<u8>),
) -> Result<Finished, Error> {
    let features = features_of(reader, id)?;
    let events = events_of(reader);
    let mut writer = Writer::start_in_order(reader.endian(), (file, path), &events, features)?;
    let mut failed = None;
    reader.walk(reader.data(), |offset, raw| {
        if ANNOUNCEMENTS.contains(&raw.kind) {
            return Step::On;
        }
        match copy(reader, offset, raw, &mut writer) {
            Ok(()) => Step::On,
            Err(error) => {
                failed = Some(error);
                Step::Stop
            }
        }
    })?;
    match failed {
        Some(error) => Err(error),
        None => writer.finish(vec![(id, section)]),
    }
}

fn events_of(reader: &Reader) -> Vec<WrittenEvent> {
    let events = reader.events().iter().enumerate();
    let written = events.map(|(place, event)| WrittenEvent {
        name: event.name.raw().to_owned(),
        attr: event.attr.clone(),
        ids: reader.ids_of(place),
    });
    written.collect()
}

fn features_of(reader: &Reader, added: FeatureId) -> Result<Vec<(FeatureId, Vec<u8>)>, Error> {
    let mut seen: HashSet<FeatureId> = LEFT_OUT.into_iter().chain([added]).collect();
    let mut features = Vec::new();
    for &(id, _) in reader.features() {
        if seen.insert(id) {
            features.extend(reader.feature(id)?.map(|section| (id, section)));
        }
    }
    let (build_ids, _) = reader.build_ids();
    if seen.insert(FeatureId::BUILD_ID) && !build_ids.is_empty() {
        let mut section = Vec::new();
        let encode = |entry: &BuildIdEntry| {
            entry.encode(&mut Encoder::new(&mut section, reader.endian()));
        };
        build_ids.iter().for_each(encode);
        features.push((FeatureId::BUILD_ID, section));
    }
    Ok(features)
}

/// Copies a record, with what lies after it; nothing of one that is not whole.
fn copy(
    reader: &Reader,
    offset: u64,
    raw: RawRecord<'_>,
    writer: &mut Writer,
) -> Result<(), Error> {
    let mut bytes = Vec::with_capacity(raw.len_bytes());
    let mut encoder = Encoder::new(&mut bytes, reader.endian());
    encoder.u32(raw.kind.0);
    encoder.u16(raw.misc.0);
    // Of simpleperf's long ones, the rest of it is in `misc`.
    let [low, high, ..] = raw.len_bytes().to_le_bytes();
    encoder.u16(u16::from_le_bytes([low, high]));
    encoder.bytes(raw.body);
    debug_assert_eq!(bytes.len(), raw.body.len() + RecordHeader::LEN);
    if reader.read_payload(offset, raw, &mut bytes)? {
        writer.write(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_abi::{Endian, PerfEventAttr};

    /// Pieces of a record's payload are not read at once.
    const FORMS: &str = "../../fixtures/forms";

    fn kinds(reader: &Reader) -> Vec<RecordKind> {
        let mut kinds = Vec::new();
        let count = |_, raw: RawRecord<'_>| {
            kinds.push(raw.kind);
            Step::On
        };
        reader.walk(reader.data(), count).unwrap();
        kinds.retain(|kind| !ANNOUNCEMENTS.contains(kind));
        kinds
    }

    fn rewritten(reader: &Reader) -> Reader {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .unwrap();
        let section = (FeatureId::SYMBOLS, b"names".to_vec());
        rewrite_with(reader, (file, &path), section).unwrap();
        Reader::open(&path).unwrap()
    }

    #[test]
    fn every_form_becomes_a_finished_file_of_the_same_records() {
        for name in [
            "piped.data",
            "piped-compressed.data",
            "compressed.data",
            "directory",
        ] {
            let old = Reader::open(&Path::new(FORMS).join(name)).unwrap();
            let new = rewritten(&old);
            assert_eq!(new.warnings(), [], "{name}");
            let (mut old_kinds, new_kinds) = (kinds(&old), kinds(&new));
            let is_compressed = [file_kind::COMPRESSED, file_kind::COMPRESSED2];
            old_kinds.retain(|kind| !is_compressed.contains(kind));
            assert_eq!(new_kinds, old_kinds, "{name}");
            assert_eq!(new.feature(FeatureId::SYMBOLS).unwrap().unwrap(), b"names");
            assert_eq!(new.build_ids().0, old.build_ids().0, "{name}");
            let release = old.feature_text(FeatureId::OSRELEASE);
            assert_eq!(new.feature_text(FeatureId::OSRELEASE), release);
            for (place, (old_event, new_event)) in old.events().iter().zip(new.events()).enumerate()
            {
                assert_eq!(new_event.name, old_event.name);
                assert_eq!(new_event.attr, old_event.attr);
                assert_eq!(new.ids_of(place), old.ids_of(place));
            }
        }
    }

    #[test]
    fn a_recording_of_the_other_byte_order_stays_in_it() {
        let event = WrittenEvent {
            name: "cycles".to_owned(),
            attr: PerfEventAttr::default(),
            ids: vec![7, 8],
        };
        let other = match Endian::NATIVE {
            Endian::Little => Endian::Big,
            Endian::Big => Endian::Little,
        };
        let old = tempfile::NamedTempFile::new().unwrap();
        let to = (old.reopen().unwrap(), old.path());
        let mut writer = Writer::start_in_order(other, to, &[event], Vec::new()).unwrap();
        let mut record = Vec::new();
        let mut encoder = Encoder::new(&mut record, other);
        encoder.u32(RecordKind::COMM.0);
        encoder.u16(0);
        encoder.u16(24);
        encoder.u32(1);
        encoder.u32(2);
        encoder.bytes(b"program\0");
        writer.write(&record).unwrap();
        writer.finish(Vec::new()).unwrap();
        let old = Reader::open(old.path()).unwrap();
        assert_eq!((old.endian(), old.warnings()), (other, &[][..]));
        let new = rewritten(&old);
        assert_eq!((new.endian(), new.warnings()), (other, &[][..]));
        assert_eq!(kinds(&new), [RecordKind::COMM]);
        assert_eq!(new.events()[0].name, old.events()[0].name);
        assert_eq!(new.ids_of(0), [7, 8]);
        assert_eq!(new.feature(FeatureId::SYMBOLS).unwrap().unwrap(), b"names");
    }

    #[test]
    fn what_was_cut_is_whole_up_to_its_last_whole_record() {
        let bytes = std::fs::read(Path::new(FORMS).join("../spin/perf.data")).unwrap();
        let whole = Reader::from_bytes(Path::new("whole"), bytes.clone()).unwrap();
        let middle = usize::try_from(whole.data().end - 20).unwrap();
        let cut = Reader::from_bytes(Path::new("cut"), bytes[..middle].to_vec()).unwrap();
        let new = rewritten(&cut);
        assert_eq!(new.warnings(), []);
        assert_eq!(kinds(&new), kinds(&cut));
        assert!(!kinds(&cut).is_empty());
    }
}
