//! A recording to samples that are told apart.

use super::fields::FieldReader;
use super::pass::{SampledPass, ThreadSamples, WaitKeys};
use super::rows::{LoadedRows, RowFiller};
use super::stacks::NamedStacks;
use super::threads::timed_losses;
use super::waits::add_waits;
use crate::Error;
use crate::about::is_off_cpu_time;
use crate::index::SampleOrder;
use crate::locations::{Location, distinct, last_comm};
use crate::pass::blocks::have_times;
use crate::pass::code_nodes::{CodeNodes, code_query};
use crate::pass::counts::Counts;
use crate::pass::dimensions::Grouping;
use crate::pass::driver::run;
use crate::pass::finish::{event_numbers, profile_of};
use crate::pass::group_by::GroupBy;
use crate::pass::load::{Options, Progress, progress_of, query_of};
use crate::pass::own_code::CodeCounts;
use crate::pass::query::Query;
use crate::recording::Recording;
use crate::samples::check_filter;
use crate::symbolize::Symbols;
use rprof_perfdata::Reader;
use rprof_profile::{Group, LastNames, SamplePlace, SampledProfile, UseOrder};
use rprof_ringbuf::sys::give_back_free_memory;
use rprof_symbols::Request;

/// Reads and names a recording, sample by sample; samples count, never branches, and are told apart by what
/// [`SampleRow`](rprof_profile::SampleRow) has, whatever the options group by: of that, only what threads do and wait for
/// is in the groups of stacks. `progress` is told how far it is.
///
/// Samples that the filter of options takes into totals and does not show have no stack.
///
/// # Errors
/// [`Error`] if it cannot be read at all; what is damaged in it becomes a warning.
pub fn load_samples(
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<SampledProfile, Error> {
    load_samples_with(SampleExtras::default(), reader, options, progress)
}

/// The same with more.
///
/// # Errors
/// As [`load_samples`].
pub fn load_samples_with(
    extras: SampleExtras,
    reader: &Reader,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<SampledProfile, Error> {
    let recording = open_recording(reader, options)?;
    Ok(load_functions(extras, &recording, options, progress)?.sampled)
}

/// Opens a recording to load samples of.
pub(crate) fn open_recording<'r>(
    reader: &'r Reader,
    options: &'r Options,
) -> Result<Recording<'r>, Error> {
    check_filter(reader, &options.filter)?;
    let mut recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    recording.known_names.clone_from(&options.known_names);
    if let Some(known) = &options.known_names {
        known.begin_reading();
    }
    Ok(recording)
}

/// Loads samples with stacks of functions, and what else is known once they are read.
pub(crate) fn load_functions(
    extras: SampleExtras,
    recording: &Recording<'_>,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<LoadedSamples, Error> {
    let (query, request) = query_of(recording, options, options.frames())?;
    let waits = WaitKeys::of(&options.group_by);
    load(&query, request, (Nodes::Functions(extras), waits), progress)
}

/// Samples one by one, and what else is known once they are read.
pub(crate) struct LoadedSamples {
    pub(crate) sampled: SampledProfile,
    /// Of all locations; their frames and strings are the profile's.
    pub(crate) symbols: Symbols,
    /// Samples by the places that they were taken at, if these are asked for; `None` with `--hide-unresolved`: code
    /// counts samples without names, which these rows lack.
    pub(crate) counts: Option<CodeCounts>,
}

/// What is loaded beside samples with stacks of functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleExtras {
    /// The times at which threads waited, as far as they were recorded: [`SampledProfile::waits`].
    pub waits: bool,
    /// The places in code that samples were taken at: [`SampledProfile::places`].
    pub places: bool,
    /// Of how many samples, the first ones, it is wanted what tracepoints wrote: [`SampledProfile::fields`]. There are
    /// none where samples are derived.
    pub fields: usize,
}

/// What nodes of stacks are, and what is loaded beside samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nodes {
    Functions(SampleExtras),
    Code(CodeDetail),
}

