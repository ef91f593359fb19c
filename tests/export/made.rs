//! Recordings made by hand, without a machine or the time of day.

use rprof_abi::record::Record;
use rprof_abi::{
    AttrFlags, Endian, Misc, PerfEventAttr, Sample, SampleId, SampleLayout, SampleType,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent};
use std::fs::File;
use std::path::Path;

pub(super) const SECOND: u64 = 1_000_000_000;

/// A sample of process 10, always at the same address.
pub(super) struct MadeSample {
    /// By position.
    pub(super) event: usize,
    pub(super) time_ns: u64,
    pub(super) misc: Misc,
}

/// An event without recorded periods. `sampled` is its period, or with [`AttrFlags::FREQ`] its rate.
pub(super) fn made_event(
    name: &str,
    (kind, config): (u32, u64),
    sampled: u64,
    flags: AttrFlags,
) -> WrittenEvent {
    let types = [SampleType::IP, SampleType::TID, SampleType::TIME].into_iter();
    WrittenEvent {
        name: name.to_owned(),
        attr: PerfEventAttr {
            kind,
            config,
            sample_period: sampled,
            sample_type: types.fold(SampleType::IDENTIFIER, SampleType::with),
            flags: flags.with(AttrFlags::SAMPLE_ID_ALL),
            ..PerfEventAttr::default()
        },
        ids: Vec::new(),
    }
}

/// Writes a recording of samples.
pub(super) fn record(path: &Path, events: Vec<WrittenEvent>, samples: &[MadeSample]) {
    record_with(path, (events, Vec::new()), samples);
}

/// The same with feature sections.
pub(super) fn record_with(
    path: &Path,
    (mut events, features): (Vec<WrittenEvent>, Vec<(FeatureId, Vec<u8>)>),
    samples: &[MadeSample],
) {
    for (id, event) in (1..).zip(&mut events) {
        event.ids = vec![id];
    }
    let layout = SampleLayout::new(&events[0].attr, Endian::NATIVE);
    let mut records = Vec::new();
    for sample in samples {
        let record = Record::Sample(Box::new(Sample {
            id: Some(sample.event as u64 + 1),
            ip: Some(0x1000),
            pid: Some(10),
            tid: Some(10),
            time_ns: Some(sample.time_ns),
            ..Sample::default()
        }));
        let encoded = record.encode(sample.misc, &SampleId::default(), &layout, &mut records);
        encoded.unwrap();
    }
    let file = File::create(path).unwrap();
    let mut writer = Writer::start(file, path, &events, Vec::new()).unwrap();
    writer.write(&records).unwrap();
    writer.finish(features).unwrap();
}
