//! Recordings that nobody recorded: made of whatever a test puts into them.

use rprof_abi::record::{Comm, FileIdentity, Inode, Mmap2};
use rprof_abi::{
    AttrFlags, Callchain, Endian, Misc, PerfEventAttr, Record, Sample, SampleId, SampleLayout,
    SampleType, context, event_type, sw,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent};
use std::fs::File;
use std::path::Path;

/// A recording of one process.
#[derive(Clone)]
pub(crate) struct Crafted {
    pub(crate) events: Vec<WrittenEvent>,
    pub(crate) features: Vec<(FeatureId, Vec<u8>)>,
    records: Vec<u8>,
    time_ns: u64,
}

/// The process that all records are of. No process has this id: ids end at 4 million.
pub(crate) const PID: i32 = 1 << 23;

/// The id of the first event.
pub(crate) const ID: u64 = 1;

impl Crafted {
    /// Without records, of an event with this name.
    pub(crate) fn new(event: &str) -> Self {
        let attr = PerfEventAttr {
            kind: event_type::SOFTWARE,
            config: sw::CPU_CLOCK,
            sample_period: 1,
            sample_type: [
                SampleType::IDENTIFIER,
                SampleType::IP,
                SampleType::TID,
                SampleType::TIME,
                SampleType::PERIOD,
            ]
            .into_iter()
            .fold(SampleType::default(), SampleType::with),
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..PerfEventAttr::default()
        };
        Self {
            events: vec![WrittenEvent {
                name: event.to_owned(),
                attr,
                ids: vec![ID],
            }],
            features: Vec::new(),
            records: Vec::new(),
            time_ns: 1_000_000_000,
        }
    }

    /// The same, whose samples have call chains.
    pub(crate) fn with_chains(event: &str) -> Self {
        let mut crafted = Self::new(event);
        let attr = &mut crafted.events[0].attr;
        attr.sample_type = attr.sample_type.with(SampleType::CALLCHAIN);
        crafted
    }

    /// A record of the first event.
    pub(crate) fn add(&mut self, misc: Misc, record: &Record<'_>) {
        self.add_of(0, misc, record);
    }

    /// A record of an event.
    pub(crate) fn add_of(&mut self, event: usize, misc: Misc, record: &Record<'_>) {
        self.time_ns += 1000;
        let event = &self.events[event];
        let layout = SampleLayout::new(&event.attr, Endian::NATIVE);
        let id = event.ids.first().copied();
        let sample_id = SampleId {
            pid: Some(PID),
            tid: Some(PID),
            time_ns: Some(self.time_ns),
            id,
            ..SampleId::default()
        };
        let mut record = record.clone();
        if let Record::Sample(sample) = &mut record {
            (sample.time_ns, sample.id) = (Some(self.time_ns), id);
        }
        let encoded = record.encode(misc, &sample_id, &layout, &mut self.records);
        encoded.unwrap();
    }

    /// Its process has a name.
    pub(crate) fn comm(&mut self, comm: &[u8]) {
        let comm = Comm {
            pid: PID,
            tid: PID,
            comm,
        };
        self.add(Misc::USER, &Record::Comm(comm));
    }

    /// A file is mapped as code, from its beginning.
    pub(crate) fn map(&mut self, filename: &[u8], addr: u64, len: u64) {
        let map = Mmap2 {
            pid: PID,
            tid: PID,
            addr,
            len,
            pgoff: 0,
            identity: FileIdentity::Inode(Inode::default()),
            prot: 5,
            flags: 2,
            filename,
        };
        self.add(Misc::USER, &Record::Mmap2(map));
    }

    /// A sample in user space.
    pub(crate) fn sample(&mut self, ip: u64) {
        self.add(Misc::USER, &Record::Sample(Box::new(sample(ip))));
    }

    /// A sample in user space with its callers, innermost first.
    pub(crate) fn sample_with_chain(&mut self, chain: &[u64]) {
        let chain: Vec<u8> = [context::USER]
            .iter()
            .chain(chain)
            .flat_map(|entry| entry.to_ne_bytes())
            .collect();
        let sample = Sample {
            callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
            ..sample(0x1000)
        };
        self.add(Misc::USER, &Record::Sample(Box::new(sample)));
    }

    /// Writes it.
    pub(crate) fn write(self, path: &Path) {
        let file = File::create(path).unwrap();
        let mut writer = Writer::start(file, path, &self.events, self.features).unwrap();
        writer.write(&self.records).unwrap();
        writer.finish(Vec::new()).unwrap();
    }
}

/// A sample of the process, for an event that holds no more.
pub(crate) fn sample(ip: u64) -> Sample<'static> {
    Sample {
        ip: Some(ip),
        pid: Some(PID),
        tid: Some(PID),
        period: Some(1),
        ..Sample::default()
    }
}