impl Nodes {
    /// Of how many samples it is wanted what tracepoints wrote.
    fn n_fields(self, query: &Query<'_>) -> usize {
        match self {
            Self::Code(CodeDetail::Fields) => usize::MAX,
            Self::Functions(extras) if !query.samples.source.is_derived() => extras.fields,
            Self::Functions(_) | Self::Code(CodeDetail::Samples) => 0,
        }
    }
}

/// What samples with stacks of code have beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeDetail {
    /// Threads, times, weights.
    Samples,
    /// Also what tracepoints wrote, and when threads waited.
    Fields,
}

/// Reads and names a recording, sample by sample, with stacks of code locations: [`SampledProfile::code`]. Samples that
/// the filter of options does not show are left out.
///
/// # Errors
/// As [`load_samples`].
pub fn load_code_samples(
    reader: &Reader,
    options: &Options,
    detail: CodeDetail,
    progress: &mut Progress<'_>,
) -> Result<SampledProfile, Error> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    let (query, request) = code_query(&recording, options)?;
    let nodes = Nodes::Code(detail);
    let loaded = load(&query, request, (nodes, WaitKeys::default()), progress)?;
    Ok(loaded.sampled)
}

fn load(
    query: &Query<'_>,
    request: Request,
    (nodes, waits): (Nodes, WaitKeys),
    progress: &mut Progress<'_>,
) -> Result<LoadedSamples, Error> {
    let (fields, warning) = match nodes.n_fields(query) {
        0 => (None, None),
        most => FieldReader::new(query.recording, most),
    };
    let is_code = matches!(nodes, Nodes::Code(_));
    let extras = match nodes {
        Nodes::Functions(extras) => extras,
        Nodes::Code(detail) => SampleExtras {
            waits: detail == CodeDetail::Fields,
            ..SampleExtras::default()
        },
    };
    let pass = SampledPass {
        query,
        has_times: have_times(query.recording.reader),
        has_names: !is_code,
        has_offsets: fields.is_some(),
        waits,
    };
    let ReadSamples {
        mut parts,
        mut symbols,
        mut counts,
    } = read(&pass, request, progress)?;
    let code = is_code.then(|| CodeNodes::new(&symbols));
    let mut stacks = match &code {
        Some(code) => NamedStacks::of_code(code, &symbols, &mut parts),
        None => {
            let history = &query.recording.index.history;
            NamedStacks::of_functions((history, extras.places), &mut symbols, &mut parts)
        }
    };
    give_back_memory(query.recording);
    counts.unnamed = std::mem::take(&mut stacks.unnamed);
    let mut rows = LoadedRows::new(parts, &mut counts);
    if query.samples.filter.hide_unresolved {
        rows.count_named(&stacks, &mut counts);
    }
    if code.is_some() {
        rows.keep_shown(&stacks, query.samples.filter);
    }
    let has_all = !query.samples.filter.hide_unresolved;
    let by_place = (extras.places && has_all).then(|| rows.by_place(&stacks, &symbols, query));
    let filler = RowFiller {
        query,
        stacks: &stacks,
        events: event_numbers(query, &counts),
        spacing_ns: u64::from(code.is_some() && !pass.has_times) * SPACING_NS,
        places: if extras.places {
            symbols.locations().iter().map(place_of).collect()
        } else {
            Vec::new()
        },
    };
    let grouping = Grouping::of(query.recording, &GroupBy::default())?;
    let mut sampled = SampledProfile {
        profile: profile_of(query, &grouping, &mut symbols, counts),
        has_times: pass.has_times,
        ..SampledProfile::default()
    };
    match fields {
        Some(mut fields) => filler.fill(rows, &mut sampled, |row, offset, strings| {
            fields.read(row.event.into(), offset, strings)
        })?,
        None => filler.fill(rows, &mut sampled, |_, _, _| Ok(None))?,
    }
    if sampled.has_times {
        sampled.losses = timed_losses(query);
    }
    // What is on a path or within times is some of a wait, and perf writes its waits when they end.
    let is_perfs = query.recording.reader.events().iter().any(is_off_cpu_time);
    let filter = query.samples.filter;
    let is_part = filter.critical.is_some() || filter.times.is_some();
    sampled.waits_have_begins = query.samples.source.is_derived() && !is_perfs && !is_part;
    if extras.waits && sampled.has_times {
        add_waits(query, &mut sampled)?;
    }
    match code {
        Some(nodes) => add_code(&mut sampled, stacks, (&nodes, query, &symbols)),
        None => add_functions(&mut sampled, stacks, query),
    }
    sampled.profile.warnings.extend(warning);
    give_back_memory(query.recording);
    Ok(LoadedSamples {
        sampled,
        symbols,
        counts: by_place,
    })
}

