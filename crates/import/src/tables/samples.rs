//! Samples: which recordings they are of, and a recording of those of one.

use super::code::{Code, FrameRow};
use super::columns::{Batch, Kind, TableFile, Wanted};
use super::files::{Files, FoundFile};
use super::key::RecordingKey;
use super::recordings::Facts;
use crate::Error;
use crate::names::{Level, image_identity};
use crate::recording::{
    AddError, Counts, Has, Imported, ImportedEvent, MOST_FUNCTIONS, Recording, Sampled,
    StackAddress, Start, TaskSample,
};
use foldhash::HashMap;
use rprof_perfdata::feature::EmbeddedNames;
use rprof_perfdata::{SyntheticFunction, SyntheticLevel};
use rprof_untrusted::{Allowed, Budget};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

/// What the samples of a recording have.
#[derive(Debug, Default)]
pub(super) struct FoundRecording {
    /// The files that they are in.
    files: Vec<FoundFile>,
    events: BTreeSet<Vec<u8>>,
    has: Has,
}

const fn wanted(name: &'static str, kind: Kind) -> Wanted {
    Wanted {
        name,
        kind,
        is_required: false,
    }
}

const RECORDING: usize = 0;
const MACHINE: usize = 1;
const EVENT: usize = 2;
const TIME: usize = 3;
const CPU: usize = 4;
const PID: usize = 5;
const TID: usize = 6;
const COMM: usize = 7;
const WEIGHT: usize = 8;
const STACK: usize = 9;

const COLUMNS: [Wanted; 10] = [
    wanted("recording", Kind::Text),
    wanted("machine", Kind::Text),
    wanted("event", Kind::Text),
    wanted("time_ns", Kind::Number),
    wanted("cpu", Kind::Number),
    wanted("pid", Kind::Number),
    wanted("tid", Kind::Number),
    wanted("comm", Kind::Text),
    wanted("weight", Kind::Number),
    Wanted {
        name: "stack_hash",
        kind: Kind::Number,
        is_required: true,
    },
];

/// Columns that say what recordings there are.
const OF_RECORDINGS: usize = CPU + 1;

/// What samples of no event count as.
const NO_EVENT: &[u8] = b"samples";

/// Events of a recording at most.
const MOST_EVENTS: usize = 1024;

/// Bytes that a recording takes in the list of them.
const RECORDING_BYTES: u64 = 512;

/// Finds the recordings that samples are of.
pub(super) fn find_recordings(
    files: &Files,
    budget: &Budget,
) -> Result<BTreeMap<RecordingKey, FoundRecording>, Error> {
    let mut all: BTreeMap<RecordingKey, FoundRecording> = BTreeMap::new();
    let mut held = budget.hold_nothing();
    for file in files.of("samples") {
        // That it has stacks is said here, too.
        TableFile::open(file, &COLUMNS)?;
        let table = TableFile::open(file, &COLUMNS[..OF_RECORDINGS])?;
        let mut partition = Partition::new(file);
        table.for_each_batch(budget, |batch| {
            for row in 0..batch.n_rows {
                let key = partition.key(batch, row);
                if !all.contains_key(key) {
                    let grown = held.grow(RECORDING_BYTES);
                    grown.map_err(|_| Error::memory(&file.path, budget))?;
                }
                let found = match all.get_mut(key) {
                    Some(found) => found,
                    None => all.entry(key.clone()).or_default(),
                };
                found.add(file, batch, row)?;
            }
            Ok(())
        })?;
    }
    Ok(all)
}

impl FoundRecording {
    fn add(&mut self, file: &FoundFile, batch: &Batch, row: usize) -> Result<(), Error> {
        if self.files.last() != Some(file) {
            self.files.push(file.clone());
        }
        let event = batch.text(EVENT, row).unwrap_or(NO_EVENT);
        if !self.events.contains(event) {
            if self.events.len() >= MOST_EVENTS {
                return Err(Error::table(&file.path, "a recording with too many events"));
            }
            self.events.insert(event.to_vec());
        }
        self.has.times |= batch.number(TIME, row).is_some();
        self.has.cpus |= batch.number(CPU, row).is_some();
        Ok(())
    }

    /// The events: those that are listed with their units, then others.
    fn events(&self, facts: &Facts) -> Vec<ImportedEvent> {
        let mut events: Vec<ImportedEvent> = Vec::new();
        for (event, _) in &facts.events {
            events.push(event.clone());
        }
        for name in &self.events {
            let name = String::from_utf8_lossy(name).into_owned();
            if !events.iter().any(|event| event.name == name) {
                events.push(ImportedEvent {
                    counts: counts_of(&name),
                    name,
                    sampled: Sampled::Every(1),
                });
            }
        }
        events
    }
}

