//! `seeds OUT FILE...`: writes what the targets start from, a folder of `OUT` for each, from those
//! files that are recordings.
//!
//! An example, not a program of the package: those are all built with coverage.

use rprof_abi::{RawRecord, RecordKind};
use rprof_fuzz::{SampleInput, Section, SectionInput};
use rprof_perfdata::{Reader, Step};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Larger recordings are too slow to start from.
const MAX_RECORDING: usize = 64 << 10;

/// Records of one kind of one event; more of them show nothing new.
const MAX_ALIKE: usize = 3;

fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let out = args.next().expect("seeds OUT FILE...");
    for target in ["reader", "report", "sample", "features"] {
        fs::create_dir_all(out.join(target))?;
    }
    for (place, path) in args.enumerate() {
        let bytes = fs::read(&path)?;
        let is_recording = bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP");
        if is_recording && bytes.len() <= MAX_RECORDING {
            for target in ["reader", "report"] {
                fs::write(out.join(target).join(place.to_string()), &bytes)?;
            }
            write_parts(&out, place, &bytes)?;
        }
    }
    Ok(())
}

/// Records and feature sections as inputs of their own.
fn write_parts(out: &Path, place: usize, bytes: &[u8]) -> io::Result<()> {
    let Ok(reader) = Reader::from_bytes(Path::new("seed"), bytes.to_vec()) else {
        // Damaged: good enough for the reader.
        return Ok(());
    };
    let mut seeds: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut n_alike: HashMap<(RecordKind, usize), usize> = HashMap::new();
    let take = |_, raw: RawRecord<'_>| {
        let event = reader.event_of(raw).unwrap_or(0);
        let n = n_alike.entry((raw.kind, event)).or_default();
        *n += 1;
        if *n <= MAX_ALIKE {
            seeds.push(seed_of(&reader, event, raw));
        }
        Step::On
    };
    reader.walk(reader.data(), take).map_err(io::Error::other)?;
    for &(id, _) in reader.features() {
        if let Ok(Some(bytes)) = reader.feature(id) {
            let input = SectionInput {
                endian: reader.endian(),
                what: Section::Feature(id),
                bytes: &bytes,
            };
            seeds.push(("features", input.encode()));
        }
    }
    for (number, (target, seed)) in seeds.iter().enumerate() {
        fs::write(out.join(target).join(format!("{place}-{number}")), seed)?;
    }
    Ok(())
}

fn seed_of(reader: &Reader, event: usize, raw: RawRecord<'_>) -> (&'static str, Vec<u8>) {
    let endian = reader.endian();
    if raw.kind.name().is_none() {
        let input = SectionInput {
            endian,
            what: Section::Record(raw.kind),
            bytes: raw.body,
        };
        return ("features", input.encode());
    }
    let attr = reader.events()[event].attr.clone();
    ("sample", SampleInput { endian, attr, raw }.encode())
}
