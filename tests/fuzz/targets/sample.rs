//! An attr and a record of its event: decoded, shown, and encoded to what decodes to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rprof_abi::{RawRecord, Record, SampleLayout};
use rprof_fuzz::{SampleInput, show};

fuzz_target!(|bytes: &[u8]| {
    let Some(input) = SampleInput::parse(bytes) else {
        return;
    };
    let layout = SampleLayout::new(&input.attr, input.endian);
    layout.event_id(input.raw);
    layout.sample_time(input.raw);
    let Ok((record, id)) = Record::parse(input.raw, &layout) else {
        return;
    };
    show(|fields| {
        record.visit(fields);
        fields.object("id", |fields| id.visit(fields));
    });
    let mut encoded = Vec::new();
    if record
        .encode(input.raw.misc, &id, &layout, &mut encoded)
        .is_err()
    {
        // Longer than a record can be.
        return;
    }
    let raw = RawRecord::parse(&encoded, input.endian).expect("a record is encoded whole");
    let (again, id_again) = Record::parse(raw, &layout).expect("what is encoded decodes");
    assert_eq!((&again, id_again), (&record, id), "{encoded:x?}");
});
