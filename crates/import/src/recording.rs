//! The recording that is made of stacks.

use crate::Error;
use crate::folded::FoldedStack;
use rprof_abi::record::Comm;
use rprof_abi::{
    Callchain, Encoder, Endian, Misc, PerfEventAttr, Record, Sample, SampleId, SampleLayout,
    SampleType, context, event_type,
};
use rprof_base::Interner;
use rprof_perfdata::{FeatureId, Reader, SyntheticFunction, SyntheticImage, Writer, WrittenEvent};
use rprof_untrusted::Allowed;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Functions of a stack at most: what a record has room for.
const MOST_FUNCTIONS: usize = 8000;

/// Bytes of records that are written together.
const BUFFER: usize = 1 << 16;

/// Why a stack is not added.
pub(crate) enum AddError {
    /// There is too much in it, or in all.
    Stack(String),
    /// The file cannot be written.
    Write(rprof_perfdata::Error),
}

/// A recording in a temporary file without a name.
pub(crate) struct Recording {
    path: PathBuf,
    file: File,
    writer: Writer,
    layout: SampleLayout,
    image: SyntheticImage,
    /// Each is a process.
    threads: Interner<u32, String>,
    /// Records that are not written yet.
    records: Vec<u8>,
    /// Of all stacks.
    count: u64,
}

impl Recording {
    /// Starts one that is called as the file it is made of.
    ///
    /// # Errors
    /// [`Error`]: the temporary file cannot be made.
    pub(crate) fn start(path: &Path) -> Result<Self, Error> {
        let temporary = |source| Error::Temporary {
            folder: std::env::temp_dir(),
            source,
        };
        let file = tempfile::tempfile().map_err(temporary)?;
        let bits = [
            SampleType::IP,
            SampleType::TID,
            SampleType::PERIOD,
            SampleType::CALLCHAIN,
        ];
        let attr = PerfEventAttr {
            kind: event_type::RAW,
            sample_period: 1,
            sample_type: bits
                .into_iter()
                .fold(SampleType::default(), SampleType::with),
            ..PerfEventAttr::default()
        };
        let event = WrittenEvent {
            name: "samples".to_owned(),
            attr: attr.clone(),
            ids: vec![1],
        };
        let own = file.try_clone().map_err(temporary)?;
        Ok(Self {
            path: path.to_owned(),
            writer: Writer::start(own, path, &[event], Vec::new())?,
            file,
            layout: SampleLayout::new(&attr, Endian::NATIVE),
            image: SyntheticImage::new(b"[folded]"),
            threads: Interner::default(),
            records: Vec::new(),
            count: 0,
        })
    }

    /// Adds a stack as one sample.
    pub(crate) fn add(&mut self, stack: &FoldedStack<'_>) -> Result<(), AddError> {
        if stack.count == 0 {
            return Ok(());
        }
        if stack.functions.len() > MOST_FUNCTIONS {
            let why = format!("more than {MOST_FUNCTIONS} functions");
            return Err(AddError::Stack(why));
        }
        let sum = self.count.checked_add(stack.count);
        let too_many = || AddError::Stack("the sum of all counts is over 2^64".to_owned());
        self.count = sum.ok_or_else(too_many)?;
        let pid = self.process(stack.thread)?;
        let mut chain = context::USER.to_ne_bytes().to_vec();
        let mut innermost = None;
        for name in stack.functions.iter().rev() {
            let function = SyntheticFunction {
                name: name.as_bytes().to_vec(),
                line: None,
            };
            let address = self.image.address(function);
            let address =
                address.ok_or_else(|| AddError::Stack("too many functions".to_owned()))?;
            innermost.get_or_insert(address.0);
            chain.extend(address.0.to_ne_bytes());
        }
        let sample = Sample {
            ip: innermost,
            pid: Some(pid),
            tid: Some(pid),
            period: Some(stack.count),
            callchain: Some(Callchain::from_encoded(&chain, Endian::NATIVE)),
            ..Sample::default()
        };
        self.push(&Record::Sample(Box::new(sample)))?;
        if self.records.len() >= BUFFER {
            self.writer.write(&self.records).map_err(AddError::Write)?;
            self.records.clear();
        }
        Ok(())
    }

    /// The process that stands for a thread.
    fn process(&mut self, thread: &str) -> Result<i32, AddError> {
        let n_known = self.threads.len();
        let number = self.threads.intern_ref(thread);
        let pid = i32::try_from(number).unwrap_or(i32::MAX - 1) + 1;
        if self.threads.len() > n_known {
            let comm = Comm {
                pid,
                tid: pid,
                comm: thread.as_bytes(),
            };
            self.push(&Record::Comm(comm))?;
            self.push(&Record::Mmap2(self.image.mapping(pid)))?;
        }
        Ok(pid)
    }

    fn push(&mut self, record: &Record<'_>) -> Result<(), AddError> {
        let id = SampleId::default();
        let encoded = record.encode(Misc::USER, &id, &self.layout, &mut self.records);
        encoded.map_err(|error| AddError::Stack(error.to_string()))
    }

    /// Completes the recording and opens it.
    ///
    /// # Errors
    /// [`Error`]: nothing was counted; the temporary file cannot be written or read.
    pub(crate) fn finish(mut self, allowed: Allowed) -> Result<Reader, Error> {
        if self.count == 0 {
            return Err(Error::NoCounts { path: self.path });
        }
        self.writer.write(&self.records)?;
        let mut names = Vec::new();
        let section = self.image.names();
        section.encode(&mut Encoder::new(&mut names, Endian::NATIVE));
        self.writer.finish(vec![(FeatureId::SYMBOLS, names)])?;
        Ok(Reader::from_file_allowing(&self.path, self.file, allowed)?)
    }
}
