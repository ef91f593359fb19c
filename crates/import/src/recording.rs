//! The recording that is made of samples and stacks.

use crate::Error;
use foldhash::{HashMap, HashSet};
use rprof_abi::record::Comm;
#[cfg(feature = "parquet")]
use rprof_abi::record::{Lost, LostSamples};
use rprof_abi::{
    AttrFlags, Callchain, Encoder, Endian, Misc, PerfEventAttr, Record, Sample, SampleId,
    SampleLayout, SampleType, context, event_type, hw, sw,
};
use rprof_base::Interner;
use rprof_perfdata::{FeatureId, Reader, SyntheticImages, Writer, WrittenEvent};
use rprof_untrusted::{Allowed, Budget, Held};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A recording that was made of a file.
#[derive(Debug)]
pub struct Imported {
    /// The recording.
    pub reader: Reader,
    /// What is not as it was in the file: sentences.
    pub warnings: Vec<String>,
}

/// Functions of a stack at most: what a record has room for.
pub(crate) const MOST_FUNCTIONS: usize = 8000;

/// Bytes of records that are written together.
const BUFFER: usize = 1 << 16;

/// Bytes of memory that a task or a mapping of a process takes in a table.
const TABLE_BYTES: u64 = 32;

/// Why a sample is not added.
pub(crate) enum AddError {
    /// There is too much in it, or in all.
    Sample(String),
    /// The recording cannot be made.
    Recording(Error),
}

impl From<Error> for AddError {
    fn from(error: Error) -> Self {
        Self::Recording(error)
    }
}

/// An event of the recording.
#[derive(Clone, Debug)]
pub(crate) struct ImportedEvent {
    pub(crate) name: String,
    pub(crate) counts: Counts,
    pub(crate) sampled: Sampled,
}

/// When samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampled {
    /// Each time that so much was counted; 1 for what is counted one by one.
    Every(u64),
    /// This many times a second.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "said by tables"))]
    PerSecond(u64),
}

/// What weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Nanoseconds on a CPU.
    CpuTime,
    /// CPU cycles.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "said by tables"))]
    Cycles,
    /// Something else.
    Other,
}

/// What a recording is begun with.
pub(crate) struct Start<'a> {
    /// The file that it is made of: it is called like it.
    pub(crate) path: &'a Path,
    pub(crate) events: &'a [ImportedEvent],
    /// Whether samples say when they were taken, and on which CPU.
    pub(crate) has: Has,
    pub(crate) budget: &'a Budget,
}

/// What samples say beside their task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Has {
    pub(crate) times: bool,
    /// Whether times are since 1970; else they are of a clock that is not known.
    pub(crate) wall_times: bool,
    pub(crate) cpus: bool,
}

/// A sample but for its stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskSample<'a> {
    /// By position.
    pub(crate) event: usize,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) comm: &'a [u8],
    pub(crate) time_ns: u64,
    pub(crate) cpu: Option<u32>,
    pub(crate) weight: u64,
}

/// An address of a function in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackAddress {
    pub(crate) address: u64,
    pub(crate) image: u32,
    pub(crate) is_kernel: bool,
}

/// A recording in a temporary file without a name.
pub(crate) struct Recording {
    path: PathBuf,
    file: File,
    writer: Writer,
    layout: SampleLayout,
    /// The functions of stacks.
    pub(crate) images: SyntheticImages,
    /// What is mapped: process (-1 for the kernel) and image.
    mapped: HashSet<(i32, u32)>,
    /// What each thread was called last, and since when.
    comms: HashMap<i32, (u32, u64)>,
    names: Interner<u32, Vec<u8>>,
    /// Names that stand for a process each.
    processes: Interner<u32, Vec<u8>>,
    /// What tables take.
    held: Held,
    chain: Vec<u8>,
    /// Records that are not written yet.
    records: Vec<u8>,
    /// By event, of all samples.
    weights: Vec<u64>,
}

impl Recording {
    /// Starts one.
    ///
    /// # Errors
    /// [`Error`]: the temporary file cannot be made.
    pub(crate) fn start(start: &Start<'_>) -> Result<Self, Error> {
        let temporary = |source| Error::Temporary {
            folder: std::env::temp_dir(),
            source,
        };
        let file = tempfile::tempfile().map_err(temporary)?;
        let attrs = start.events.iter().map(|event| event.attr(start.has));
        let attrs: Vec<PerfEventAttr> = attrs.collect();
        let layout = attrs.first().cloned().unwrap_or_default();
        let events = (1u64..).zip(start.events).zip(attrs);
        let events = events.map(|((id, event), attr)| WrittenEvent {
            name: event.name.clone(),
            attr,
            ids: vec![id],
        });
        let events: Vec<WrittenEvent> = events.collect();
        let own = file.try_clone().map_err(temporary)?;
        Ok(Self {
            path: start.path.to_owned(),
            writer: Writer::start(own, start.path, &events, Vec::new())?,
            file,
            layout: SampleLayout::new(&layout, Endian::NATIVE),
            images: SyntheticImages::default(),
            mapped: HashSet::default(),
            comms: HashMap::default(),
            names: Interner::default(),
            processes: Interner::default(),
            held: start.budget.hold_nothing(),
            chain: Vec::new(),
            records: Vec::new(),
            weights: vec![0; events.len()],
        })
    }