/// What an event counts, where only its name is known.
fn counts_of(name: &str) -> Counts {
    match name.split(':').next() {
        Some("cpu-clock" | "task-clock") => Counts::CpuTime,
        Some("cycles" | "cpu-cycles") => Counts::Cycles,
        _ => Counts::Other,
    }
}

/// Machine and recording of rows: in their columns, or in the path of the file.
struct Partition {
    machine: Option<Vec<u8>>,
    recording: Vec<u8>,
    /// Of the row before.
    key: RecordingKey,
}

impl Partition {
    fn new(file: &FoundFile) -> Self {
        Self {
            machine: file.partition("machine"),
            recording: file.partition("recording").unwrap_or_default(),
            key: RecordingKey::default(),
        }
    }

    fn key(&mut self, batch: &Batch, row: usize) -> &RecordingKey {
        let recording = if batch.has(RECORDING) {
            batch.text(RECORDING, row).unwrap_or_default()
        } else {
            &self.recording
        };
        let machine = if batch.has(MACHINE) {
            batch.text(MACHINE, row)
        } else {
            self.machine.as_deref()
        };
        if self.key.recording != recording || self.key.machine.as_deref() != machine {
            self.key = RecordingKey {
                recording: recording.to_vec(),
                machine: machine.map(<[u8]>::to_vec),
            };
        }
        &self.key
    }
}

/// Makes a recording of the rows of one.
pub(super) fn import(
    (name, key): (&Path, &RecordingKey),
    found: &FoundRecording,
    facts: Option<&Facts>,
    (code, budget): (&Code, &Budget),
    allowed: Allowed,
) -> Result<Imported, Error> {
    let unknown = Facts::unlisted(found.has.times);
    let facts = facts.unwrap_or(&unknown);
    let events = found.events(facts);
    let numbers = (0..).zip(&events);
    let numbers = numbers.map(|(number, event)| (event.name.clone().into_bytes(), number));
    let mut import = Import {
        code,
        events: numbers.collect(),
        recording: Recording::start(&Start {
            path: name,
            events: &events,
            has: Has {
                wall_times: facts.has_wall_times,
                ..found.has
            },
            budget,
        })?,
        locations: HashMap::default(),
        addresses: Vec::new(),
        stack: Vec::new(),
        counts: Faults::default(),
    };
    for file in &found.files {
        let table = TableFile::open(file, &COLUMNS)?;
        let mut partition = Partition::new(file);
        table.for_each_batch(budget, |batch| {
            for row in 0..batch.n_rows {
                if partition.key(batch, row) == key {
                    let added = import.add(batch, row);
                    added.map_err(|error| match error {
                        AddError::Sample(what) => Error::table(&file.path, what),
                        AddError::Recording(error) => error,
                    })?;
                }
            }
            Ok(())
        })?;
    }
    for (event, (_, lost)) in facts.events.iter().enumerate() {
        if let Some(lost) = lost {
            import.recording.lose(event, lost.samples, lost.at_least)?;
        }
    }
    let sections = facts.sections(key.machine.as_deref());
    let warnings = import.counts.sentences();
    let reader = import.recording.finish_with(sections, allowed)?;
    Ok(Imported { reader, warnings })
}

/// What rows lack.
#[derive(Default)]
struct Faults {
    /// Samples whose stack is not in the folder.
    without_stack: u64,
    /// Frames of samples that are not in the folder.
    without_frame: u64,
    /// Samples that weigh less than nothing.
    negative: u64,
    /// Stacks that were too deep.
    cut: u64,
}

impl Faults {
    fn sentences(&self) -> Vec<String> {
        let said = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let sentences = [
            said(
                self.without_stack,
                "samples have a stack that is not in the table stacks: shown as [unknown]",
            ),
            said(
                self.without_frame,
                "frames of samples are not in the table frames: shown as [unknown]",
            ),
            said(
                self.negative,
                "samples have a weight below 0 and are left out",
            ),
            said(
                self.cut,
                &format!(
                    "stacks have more than {MOST_FUNCTIONS} functions: the outermost ones are left out"
                ),
            ),
        ];
        sentences.into_iter().flatten().collect()
    }
}

struct Import<'c> {
    code: &'c Code,
    /// Numbers of events by name.
    events: HashMap<Vec<u8>, usize>,
    recording: Recording,
    /// By hash and level, positions in `addresses`.
    locations: HashMap<(Option<i64>, Level), Range<usize>>,
    addresses: Vec<StackAddress>,
    stack: Vec<StackAddress>,
    counts: Faults,
}

/// Bytes that are taken for a function of a location: its frame, its address and the names of both.
const FUNCTION_BYTES: u64 = 256;

