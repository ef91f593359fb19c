//! Recordings of a process that runs the program of the fixture `spin`, with the samples that a test makes.

use rprof_abi::record::{Comm, FileIdentity, Inode, Mmap2};
use rprof_abi::{
    AttrFlags, Endian, Misc, PerfEventAttr, Record, Sample, SampleId, SampleLayout, SampleType,
    event_type, sw,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent};
use std::fs::File;
use std::path::Path;

/// No process has this id: ids end at 4 million.
pub(super) const PID: i32 = 1 << 23;

/// Functions of the program of the fixture `spin`.
pub(super) const HOT: u64 = 0x40_1000;
pub(super) const COLD: u64 = 0x40_1049;
pub(super) const WORK: u64 = 0x40_108a;

/// What a recording is to have beside samples.
pub(super) struct Made {
    pub(super) attr: PerfEventAttr,
    pub(super) features: Vec<(FeatureId, Vec<u8>)>,
    /// Records that come before the samples, encoded.
    pub(super) sideband: Vec<u8>,
}

impl Made {
    /// Of samples that hold this beside the usual.
    pub(super) fn new(bits: &[SampleType]) -> Self {
        let usual = [
            SampleType::IP,
            SampleType::TID,
            SampleType::TIME,
            SampleType::PERIOD,
        ];
        let bits = usual.iter().chain(bits).copied();
        Self {
            attr: PerfEventAttr {
                kind: event_type::SOFTWARE,
                config: sw::CPU_CLOCK,
                sample_period: 1000,
                sample_type: bits.fold(SampleType::default(), SampleType::with),
                flags: AttrFlags::SAMPLE_ID_ALL,
                ..PerfEventAttr::default()
            },
            features: Vec::new(),
            sideband: Vec::new(),
        }
    }

    /// Writes it; samples get times and the process.
    pub(super) fn write(self, path: &Path, samples: &[Sample<'_>]) {
        let layout = SampleLayout::new(&self.attr, Endian::NATIVE);
        let mut records = self.sideband;
        let comm = Record::Comm(Comm {
            pid: PID,
            tid: PID,
            comm: b"spin",
        });
        let map = Record::Mmap2(Mmap2 {
            pid: PID,
            tid: PID,
            addr: 0x40_1000,
            len: 0x1000,
            pgoff: 0x1000,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 2,
            filename: b"/tmp/rprof-fixture/spin",
        });
        let samples = samples.iter().map(|sample| {
            Record::Sample(Box::new(Sample {
                pid: Some(PID),
                tid: Some(PID),
                ..sample.clone()
            }))
        });
        for (time_ns, mut record) in (1_000_000_000..).zip([comm, map].into_iter().chain(samples)) {
            let id = SampleId {
                pid: Some(PID),
                tid: Some(PID),
                time_ns: Some(time_ns),
                ..SampleId::default()
            };
            if let Record::Sample(sample) = &mut record {
                sample.time_ns = Some(time_ns);
            }
            record
                .encode(Misc::USER, &id, &layout, &mut records)
                .unwrap();
        }
        let event = WrittenEvent {
            name: "cpu-clock".to_owned(),
            attr: self.attr,
            ids: vec![1],
        };
        let file = File::create(path).unwrap();
        let mut writer = Writer::start(file, path, &[event], self.features).unwrap();
        writer.write(&records).unwrap();
        writer.finish(Vec::new()).unwrap();
    }
}
