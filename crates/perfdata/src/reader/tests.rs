//! What the writer writes, the reader reads; and damage of every kind.

mod blocks;
mod compressed;

use super::*;
use crate::{Step, Writer, WrittenEvent, file_kind};
use proptest::prelude::*;
use rprof_abi::{AttrFlags, RecordKind};
use rprof_untrusted::Allowed;
use std::fs::File;
use std::sync::Arc;

fn record(kind: u32, len: u16, fill: u8) -> Vec<u8> {
    let mut bytes = kind.to_ne_bytes().to_vec();
    bytes.extend([0, 0]);
    bytes.extend(len.to_ne_bytes());
    bytes.resize(usize::from(len), fill);
    bytes
}

/// A recording of two events and some records, as bytes.
fn recording() -> Vec<u8> {
    recording_by(Writer::start)
}

type Known = Vec<(FeatureId, Vec<u8>)>;
type Started = Result<Writer, Error>;
type Start = fn(File, &Path, &[WrittenEvent], Known) -> Started;

fn recording_by(start: Start) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    let event = |name: &str, ids: Vec<u64>| WrittenEvent {
        name: name.to_owned(),
        attr: PerfEventAttr {
            sample_type: SampleType::IDENTIFIER.with(SampleType::IP),
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..PerfEventAttr::default()
        },
        ids,
    };
    let events = [event("cycles", vec![5, 6]), event("dummy:u", vec![7])];
    let mut arch = Vec::new();
    let mut encoder = rprof_abi::Encoder::new(&mut arch, Endian::NATIVE);
    feature::encode_string(b"x86_64", &mut encoder);
    let known = vec![(FeatureId::ARCH, arch)];
    let mut writer = start(File::create(&path).unwrap(), &path, &events, known).unwrap();
    for fill in 0..20 {
        writer
            .write(&record(9, 24 + 8 * u16::from(fill), fill))
            .unwrap();
    }
    writer
        .write(&record(file_kind::FINISHED_ROUND.0, 8, 0))
        .unwrap();
    let mut osrelease = Vec::new();
    feature::encode_string(
        b"6.1",
        &mut rprof_abi::Encoder::new(&mut osrelease, Endian::NATIVE),
    );
    writer
        .finish(vec![(FeatureId::OSRELEASE, osrelease)])
        .unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn a_pipe_gets_what_a_file_gets() {
    let file = open(&recording()).unwrap();
    let pipe = open(&recording_by(|file, path, events, known| {
        Writer::start_pipe(file, path, events, known, Arc::default())
    }))
    .unwrap();
    assert_eq!((file.form(), pipe.form()), (Form::File, Form::Pipe));
    for (in_file, in_pipe) in file.events().iter().zip(pipe.events()) {
        assert_eq!(in_file.name, in_pipe.name);
        assert_eq!(in_file.attr, in_pipe.attr);
    }
    assert_eq!(file.events().len(), pipe.events().len());
    for id in [FeatureId::ARCH, FeatureId::OSRELEASE] {
        assert!(file.feature_text(id).is_some());
        assert_eq!(file.feature_text(id), pipe.feature_text(id));
    }
    let (in_file, _) = kinds(&file);
    let (mut in_pipe, warnings) = kinds(&pipe);
    in_pipe.retain(|kind| {
        let own = [
            file_kind::HEADER_ATTR,
            file_kind::EVENT_UPDATE,
            file_kind::HEADER_FEATURE,
        ];
        !own.contains(kind)
    });
    assert_eq!((in_pipe, warnings.is_empty()), (in_file, true));
}

fn open(bytes: &[u8]) -> Result<Reader, Error> {
    Reader::from_bytes(Path::new("perf.data"), bytes.to_vec())
}

fn kinds(reader: &Reader) -> (Vec<RecordKind>, Vec<Warning>) {
    let mut kinds = Vec::new();
    let warning = reader
        .walk(reader.data(), |_, raw| {
            kinds.push(raw.kind);
            Step::On
        })
        .unwrap();
    (kinds, warning)
}

#[test]
fn what_is_written_is_read() {
    let reader = open(&recording());
    let reader = reader.unwrap();
    let names: Vec<_> = reader
        .events()
        .iter()
        .map(|event| event.name.raw())
        .collect();
    assert_eq!(names, ["cycles", "dummy:u"]);
    assert_eq!(
        reader.feature_text(FeatureId::OSRELEASE).as_deref(),
        Some("6.1")
    );
    let (kinds, warning) = kinds(&reader);
    assert_eq!((kinds.len(), warning), (21, vec![]));
    assert_eq!(kinds[20], file_kind::FINISHED_ROUND);
    let body = 7u64.to_ne_bytes();
    let raw = RawRecord {
        kind: RecordKind::SAMPLE,
        misc: rprof_abi::Misc(0),
        body: &body,
    };
    assert_eq!(reader.event_of(raw), Some(1));
}

