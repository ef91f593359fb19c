//! Every sample as text, in order of time: perf script's form, which FlameGraph tools read.

mod bpf_output;
mod branches;
mod choice;
mod columns;
mod data_src;
mod frames;
mod head;
mod line;
mod memory;
mod order;
mod registers;
mod spot;
mod text;
pub(crate) mod trace;

pub use choice::{Choice, ColumnsError};

use crate::Error;
use crate::load::{
    Address, Context, Ends, First, Kernel, Names, Seen, Unused, Wanted, check_filter, collect, skim,
};
use columns::{Column, Columns};
use crossbeam_channel::{Receiver, Sender, bounded};
use frames::Named;
use line::{Layout, Lines};
use order::{Batch, for_each_batch};
use rprof_abi::registers::RegisterTable;
use rprof_abi::sample::DataSource;
use rprof_images::Locator;
use rprof_perfdata::feature::ClockData;
use rprof_perfdata::{Feature, FeatureId, Reader};
use rprof_profile::{Filter, Profile, Unwound};
use rprof_symbols::{Demangling, Detail, Request};
use spot::for_each_named;
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use trace::{Formats, Traces};

/// What to print of which samples.
#[derive(Clone, Debug)]
pub struct ScriptOptions {
    /// Which samples.
    pub filter: Filter,
    /// Which parts of them.
    pub columns: Choice,
    /// Call chains.
    pub chains: bool,
    /// Inlined functions as frames of their own.
    pub inlines: bool,
    /// Times with nanoseconds.
    pub nanoseconds: bool,
    /// Where to look for binaries.
    pub locator: Locator,
    /// How names of functions are to read.
    pub demangling: Demangling,
}

/// Samples formatted by one thread at a time.
const JOB: usize = 1 << 10;

/// Part of a batch, with its place in the output.
struct Job {
    number: u64,
    batch: Arc<Batch>,
    entries: Range<usize>,
    /// Of the longest data source before.
    data_src_width: usize,
}

/// What is to be said of the samples that were printed.
#[derive(Clone, Debug, Default)]
pub struct Printed {
    /// What could not be used, one sentence each.
    pub warnings: Vec<String>,
    /// How stacks ended, where they were unwound from copies.
    pub unwound: Unwound,
}

/// Prints all samples.
///
/// # Errors
/// [`Error`] if the recording cannot be read, or `out` not be written.
pub fn write_script(
    reader: &Reader,
    options: &ScriptOptions,
    out: &mut dyn Write,
) -> Result<Printed, Error> {
    let events = reader.events().iter();
    let attrs = events.map(|event| (event.name.raw(), &event.attr, event.is_dummy()));
    let columns = options.columns.of_events(attrs, options.chains)?;
    check_filter(reader, &options.filter)?;
    let clock = clock_of(reader);
    if clock.is_none() && columns.iter().any(|one| one.has(Column::Tod)) {
        return Err(ColumnsError::NoWallTime.into());
    }
    let skimmed = skim::skim_ordered(reader, &options.locator)?;
    let wanted = Wanted {
        filter: &options.filter,
        stacks: options.chains,
        locator: &options.locator,
    };
    let mut context = Context::new(reader, &skimmed, wanted);
    context.chains.first = First::Both;
    let mut profile = Profile::default();
    let names = names_of(&context, options, &columns, &mut profile)?;
    let named = names.as_ref().map(|names| Named {
        names,
        profile: &profile,
    });
    let (formats, bad_formats) = Formats::of(reader);
    let kernel = (!formats.is_empty()).then(|| Kernel::of(&context));
    let layout = Layout {
        traces: Traces::new(&context, &formats, kernel.as_ref()),
        context: &context,
        columns,
        named,
        nanoseconds: options.nanoseconds,
        inlines: options.inlines,
        name_width: reader
            .events()
            .iter()
            .map(|event| event.name.shown().len())
            .max()
            .unwrap_or(0),
        registers: reader
            .feature_text(FeatureId::ARCH)
            .and_then(|name| RegisterTable::of(&name)),
        clock,
    };
    let mut counted = CountedWrite { out, n_bytes: 0 };
    let (unused, ends) = print(&layout, &mut counted)?;
    let is_empty = counted.n_bytes == 0;
    let warnings = reader.warnings().iter().chain(&bad_formats);
    let mut warnings: Vec<String> = warnings.map(ToString::to_string).collect();
    warnings.extend_from_slice(&skimmed.warnings);
    warnings.extend_from_slice(&profile.warnings);
    warnings.extend(unused.warnings());
    if is_empty {
        warnings.push(match skimmed.n_samples {
            0 => "no samples in the recording".to_owned(),
            _ => "no samples match the filter".to_owned(),
        });
    }
    Ok(Printed {
        warnings,
        unwound: ends.named(&context),
    })
}

