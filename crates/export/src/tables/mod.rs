//! Profiles as tables of Parquet: samples, stacks, frames and recordings, which query engines join. [PARQUET.md] says
//! what is in them.
//!
//! Samples are written in time order while they are read; of what was written, only the hashes of stacks stay in
//! memory.
//!
//! [PARQUET.md]: https://docs.rs/crate/rprof-export/latest/source/PARQUET.md

mod error;
mod folder;
mod frames;
mod hash;
mod place;
mod recording;
mod samples;
mod schema;
mod table;
#[cfg(test)]
mod tests;

pub use error::TablesError;

use folder::{TableFile, partition, put_all};
use frames::{Names, WrittenFrames, write_frames};
use place::{System, is_by_name};
use recording::{NamedRecording, RecordingColumns, TableEvent, write_events};
use rprof_analysis::{
    Options, OrderedResult, Progress, Query, Recording, SampleOrder, StackEndCounts, Symbols,
    check_filter, code_query, find_locations, find_spans, progress_of, run_ordered,
};
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use rprof_symbols::{Demangling, Request};
use rprof_untrusted::NewFolders;
use samples::{Local, SampleTables, TablesPass};
use schema::{FrameColumns, SampleColumns, StackColumns};
use std::path::Path;
use table::{Columns, TableWriter, text};

/// What was written of a recording.
#[derive(Debug)]
pub struct WrittenTables {
    /// What is to be said of the samples; it has no stacks.
    pub profile: Profile,
    /// How many samples the filter shows.
    pub n_samples: u64,
}

/// Writes the tables of a recording into a folder, which is made if there is none: all of them, or none. `progress` is
/// told how far it is.
///
/// # Errors
/// [`TablesError`] if the recording cannot be read at all, or the tables cannot be written, or are there already.
pub fn write_tables(
    reader: &Reader,
    options: &Options,
    folder: &Path,
    progress: &mut Progress<'_>,
) -> Result<WrittenTables, TablesError> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::Time)?;
    let named = NamedRecording::of(&recording, options.filter.account);
    let files = TableFiles::create(folder, &named)?;
    find_spans(&recording)?;
    let (query, request) = code_query(&recording, options)?;
    let n_chunks = recording.n_chunks();
    let found = find_locations(&query, |_, _| {}, &mut |done| {
        progress(progress_of(0.1, 0.4, done, n_chunks));
    })?;
    let mut symbols = query.symbolize(found.locations, request)?;
    let as_recorded = names_as_recorded(&query, &symbols, request)?;
    let frames = TableWriter::new(files.frames.file()?, FrameColumns::new(&named.name))?;
    let names = Names {
        shown: &symbols,
        recorded: &as_recorded,
    };
    let written = put_frames(&recording, &named, names, frames)?;
    symbols.warnings.extend(written.warning());
    let events = TableEvent::all_of(&query);
    let pass = TablesPass {
        query: &query,
        symbols: &symbols,
        frame_hashes: &written.hashes,
    };
    let mut tables = SampleTables::new(
        TableWriter::new(files.samples.file()?, SampleColumns::new(named.origin()))?,
        TableWriter::new(files.stacks.file()?, StackColumns::new(text(&named.name)))?,
        events.iter().map(|event| event.name.clone()).collect(),
        named.wall_offset_ns.unwrap_or(0),
    );
    let result = write_samples(&pass, &mut tables, progress)?;
    let written = finish(&query, symbols, result, tables, &named, &files)?;
    files.put()?;
    Ok(written)
}

/// The names of code that is hashed by them, as they were recorded, whatever they are to be shown as.
fn names_as_recorded(
    query: &Query<'_>,
    symbols: &Symbols,
    request: Request,
) -> Result<Symbols, TablesError> {
    let locations = symbols.locations().iter().copied();
    let by_name = locations.filter(|&location| is_by_name(query.recording, location));
    let request = Request {
        demangling: Demangling::Off,
        ..request
    };
    Ok(query.symbolize(by_name.collect(), request)?)
}