#[test]
fn a_file_cut_anywhere_reads_up_to_its_last_whole_record() {
    let bytes = recording();
    let whole = open(&bytes);
    let data = whole.unwrap().data();
    let mut seen = 0;
    for len in 0..bytes.len() {
        let reader = open(&bytes[..len]);
        let Ok(reader) = reader else {
            assert!((len as u64) < data.start, "cut at {len}");
            continue;
        };
        let (kinds, warning) = kinds(&reader);
        assert!(kinds.len() >= seen, "cut at {len}");
        seen = kinds.len();
        let data_is_cut = (len as u64) < data.end;
        assert_eq!(
            !warning.is_empty(),
            data_is_cut,
            "cut at {len}: {warning:?}"
        );
        let is_said = data_is_cut || !reader.warnings().is_empty();
        assert!(is_said, "cut at {len} goes unnoticed");
    }
    assert_eq!(seen, 21);
}

#[test]
fn feature_sections_beyond_the_end_are_named_and_left_out() {
    let bytes = recording();
    let reader = open(&bytes[..bytes.len() - 1]).unwrap();
    // The last section that is written.
    let missing = vec![FeatureId::EVENT_DESC];
    assert_eq!(reader.warnings(), [Warning::CutFeatures { missing }]);
    assert!(reader.feature(FeatureId::EVENT_DESC).unwrap().is_none());
    assert!(reader.feature(FeatureId::OSRELEASE).unwrap().is_some());
}

#[test]
fn a_piped_feature_that_no_file_has_a_bit_for_is_a_damaged_record() {
    let mut bytes = Vec::new();
    let mut head = rprof_abi::Encoder::new(&mut bytes, Endian::NATIVE);
    head.u64(u64::from_le_bytes(FileHeader::MAGIC));
    head.u64(PIPE_HEADER_LEN);
    bytes.extend(record(file_kind::HEADER_ATTR.0, 8 + 64, 0));
    // Features 0x0202020202020202 and so on: reading them again and again would take for ever.
    bytes.extend(record(file_kind::HEADER_FEATURE.0, 32, 2));
    let reader = open(&bytes).unwrap();
    assert_eq!(reader.features(), []);
    assert_eq!(reader.warnings(), [Warning::Undecodable { records: 1 }]);
}

/// What came through a pipe: events of these attrs, without names, then records.
fn piped(attrs: &[PerfEventAttr], records: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut head = rprof_abi::Encoder::new(&mut bytes, Endian::NATIVE);
    head.u64(u64::from_le_bytes(FileHeader::MAGIC));
    head.u64(PIPE_HEADER_LEN);
    for attr in attrs {
        let mut body = Vec::new();
        attr.encode(&mut body, Endian::NATIVE, rprof_abi::AttrSize::VER0);
        bytes.extend(with_body(file_kind::HEADER_ATTR, &body));
    }
    bytes.extend(records.concat());
    bytes
}

fn with_body(kind: RecordKind, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(8 + body.len()).unwrap();
    let mut bytes = record(kind.0, 8, 0);
    bytes[6..].copy_from_slice(&len.to_ne_bytes());
    bytes.extend(body);
    bytes
}

fn attr(kind: u32, config: u64) -> PerfEventAttr {
    PerfEventAttr {
        kind,
        config,
        ..PerfEventAttr::default()
    }
}

fn names(reader: &Reader) -> Vec<&str> {
    let events = reader.events().iter();
    events.map(|event| event.name.raw()).collect()
}

/// The formats of `probe_x:main`, number 1329, after their length.
fn formats() -> Vec<u8> {
    let text = b"name: main\nID: 1329\nformat:\n";
    let data = feature::TracingData {
        systems: vec![("probe_x".to_owned(), vec![text.to_vec()])],
        ..feature::TracingData::default()
    };
    let mut bytes = Vec::new();
    data.encode(&mut rprof_abi::Encoder::new(&mut bytes, Endian::NATIVE));
    let len = u32::try_from(bytes.len()).unwrap();
    [&len.to_ne_bytes()[..], &bytes].concat()
}