    /// Adds a sample with its stack, innermost first; one that weighs nothing is none.
    pub(crate) fn add(
        &mut self,
        sample: &TaskSample<'_>,
        stack: &[StackAddress],
    ) -> Result<(), AddError> {
        if sample.weight == 0 {
            return Ok(());
        }
        if stack.len() > MOST_FUNCTIONS {
            let why = format!("more than {MOST_FUNCTIONS} functions");
            return Err(AddError::Sample(why));
        }
        if let Some(sum) = self.weights.get_mut(sample.event) {
            let more = sum.checked_add(sample.weight);
            let too_many = || AddError::Sample("the sum of all counts is over 2^64".to_owned());
            *sum = more.ok_or_else(too_many)?;
        }
        self.name(sample)?;
        for one in stack {
            self.map(sample.pid, *one)?;
        }
        let mut chain = std::mem::take(&mut self.chain);
        encode_chain(stack, &mut chain);
        let innermost = stack.first();
        let record = Record::Sample(Box::new(Sample {
            id: Some(sample.event as u64 + 1),
            ip: Some(innermost.map_or(0, |one| one.address)),
            pid: Some(sample.pid),
            tid: Some(sample.tid),
            time_ns: Some(sample.time_ns),
            cpu: Some(sample.cpu.unwrap_or(u32::MAX)),
            period: Some(sample.weight),
            callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
            ..Sample::default()
        }));
        let misc = match innermost {
            Some(one) if one.is_kernel => Misc::KERNEL,
            _ => Misc::USER,
        };
        let encoded = push(
            &mut self.records,
            &self.layout,
            (misc, &AT_THE_START),
            &record,
        );
        drop(record);
        self.chain = chain;
        encoded?;
        if self.records.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    /// The process that stands for a name, where samples do not say theirs.
    pub(crate) fn process(&mut self, name: &[u8]) -> Result<i32, Error> {
        let n_known = self.processes.len();
        let number = self.processes.intern_ref(name);
        if self.processes.len() > n_known {
            self.hold(TABLE_BYTES + 2 * name.len() as u64)?;
        }
        Ok(i32::try_from(number).unwrap_or(i32::MAX - 1) + 1)
    }

    /// Says what the thread of a sample is called, if it was called otherwise before.
    fn name(&mut self, sample: &TaskSample<'_>) -> Result<(), AddError> {
        let n_names = self.names.len();
        let name = self.names.intern_ref(sample.comm);
        if self.names.len() > n_names {
            self.hold(TABLE_BYTES + 2 * sample.comm.len() as u64)?;
        }
        let known = self.comms.get(&sample.tid).copied();
        if known.is_none() {
            self.hold(TABLE_BYTES)?;
        }
        // Samples may come in any order of time.
        if known.is_some_and(|(known, since)| known == name && since <= sample.time_ns) {
            return Ok(());
        }
        self.comms.insert(sample.tid, (name, sample.time_ns));
        let comm = Record::Comm(Comm {
            pid: sample.pid,
            tid: sample.tid,
            comm: sample.comm,
        });
        let id = SampleId {
            pid: Some(sample.pid),
            tid: Some(sample.tid),
            time_ns: Some(sample.time_ns),
            id: Some(sample.event as u64 + 1),
            cpu: Some(0),
            ..SampleId::default()
        };
        push(&mut self.records, &self.layout, (Misc::USER, &id), &comm)
    }

    /// Maps the image of an address, if the process does not have it yet.
    fn map(&mut self, pid: i32, one: StackAddress) -> Result<(), AddError> {
        let space = if one.is_kernel { -1 } else { pid };
        if !self.mapped.insert((space, one.image)) {
            return Ok(());
        }
        self.hold(TABLE_BYTES)?;
        let Some((misc, mapping)) = self.images.mapping(one.image, pid) else {
            return Ok(());
        };
        let record = Record::Mmap2(mapping);
        push(
            &mut self.records,
            &self.layout,
            (misc, &AT_THE_START),
            &record,
        )?;
        // One sample may bring thousands.
        if self.records.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    /// Says that samples of an event were lost.
    #[cfg(feature = "parquet")]
    pub(crate) fn lose(&mut self, event: usize, samples: u64, at_least: bool) -> Result<(), Error> {
        let id = event as u64 + 1;
        let record = if at_least {
            Record::Lost(Lost { id, lost: samples })
        } else {
            Record::LostSamples(LostSamples { lost: samples })
        };
        let id = SampleId {
            id: Some(id),
            ..AT_THE_START
        };
        // It is short, and a vector takes whatever comes.
        let _ = push(&mut self.records, &self.layout, (Misc::USER, &id), &record);
        self.flush()
    }

    /// Takes memory for what is distinct.
    pub(crate) fn hold(&mut self, bytes: u64) -> Result<(), Error> {
        let held = self.held.grow(bytes);
        held.map_err(|_| Error::memory(&self.path, self.held.budget()))
    }

    fn flush(&mut self) -> Result<(), Error> {
        let budget = self.held.budget();
        let spooled = budget.spool(self.records.len() as u64);
        spooled.map_err(|_| Error::spool(&self.path, budget))?;
        self.writer.write(&self.records)?;
        self.records.clear();
        Ok(())
    }

    /// Completes the recording and opens it.
    ///
    /// # Errors
    /// [`Error`]: nothing was counted; the temporary file cannot be written or read.
    pub(crate) fn finish(self, allowed: Allowed) -> Result<Reader, Error> {
        self.finish_with(Vec::new(), allowed)
    }

    /// The same with more sections.
    pub(crate) fn finish_with(
        mut self,
        mut sections: Vec<(FeatureId, Vec<u8>)>,
        allowed: Allowed,
    ) -> Result<Reader, Error> {
        if self.weights.iter().all(|&weight| weight == 0) {
            return Err(Error::NoCounts { path: self.path });
        }
        self.flush()?;
        let mut names = Vec::new();
        let section = self.images.into_names();
        section.encode(&mut Encoder::new(&mut names, Endian::NATIVE));
        sections.push((FeatureId::SYMBOLS, names));
        self.writer.finish(sections)?;
        Ok(Reader::from_file_allowing(&self.path, self.file, allowed)?)
    }
}

impl ImportedEvent {
    fn attr(&self, has: Has) -> PerfEventAttr {
        let mut bits = vec![
            SampleType::IDENTIFIER,
            SampleType::IP,
            SampleType::TID,
            SampleType::PERIOD,
            SampleType::CALLCHAIN,
        ];
        bits.extend(has.cpus.then_some(SampleType::CPU));
        bits.extend(has.times.then_some(SampleType::TIME));
        let (kind, config) = match self.counts {
            Counts::CpuTime => (event_type::SOFTWARE, sw::CPU_CLOCK),
            Counts::Cycles => (event_type::HARDWARE, hw::CPU_CYCLES),
            Counts::Other => (event_type::RAW, 0),
        };
        let (sample_period, frequency) = match self.sampled {
            Sampled::Every(period) => (period, None),
            Sampled::PerSecond(rate) => (rate, Some(AttrFlags::FREQ)),
        };
        // CLOCK_REALTIME has the number 0.
        let clock = has.wall_times.then_some(AttrFlags::USE_CLOCKID);
        let flags = [Some(AttrFlags::SAMPLE_ID_ALL), frequency, clock];
        PerfEventAttr {
            kind,
            config,
            sample_period,
            flags: flags
                .into_iter()
                .flatten()
                .fold(AttrFlags::default(), AttrFlags::with),
            sample_type: bits
                .into_iter()
                .fold(SampleType::default(), SampleType::with),
            ..PerfEventAttr::default()
        }
    }
}

/// What mappings say: they are there from the start.
const AT_THE_START: SampleId = SampleId {
    pid: Some(0),
    tid: Some(0),
    time_ns: Some(0),
    id: Some(1),
    stream_id: None,
    cpu: Some(0),
};

/// Appends a record.
fn push(
    records: &mut Vec<u8>,
    layout: &SampleLayout,
    (misc, id): (Misc, &SampleId),
    record: &Record<'_>,
) -> Result<(), AddError> {
    let encoded = record.encode(misc, id, layout, records);
    encoded.map_err(|error| AddError::Sample(error.to_string()))
}

/// A call chain: addresses after markers of their level.
fn encode_chain(stack: &[StackAddress], chain: &mut Vec<u8>) {
    chain.clear();
    for level in stack.chunk_by(|a, b| a.is_kernel == b.is_kernel) {
        let is_kernel = level.first().is_some_and(|one| one.is_kernel);
        let marker = if is_kernel {
            context::KERNEL
        } else {
            context::USER
        };
        chain.extend(marker.to_ne_bytes());
        chain.extend(level.iter().flat_map(|one| one.address.to_ne_bytes()));
    }
}