/// Names of all places, if any are to be shown or filtered by.
fn names_of(
    context: &Context<'_>,
    options: &ScriptOptions,
    columns: &[Columns],
    profile: &mut Profile,
) -> Result<Option<Names>, Error> {
    let filters_functions = !options.filter.dsos.is_empty() || !options.filter.symbols.is_empty();
    let shows = |column| columns.iter().any(|one| one.has(column));
    let shows_lines = shows(Column::Srcline);
    let shows_names = shows(Column::Sym) || shows(Column::Brstacksym) || shows_lines;
    if !shows_names && !filters_functions {
        return Ok(None);
    }
    let more = |seen: &Seen<'_>, visit: &mut dyn FnMut(Address)| {
        let columns = columns.get(seen.event).copied().unwrap_or_default();
        for_each_named(context, columns, seen, visit);
    };
    let places = collect(context, more, &mut |_| {})?;
    let request = Request {
        detail: match (shows_lines, options.inlines) {
            (true, _) => Detail::Lines,
            (false, true) => Detail::Inlines,
            (false, false) => Detail::Functions,
        },
        demangling: options.demangling,
        ..Request::default()
    };
    Names::find(context, places, request, profile).map(Some)
}

/// What time it was by the recording's clock, if the recording says so.
fn clock_of(reader: &Reader) -> Option<ClockData> {
    let section = reader.feature(FeatureId::CLOCK_DATA).ok()??;
    match Feature::parse(FeatureId::CLOCK_DATA, &section, reader.endian()) {
        Ok(Feature::ClockData(clock)) => Some(clock),
        _ => None,
    }
}

/// A writer that knows how much it was given.
struct CountedWrite<'a> {
    out: &'a mut dyn Write,
    n_bytes: u64,
}

impl Write for CountedWrite<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// One thread reads and orders, others format, this one writes.
fn print(layout: &Layout<'_>, out: &mut dyn Write) -> Result<(Unused, Ends), Error> {
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    let (jobs, todo) = bounded::<Job>(2 * n_threads);
    let (finished, done) = bounded::<(u64, Vec<u8>)>(2 * n_threads);
    // The channels' ends are owned where they are used: whoever stops early ends the others, too.
    thread::scope(move |scope| {
        let reading = thread::Builder::new()
            .spawn_scoped(scope, move || read_in_order(layout, &jobs))
            .map_err(Error::Thread)?;
        let mut formatting = Vec::new();
        for _ in 0..n_threads {
            let (todo, finished) = (todo.clone(), finished.clone());
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || format_jobs(layout, &todo, &finished));
            formatting.push(thread.map_err(Error::Thread)?);
        }
        drop((todo, finished));
        write_in_order(done, out).map_err(Error::Write)?;
        let mut ends = Ends::default();
        for thread in formatting {
            ends.merge(joined(thread));
        }
        Ok((joined(reading)?, ends))
    })
}

/// What a thread made; its panic goes on here.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(made) => made,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn read_in_order(layout: &Layout<'_>, jobs: &Sender<Job>) -> Result<Unused, Error> {
    let (mut number, mut data_src_width) = (0, 0);
    for_each_batch(layout.context, |batch| {
        let batch = Arc::new(batch);
        for start in (0..batch.entries.len()).step_by(JOB) {
            let job = Job {
                number,
                batch: Arc::clone(&batch),
                entries: start..(start + JOB).min(batch.entries.len()),
                data_src_width,
            };
            number += 1;
            data_src_width = data_src_width.max(layout.data_src_width(&job));
            if jobs.send(job).is_err() {
                return false;
            }
        }
        true
    })
}

impl Layout<'_> {
    /// Bytes of the longest data source of a job: perf pads what follows to it.
    fn data_src_width(&self, job: &Job) -> usize {
        if !self.columns.iter().any(|one| one.has(Column::DataSrc)) {
            return 0;
        }
        let endian = self.context.reader.endian();
        let entries = &job.batch.entries[job.entries.clone()];
        let records = entries.iter().filter_map(|entry| {
            let seen = self
                .context
                .see(entry.offset, job.batch.record(entry, endian)?)?;
            let columns = self.columns.get(seen.event)?;
            let source = self.context.whole(&seen)?.data_src?;
            let text = data_src::text(DataSource(source));
            columns.has(Column::DataSrc).then_some(text.len())
        });
        records.max().unwrap_or(0)
    }
}

fn format_jobs(
    layout: &Layout<'_>,
    todo: &Receiver<Job>,
    finished: &Sender<(u64, Vec<u8>)>,
) -> Ends {
    let context = layout.context;
    let mut lines = Lines::new(layout);
    let mut scratch = Vec::new();
    for job in todo {
        lines.data_src_width = job.data_src_width;
        let mut out = Vec::with_capacity(64 << 10);
        for entry in &job.batch.entries[job.entries] {
            let endian = context.reader.endian();
            let Some(raw) = job.batch.record(entry, endian) else {
                continue;
            };
            let Some(mut seen) = context.see(entry.offset, raw) else {
                continue;
            };
            if let Some(share) = job.batch.share(entry) {
                seen.event = share.event;
                seen.sample.period = share.period;
            }
            // Counted when it was put in order.
            context.join(&mut seen, &mut scratch, &mut Unused::default());
            lines.append(&seen, &mut out);
        }
        if finished.send((job.number, out)).is_err() {
            break;
        }
    }
    lines.ends
}

fn write_in_order(done: Receiver<(u64, Vec<u8>)>, out: &mut dyn Write) -> std::io::Result<()> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (number, text) in done {
        waiting.insert(number, text);
        while let Some(text) = waiting.remove(&next) {
            out.write_all(&text)?;
            next += 1;
        }
    }
    out.flush()
}