#[test]
fn tracepoints_without_a_name_have_that_of_their_format() {
    let attrs = [
        attr(event_type::TRACEPOINT, 1329),
        attr(event_type::TRACEPOINT, 7),
    ];
    let (len, data) = formats()
        .split_at_checked(4)
        .map(|(a, b)| (a.to_vec(), b.to_vec()))
        .unwrap();
    let mut behind = with_body(file_kind::HEADER_TRACING_DATA, &len);
    behind.extend(&data);
    behind.resize(12 + data.len().next_multiple_of(8), 0);
    let samples = record(9, 24, 0);
    let reader = open(&piped(&attrs, &[behind, samples.clone()])).unwrap();
    assert_eq!(names(&reader), ["probe_x:main", "tracepoint 7"]);
    let perfs = [file_kind::HEADER_TRACING_DATA, RecordKind::SAMPLE];
    assert_eq!(kinds(&reader).0[2..], perfs);
    // simpleperf has them within its record, and no bytes are skipped after it.
    for kind in [
        file_kind::HEADER_TRACING_DATA,
        file_kind::SIMPLEPERF_TRACING_DATA,
    ] {
        let mut body = formats();
        body.resize(body.len().next_multiple_of(8), 0);
        let inside = with_body(kind, &body);
        let reader = open(&piped(&attrs, &[inside, samples.clone()])).unwrap();
        assert_eq!(names(&reader), ["probe_x:main", "tracepoint 7"]);
        assert_eq!(kinds(&reader).0[2..], [kind, RecordKind::SAMPLE]);
        assert_eq!(kinds(&reader).1, []);
    }
}

#[test]
fn events_have_the_names_that_simpleperf_gave_them() {
    let info = b"event_type_info\0cpu-cycles,0,0\nraw-l1d,x,4,0x11\nsched:sched_switch,2,47\0";
    let id = u64::from(FeatureId::SIMPLEPERF_META_INFO.0).to_ne_bytes();
    let meta = with_body(file_kind::HEADER_FEATURE, &[&id, &info[..]].concat());
    let of_user = PerfEventAttr {
        flags: AttrFlags::EXCLUDE_KERNEL,
        ..attr(0, 0)
    };
    let attrs = [attr(0, 0), of_user, attr(2, 47), attr(1, 0)];
    let reader = open(&piped(&attrs, &[meta])).unwrap();
    let expected = [
        "cpu-cycles",
        "cpu-cycles:u",
        "sched:sched_switch",
        "cpu-clock:HG",
    ];
    assert_eq!(names(&reader), expected);
}

