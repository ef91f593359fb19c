//! Recordings that the writer compresses.

use super::*;

fn compressed(file: File, path: &Path, events: &[WrittenEvent], known: Known) -> Started {
    let mut writer = Writer::start(file, path, events, known)?;
    writer.compress(1)?;
    Ok(writer)
}

fn compressed_pipe(file: File, path: &Path, events: &[WrittenEvent], known: Known) -> Started {
    let mut writer = Writer::start_pipe(file, path, events, known, Arc::default())?;
    writer.compress(1)?;
    Ok(writer)
}

fn bodies(reader: &Reader) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let own = [
        file_kind::HEADER_ATTR,
        file_kind::EVENT_UPDATE,
        file_kind::HEADER_FEATURE,
    ];
    let walked = reader.walk(reader.data(), |_, raw| {
        if !own.contains(&raw.kind) {
            bodies.push(raw.body.to_vec());
        }
        Step::On
    });
    assert_eq!(walked.unwrap(), []);
    bodies
}

#[test]
fn what_is_compressed_is_read_as_if_it_were_not() {
    let plain = recording();
    let expected = bodies(&open(&plain).unwrap());
    for start in [compressed as Start, compressed_pipe] {
        let bytes = recording_by(start);
        assert!(bytes.len() < plain.len());
        let reader = open(&bytes).unwrap();
        assert!(reader.is_compressed());
        assert_eq!(reader.warnings(), []);
        assert_eq!(bodies(&reader), expected);
        assert_eq!(
            reader.feature_text(FeatureId::OSRELEASE).as_deref(),
            Some("6.1")
        );
    }
}

#[test]
fn a_compressed_file_that_was_not_ended_has_all_that_was_written() {
    let bytes = recording_by(compressed);
    let expected = bodies(&open(&bytes).unwrap());
    let mut header = FileHeader::parse(&bytes, Endian::NATIVE).unwrap();
    let data = header.data;
    let end = usize::try_from(data.end()).unwrap();
    header.features = [0; 4];
    // Killed, and without room for sections.
    for size in [0, data.size] {
        header.data.size = size;
        let mut cut = Vec::new();
        header.encode(&mut cut, Endian::NATIVE);
        cut.extend_from_slice(&bytes[cut.len()..end]);
        assert_eq!(bodies(&open(&cut).unwrap()), expected);
    }
}
