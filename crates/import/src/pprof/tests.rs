//! Profiles made in memory: what they become, and what is refused.

use crate::{Error, Imported, open};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use prost::Message;
use prost::encoding::{WireType, encode_key};
use rprof_abi::Record;
use rprof_perfdata::{RecordingInput, Step};
use rprof_pprof::{
    PPROF_SAMPLE, PprofFunction, PprofLabel, PprofLine, PprofLocation, PprofMapping, PprofRest,
    PprofSample, PprofValueType,
};
use rprof_untrusted::Allowed;
use std::io::Write;
use std::path::Path;

/// `samples/count` and `cpu/milliseconds`, of a function that another one is inlined into.
fn rest() -> PprofRest {
    let texts = [
        "",
        "samples",
        "count",
        "cpu",
        "milliseconds",
        "/bin/app",
        "00ff",
        "main",
        "parse",
        "app.rs",
        "comm",
        "web",
        "pid",
        "12",
    ];
    let kind = |kind, unit| PprofValueType { kind, unit };
    let function = |id, name| PprofFunction {
        id,
        name,
        system_name: 0,
        filename: 9,
    };
    let line = |function_id, line| PprofLine { function_id, line };
    PprofRest {
        sample_type: vec![kind(1, 2), kind(3, 4)],
        mapping: vec![PprofMapping {
            id: 1,
            filename: 5,
            build_id: 6,
            ..PprofMapping::default()
        }],
        location: vec![PprofLocation {
            id: 7,
            mapping_id: 1,
            address: 0x1000,
            line: vec![line(2, 30), line(1, 40)],
        }],
        function: vec![function(1, 7), function(2, 8)],
        string_table: texts.map(str::to_owned).to_vec(),
        ..PprofRest::default()
    }
}

fn sample(value: &[i64]) -> PprofSample {
    let label = |key, str| PprofLabel { key, str };
    PprofSample {
        location_id: vec![7],
        value: value.to_vec(),
        label: vec![label(10, 11), label(12, 13)],
    }
}