#[test]
fn a_recording_that_was_never_finished_is_read_to_the_end_of_the_file() {
    let mut bytes = recording();
    let whole = open(&bytes);
    let end = usize::try_from(whole.unwrap().data().end).unwrap();
    bytes[48..56].fill(0);
    bytes.truncate(end);
    let reader = open(&bytes);
    let reader = reader.unwrap();
    assert_eq!(reader.warnings(), [Warning::Unfinished]);
    assert_eq!(kinds(&reader).0.len(), 21);
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    for (bytes, expected) in [
        (&b""[..], "empty"),
        (b"\x7fELF\x02\x01\x01\0\0", "ELF"),
        (b"hello, world", "PERFILE2"),
        (b"PERFILE2\x10\0\0\0\0\0\0\0", "no events"),
        (b"PERFFILE\0\0\0\0", "2.6.33"),
    ] {
        let error = open(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_record_of_size_zero_ends_the_walk_with_its_offset() {
    let mut bytes = recording();
    let whole = open(&bytes);
    let start = usize::try_from(whole.unwrap().data().start).unwrap();
    bytes[start + 24 + 6..start + 24 + 8].fill(0);
    let reader = open(&bytes);
    let (kinds, warning) = kinds(&reader.unwrap());
    assert_eq!(kinds.len(), 1);
    assert!(
        matches!(&warning[..], [Warning::BadRecord { at, .. }] if at.offset == start as u64 + 24)
    );
}

#[test]
fn blocks_of_several_threads_have_the_same_records() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    let event = WrittenEvent {
        name: "cycles".to_owned(),
        attr: PerfEventAttr::default(),
        ids: vec![],
    };
    let mut writer =
        Writer::start(File::create(&path).unwrap(), &path, &[event], Vec::new()).unwrap();
    // Records of all lengths, so that some lie across every border; traces with their data after
    // them, one longer than what is read at a time.
    for n in 0..12_000u32 {
        let len = u16::try_from(8 + n * 8 % 4096).unwrap();
        writer.write(&record(9, len, 7)).unwrap();
        if n % 4000 == 3999 {
            let data = 3_000_000u64 + u64::from(n);
            let mut aux = record(file_kind::AUXTRACE.0, 48, 0);
            aux[8..16].copy_from_slice(&data.to_ne_bytes());
            // What lies behind them looks like records, but ends elsewhere than those.
            let mut payload = record(9, 24, 7).repeat(usize::try_from(data).unwrap() / 24 + 1);
            payload.truncate(usize::try_from(data).unwrap());
            aux.truncate(48);
            aux.extend(payload);
            writer.write(&aux).unwrap();
        }
    }
    writer.finish(vec![]).unwrap();
    let reader = Reader::open(&path).unwrap();
    let mut one = Vec::new();
    let warnings = reader.walk(reader.data(), |offset, raw| {
        one.push((offset, raw.kind, raw.len_bytes()));
        Step::On
    });
    assert_eq!(warnings.unwrap(), []);
    assert_eq!(one.len(), 12_003);
    for (block_len, n_threads) in [(1, 1), (1, 3), (100_000, 2), (1 << 20, 3), (1 << 30, 2)] {
        let (mut other, mut end) = (Vec::new(), reader.data().start);
        let warnings = reader.walk_blocks(&Listed, block_len, n_threads, |walked| {
            assert_eq!(walked.range.start, end);
            end = walked.range.end;
            other.extend(walked.block);
        });
        assert_eq!(warnings.unwrap(), []);
        assert!(one == other, "{block_len} {n_threads}");
        assert_eq!(end, reader.data().end);
    }
}

/// Lists the records of each block.
struct Listed;

impl BlockWalk for Listed {
    type Block = Vec<(u64, RecordKind, usize)>;

    fn block(&self) -> Self::Block {
        Vec::new()
    }

    fn take(&self, block: &mut Self::Block, offset: u64, raw: RawRecord<'_>) {
        block.push((offset, raw.kind, raw.len_bytes()));
    }
}

/// A recording of compressed records, each of this number of bytes of plain ones.
fn compressed(path: &Path, n_compressed: usize, decompressed: usize) {
    let event = WrittenEvent {
        name: "cycles".to_owned(),
        attr: PerfEventAttr::default(),
        ids: vec![],
    };
    let file = File::create(path).unwrap();
    let mut writer = Writer::start(file, path, &[event], Vec::new()).unwrap();
    let plain = record(9, 4096, 0).repeat(decompressed / 4096);
    let compressed = zstd::encode_all(&plain[..], 19).unwrap();
    let len = u16::try_from(8 + compressed.len()).unwrap();
    let mut one = record(file_kind::COMPRESSED.0, len, 0);
    one.truncate(8);
    one.extend(&compressed);
    for _ in 0..n_compressed {
        writer.write(&one).unwrap();
    }
    let mut section = Vec::new();
    // Version, type, level, ratio; and a ring of any length, which is not believed.
    for word in [1u32, 1, 1, 50, u32::MAX] {
        section.extend(word.to_ne_bytes());
    }
    writer
        .finish(vec![(FeatureId::COMPRESSED, section)])
        .unwrap();
}

#[test]
fn what_is_decompressed_ends_where_the_budget_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    compressed(&path, 4, 1 << 20);
    let len = |spool| {
        let allowed = Allowed {
            memory: None,
            spool,
        };
        let reader = Reader::open_allowing(&path, allowed).unwrap();
        let warnings = reader.warnings().iter().map(ToString::to_string);
        let data = reader.data();
        (data.end - data.start, warnings.collect::<String>())
    };
    assert_eq!(len(None), (4 << 20, String::new()));
    assert_eq!(len(Some(4 << 20)), (4 << 20, String::new()));
    let (some, said) = len(Some((5 << 20) / 2));
    assert!(((2 << 20)..=((5 << 20) / 2)).contains(&some), "{some}");
    assert!(said.contains("--max-spool"), "{said}");
    // One record, which claims a ring of 4 GiB.
    compressed(&path, 1, 100 << 20);
    let (some, said) = len(Some(1 << 30));
    assert!(some < 65 << 20, "{some}");
    assert!(said.contains("decompresses to more"), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn flipped_bytes_never_panic(flips in proptest::collection::vec((0usize..4096, any::<u8>()), 1..8)) {
        let mut bytes = recording();
        for (at, value) in flips {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let reader = open(&bytes);
        if let Ok(reader) = reader {
            kinds(&reader);
            reader.build_ids();
        }
    }
}

#[test]
fn a_header_that_is_cut_off_says_where_the_file_ends() {
    let bytes = recording();
    for len in [8, 12, 60, 103] {
        let cut = bytes.get(..len).unwrap().to_vec();
        let error = Reader::from_bytes(Path::new("x"), cut).err().unwrap();
        let expected = format!(
            "x: damaged header at offset {len}: the file ends there, and the header has 104 bytes"
        );
        assert_eq!(error.to_string(), expected);
    }
}
