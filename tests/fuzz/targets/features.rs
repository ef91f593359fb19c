//! Any bytes as a feature section or a record of the file's own kinds: decoded and shown.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_abi::{Misc, RawRecord};
use rprof_fuzz::{Section, SectionInput, show};
use rprof_perfdata::{Feature, FileRecord};

fuzz_target!(|bytes: &[u8]| {
    let Some(SectionInput {
        endian,
        what,
        bytes,
    }) = SectionInput::parse(bytes)
    else {
        return;
    };
    match what {
        Section::Feature(id) => {
            if let Ok(feature) = Feature::parse(id, bytes, endian) {
                show(|fields| feature.visit(fields));
            }
        }
        Section::Record(kind) => {
            let raw = RawRecord {
                kind,
                misc: Misc(0),
                body: bytes,
            };
            if let Ok(record) = FileRecord::parse(raw, endian) {
                show(|fields| record.visit(fields));
            }
        }
    }
});