fn encoded(rest: &PprofRest, samples: &[PprofSample]) -> Vec<u8> {
    let mut bytes = rest.encode_to_vec();
    for sample in samples {
        encode_key(PPROF_SAMPLE, WireType::LengthDelimited, &mut bytes);
        sample.encode_length_delimited(&mut bytes).unwrap();
    }
    bytes
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn imported(bytes: &[u8], allowed: Allowed) -> Result<Option<Imported>, Error> {
    let input = RecordingInput::from_bytes(Path::new("x.pb"), bytes.to_vec());
    open(&input, allowed)
}

fn refused(bytes: &[u8]) -> String {
    let result = imported(bytes, Allowed::default());
    result.unwrap_err().to_string()
}

/// Event and weight of each sample.
fn samples(imported: &Imported) -> Vec<(String, u64)> {
    let reader = &imported.reader;
    let mut samples = Vec::new();
    let walked = reader.walk(reader.data(), |_, raw| {
        if let Some(event) = reader.event_of(raw) {
            let event = &reader.events()[event];
            if let Ok((Record::Sample(sample), _)) = Record::parse(raw, &event.layout) {
                samples.push((event.name.raw().to_owned(), sample.period.unwrap()));
            }
        }
        Step::On
    });
    walked.unwrap();
    samples
}

#[test]
fn each_value_is_a_sample_of_its_event() {
    let profile = encoded(&rest(), &[sample(&[2, 20]), sample(&[0, 5])]);
    for bytes in [profile.clone(), compressed(&profile)] {
        let imported = imported(&bytes, Allowed::default()).unwrap().unwrap();
        let expected = [("samples", 2), ("cpu", 20_000_000), ("cpu", 5_000_000)];
        let expected = expected.map(|(name, weight)| (name.to_owned(), weight));
        assert_eq!(samples(&imported), expected);
        // As pprof does: the last type is shown first, unless the profile says otherwise.
        assert_eq!(imported.reader.events()[0].name.raw(), "cpu");
        assert!(imported.warnings.is_empty());
    }
    let rest = PprofRest {
        default_sample_type: 1,
        ..rest()
    };
    let imported = imported(&encoded(&rest, &[sample(&[2, 20])]), Allowed::default());
    let imported = imported.unwrap().unwrap();
    assert_eq!(imported.reader.events()[0].name.raw(), "samples");
}

#[test]
fn what_is_wrong_is_said() {
    let cases = [
        (
            encoded(&rest(), &[sample(&[1])]),
            "sample 1: 1 values for 2 sample types",
        ),
        (
            encoded(&rest(), &[sample(&[1, -1])]),
            "sample 1: a value below 0",
        ),
        (
            encoded(&rest(), &[sample(&[0, 0])]),
            "no stack has a count above 0",
        ),
        (
            encoded(&rest(), &[sample(&[1, i64::MAX])]),
            "sample 1: a time beyond 2^64 nanoseconds",
        ),
        (
            encoded(
                &rest(),
                &[
                    sample(&[i64::MAX, 0]),
                    sample(&[i64::MAX, 0]),
                    sample(&[2, 0]),
                ],
            ),
            "sample 3: the sum of all counts is over 2^64",
        ),
        (
            encoded(
                &rest(),
                &[PprofSample {
                    location_id: vec![9],
                    ..sample(&[1, 1])
                }],
            ),
            "sample 1: location 9 is not in the profile",
        ),
        (
            encoded(
                &PprofRest {
                    sample_type: Vec::new(),
                    ..rest()
                },
                &[],
            ),
            "no sample types",
        ),
    ];
    for (bytes, expected) in cases {
        let said = refused(&bytes);
        assert!(said.contains(expected), "{said} instead of {expected}");
    }
    let whole = compressed(&encoded(&rest(), &vec![sample(&[2, 20]); 3000]));
    let said = refused(&whole[..whole.len() - 9]);
    assert_eq!(said, "x.pb: pprof: the compressed data is cut off");
}

#[test]
fn numbers_that_lead_nowhere_have_no_name() {
    let mut rest = rest();
    rest.function[0].name = i64::MAX;
    rest.function[1].name = -5;
    rest.location[0].line[1].function_id = 99;
    rest.mapping[0].filename = 1000;
    let bytes = encoded(&rest, &[sample(&[1, 1])]);
    assert!(imported(&bytes, Allowed::default()).unwrap().is_some());
}

#[test]
fn deep_stacks_lose_their_outermost_functions_and_are_counted() {
    let deep = PprofSample {
        location_id: vec![7; 9000],
        ..sample(&[1, 1])
    };
    let deep = imported(&encoded(&rest(), &[deep]), Allowed::default());
    let warnings = deep.unwrap().unwrap().warnings;
    assert!(
        warnings[0].starts_with("1 stack has more than 8000 functions"),
        "{warnings:?}"
    );
    let mut rest = rest();
    rest.location[0].line = vec![
        PprofLine {
            function_id: 1,
            line: 3
        };
        300
    ];
    let inlined = encoded(&rest, &[sample(&[1, 1])]);
    assert!(imported(&inlined, Allowed::default()).unwrap().is_some());
}

#[test]
fn memory_and_room_on_the_disk_are_bounded() {
    let bomb = PprofRest {
        string_table: vec![String::new(); 1 << 20],
        ..rest()
    };
    let bytes = compressed(&encoded(&bomb, &[sample(&[1, 1])]));
    assert!(bytes.len() < 50_000);
    let small = Allowed {
        memory: Some(8 << 20),
        spool: None,
    };
    let said = imported(&bytes, small).unwrap_err().to_string();
    assert!(
        said.contains("needs more than 8388608 bytes of memory (--mem"),
        "{said}"
    );
    let many = encoded(&rest(), &vec![sample(&[1, 1]); 10_000]);
    let small = Allowed {
        memory: None,
        spool: Some(1 << 16),
    };
    let said = imported(&many, small).unwrap_err().to_string();
    assert!(said.contains("(--max-spool"), "{said}");
}

proptest! {
    #[test]
    fn a_damaged_profile_is_a_recording_or_an_error(
        edits in prop::collection::vec((0usize..400, any::<u8>()), 1..6),
        len in 0usize..400,
    ) {
        let mut bytes = encoded(&rest(), &[sample(&[2, 20]), sample(&[0, 5])]);
        for (at, byte) in edits {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        bytes.truncate(len);
        for bytes in [compressed(&bytes), bytes] {
            if let Ok(Some(imported)) = imported(&bytes, Allowed::default()) {
                prop_assert!(!samples(&imported).is_empty());
            }
        }
    }
}