impl Import<'_> {
    fn add(&mut self, batch: &Batch, row: usize) -> Result<(), AddError> {
        let id = |column| {
            let number = batch.number(column, row);
            number.and_then(|number| i32::try_from(number).ok())
        };
        let weight = if batch.has(WEIGHT) {
            batch.number(WEIGHT, row).unwrap_or(0)
        } else {
            1
        };
        let Ok(weight) = u64::try_from(weight) else {
            self.counts.negative += 1;
            return Ok(());
        };
        let comm = batch.text(COMM, row).unwrap_or(b"[unknown]");
        let (pid, tid) = match (id(PID), id(TID)) {
            (Some(pid), tid) => (pid, tid.unwrap_or(pid)),
            (None, Some(tid)) => (tid, tid),
            (None, None) => {
                let pid = self.recording.process(comm)?;
                (pid, pid)
            }
        };
        self.find_stack(batch.number(STACK, row))?;
        let event = batch.text(EVENT, row).unwrap_or(NO_EVENT);
        let time = batch.number(TIME, row).unwrap_or(0);
        let sample = TaskSample {
            event: self.events.get(event).copied().unwrap_or(0),
            pid,
            tid,
            comm,
            time_ns: u64::try_from(time).unwrap_or(0),
            cpu: id(CPU).and_then(|cpu| u32::try_from(cpu).ok()),
            weight,
        };
        let stack = self.stack.get(..MOST_FUNCTIONS).unwrap_or(&self.stack);
        self.recording.add(&sample, stack)
    }

    /// Puts the addresses of a stack into `stack`, innermost first.
    fn find_stack(&mut self, hash: Option<i64>) -> Result<(), AddError> {
        self.stack.clear();
        let code = self.code;
        let Some(hash) = hash else {
            return Ok(());
        };
        let Some(frames) = code.stack(hash) else {
            self.counts.without_stack += 1;
            return self.push(None, Level::User);
        };
        let mut least = Level::Kernel;
        for &frame in frames {
            let functions = code.functions(frame);
            self.counts.without_frame += u64::from(functions.is_none());
            // What the kernel was called by is no kernel code.
            least = least.min(functions.map_or(Level::User, |rows| level_of(code, rows)));
            self.push(functions.is_some().then_some(frame), least)?;
        }
        self.counts.cut += u64::from(self.stack.len() > MOST_FUNCTIONS);
        Ok(())
    }

    fn push(&mut self, frame: Option<i64>, level: Level) -> Result<(), AddError> {
        let known = match self.locations.get(&(frame, level)) {
            Some(known) => known.clone(),
            None => self.locate(frame, level)?,
        };
        let addresses = self.addresses.get(known).unwrap_or_default();
        self.stack.extend_from_slice(addresses);
        Ok(())
    }

    /// Makes addresses for a location; code that is not known has no name.
    fn locate(&mut self, frame: Option<i64>, level: Level) -> Result<Range<usize>, AddError> {
        let code = self.code;
        let too_many = || AddError::Sample("too many functions".to_owned());
        let rows = frame.and_then(|frame| code.functions(frame));
        let rows = rows.unwrap_or_default();
        self.recording
            .hold(FUNCTION_BYTES * (rows.len() as u64 + 1))?;
        let image = rows.first().and_then(|row| code.image(row.image));
        let image = match image {
            Some(image) if level == Level::Kernel => image.clone(),
            Some(image) => image_identity(&image.name, image.build_id, level),
            None => image_identity(b"", None, level),
        };
        let images = &mut self.recording.images;
        let image = images.image(image).ok_or_else(too_many)?;
        // The outermost functions come last, and are there first.
        let mut frames = Vec::new();
        for inlined in rows.rchunks(EmbeddedNames::MAX_DEPTH) {
            let named = inlined.iter().rev().filter(|row| row.function.is_some());
            frames.push(named.fold(None, |caller, row| {
                let function = SyntheticFunction {
                    name: code.text(row.function.unwrap_or_default()),
                    line: row.line.map(|(file, line)| (code.text(file), line)),
                };
                Some(images.frame(caller, function))
            }));
        }
        if frames.is_empty() {
            frames.push(None);
        }
        let start = self.addresses.len();
        for frame in frames.into_iter().rev() {
            self.addresses.push(StackAddress {
                address: images.address(image, frame).ok_or_else(too_many)?.0,
                image,
                is_kernel: level == Level::Kernel,
            });
        }
        let known = start..self.addresses.len();
        self.locations.insert((frame, level), known.clone());
        Ok(known)
    }
}

fn level_of(code: &Code, rows: &[FrameRow]) -> Level {
    let image = rows.first().and_then(|row| code.image(row.image));
    match image.map(|image| image.level) {
        Some(SyntheticLevel::Kernel) => Level::Kernel,
        _ => Level::User,
    }
}