fn place_of(location: &Location) -> SamplePlace {
    SamplePlace {
        image: location.image,
        address: location.address,
    }
}

/// Gives the memory of what is not needed any more back to the system, where samples take more than programs do: threads
/// that are gone had it, and what comes next does not look for it there.
fn give_back_memory(recording: &Recording<'_>) {
    const MANY: u64 = 1_000_000;
    if recording.index.n_samples >= MANY {
        give_back_free_memory();
    }
}

/// What is between samples without times, for viewers that need some.
const SPACING_NS: u64 = 1_000_000;

/// What all threads have read, with the names of its locations.
struct ReadSamples {
    parts: Vec<ThreadSamples>,
    symbols: Symbols,
    /// What could not be used; nothing else is counted yet.
    counts: Counts,
}

fn read(
    pass: &SampledPass<'_>,
    request: Request,
    progress: &mut Progress<'_>,
) -> Result<ReadSamples, Error> {
    let recording = pass.query.recording;
    let n_chunks = recording.index.chunks.len();
    let mut done = |done| progress(progress_of(0.1, 0.6, done, n_chunks));
    let result = run(pass.query, pass, &mut done)?;
    let mut parts = result.locals;
    for part in &mut parts {
        part.finish_chunk();
        part.tree.freeze();
    }
    give_back_memory(recording);
    let locations = parts.iter().flat_map(|part| part.locations.values());
    let symbols = pass.query.symbolize(distinct(locations), request)?;
    let mut counts = Counts::new(recording.reader.events().len());
    counts.ignored = result.ignored;
    Ok(ReadSamples {
        parts,
        symbols,
        counts,
    })
}

/// Stacks of functions, and what threads were called at last.
fn add_functions(sampled: &mut SampledProfile, stacks: NamedStacks, query: &Query<'_>) {
    let profile = &mut sampled.profile;
    let groups = stacks.groups.into_iter().map(|(comm, words)| Group {
        comm,
        values: profile.values_of_wait(words),
    });
    sampled.groups = groups.collect();
    sampled.stacks = stacks.tree;
    let history = &query.recording.index.history;
    let strings = &mut sampled.profile.strings;
    let last_names = sampled.threads.iter().map(|thread| LastNames {
        process: strings.intern(last_comm(history, thread.pid, thread.pid).raw()),
        thread: strings.intern(last_comm(history, thread.pid, thread.tid).raw()),
    });
    sampled.last_names = last_names.collect();
}

/// Stacks of code, numbered in the order in which samples have them: so which thread read what does not show.
fn add_code(
    sampled: &mut SampledProfile,
    stacks: NamedStacks,
    (nodes, query, symbols): (&CodeNodes, &Query<'_>, &Symbols),
) {
    let mut order = UseOrder::new(&stacks.tree);
    let tree = &stacks.tree;
    sampled.samples.map_stacks(|node| order.number(tree, node));
    sampled.stacks = stacks.tree;
    sampled.stacks.renumber(order);
    let history = &query.recording.index.history;
    let strings = &mut sampled.profile.strings;
    sampled.code = nodes.describe(&mut sampled.stacks, (history, symbols), strings);
    if !sampled.has_times && !sampled.samples.is_empty() {
        sampled.profile.warnings.push(NO_TIMES.to_owned());
    }
}

/// What is to be said of samples that are [`SPACING_NS`] apart.
pub(in crate::pass) const NO_TIMES: &str =
    "the recording has no times: its samples are shown a millisecond apart";