/// Writes the table of all locations.
fn put_frames(
    recording: &Recording<'_>,
    named: &NamedRecording,
    names: Names<'_>,
    mut frames: TableWriter<FrameColumns>,
) -> Result<WrittenFrames, TablesError> {
    let system = System {
        release: named.about.os_release.as_deref().unwrap_or_default(),
        arch: named.about.arch.as_deref().unwrap_or_default(),
    };
    let written = write_frames(recording, system, names, &mut frames)?;
    frames.finish()?;
    Ok(written)
}

/// Puts all samples into their tables.
fn write_samples(
    pass: &TablesPass<'_>,
    tables: &mut SampleTables,
    progress: &mut Progress<'_>,
) -> Result<OrderedResult<Local>, TablesError> {
    let n_samples = pass.query.recording.index.n_samples;
    let n_samples = usize::try_from(n_samples).unwrap_or(usize::MAX);
    let (mut n_done, mut taken) = (0, Ok(()));
    let result = run_ordered(pass.query, pass, &mut |bytes, n| {
        n_done += n;
        progress(progress_of(0.5, 0.5, n_done, n_samples));
        taken = tables.take(bytes);
        taken.is_ok()
    })?;
    taken.map(|()| result)
}

/// Ends the tables of samples, and writes what the recording came to.
fn finish(
    query: &Query<'_>,
    symbols: Symbols,
    result: OrderedResult<Local>,
    mut tables: SampleTables,
    named: &NamedRecording,
    files: &TableFiles,
) -> Result<WrittenTables, TablesError> {
    let mut ends = StackEndCounts::default();
    for local in result.locals {
        ends.merge(&local.ends);
    }
    tables.samples.end()?;
    tables.stacks.end()?;
    let profile = result.samples.profile(query, Some(symbols), ends)?;
    tables.samples.finish()?;
    tables.stacks.finish()?;
    let reader = query.recording.reader;
    let source = reader.path().file_name().unwrap_or_default();
    let columns =
        RecordingColumns::new(named, &source.to_string_lossy(), &profile, tables.times_ns);
    let mut recordings = TableWriter::new(files.recordings.file()?, columns)?;
    let events = TableEvent::all_of(query).into_iter();
    let events = events.zip(tables.written.iter().copied());
    write_events(&profile, events, &mut recordings)?;
    recordings.finish()?;
    let n_samples = tables
        .written
        .iter()
        .map(|written| written.samples)
        .sum::<i64>();
    Ok(WrittenTables {
        profile,
        n_samples: n_samples.cast_unsigned(),
    })
}

/// The files of a recording, none of which is in its place.
struct TableFiles {
    frames: TableFile,
    stacks: TableFile,
    samples: TableFile,
    recordings: TableFile,
    /// Dropped when the files are.
    _folders: NewFolders,
}

impl TableFiles {
    fn create(folder: &Path, named: &NamedRecording) -> Result<Self, TablesError> {
        let partition = partition(named.start_ns, named.machine());
        let mut folders = NewFolders::default();
        let mut create = |table: &str| {
            let in_folder = Path::new(table).join(&partition);
            TableFile::create(&mut folders, folder, &in_folder, &named.name)
        };
        Ok(Self {
            frames: create(FrameColumns::TABLE.schema.name)?,
            stacks: create(StackColumns::TABLE.schema.name)?,
            samples: create(SampleColumns::TABLE.schema.name)?,
            recordings: create(RecordingColumns::TABLE.schema.name)?.if_new()?,
            _folders: folders,
        })
    }

    /// What is joined comes before what joins it; a recording that is listed is there.
    fn put(self) -> Result<(), TablesError> {
        put_all(
            vec![self.frames, self.stacks, self.samples],
            self.recordings,
        )
    }
}
