//! A recording to samples that are told apart.

use super::pass::{SampledPass, ThreadSamples};
use super::row::{ChunkRows, NO_CPU, NO_NODE, for_each_in_order};
use super::stacks::NamedStacks;
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{NamedThread, distinct, last_comm};
use crate::pass::blocks::have_times;
use crate::pass::counts::Counts;
use crate::pass::dimensions::{GroupBy, Grouping};
use crate::pass::driver::run;
use crate::pass::finish::profile_of;
use crate::pass::load::{Options, Progress, progress_of, query_of};
use crate::pass::query::{Query, WantedFrames};
use crate::pass::timeline::{SeenThreads, event_numbers, timed_losses};
use crate::recording::Recording;
use crate::samples::check_filter;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_perfdata::Reader;
use rprof_profile::{Group, LastNames, NodeKey, SampleRow, SampleTable, SampledProfile, ValuesId};

/// Reads and names a recording, sample by sample; samples count, never branches, and are told apart by what
/// [`SampleRow`] has, whatever the options group by. `progress` is told how far it is.
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
    check_filter(reader, &options.filter)?;
    let mut recording = Recording::open(reader, &options.locator, SampleOrder::Any)?;
    recording.known_names.clone_from(&options.known_names);
    if let Some(known) = &options.known_names {
        known.begin_reading();
    }
    let (frames, nodes) = if options.stacks {
        (WantedFrames::All, options.nodes)
    } else {
        (WantedFrames::Innermost, NodeKey::Function)
    };
    let (query, request) = query_of(&recording, options, (frames, nodes))?;
    let has_times = have_times(reader);
    let pass = SampledPass {
        query: &query,
        has_times,
    };
    let n_chunks = recording.index.chunks.len();
    let mut done = |done| progress(progress_of(0.1, 0.6, done, n_chunks));
    let result = run(&query, &pass, &mut done)?;
    let mut parts = result.locals;
    for part in &mut parts {
        part.finish_chunk();
    }
    let locations = parts.iter().flat_map(|part| part.locations.values());
    let mut symbols = query.symbolize(distinct(locations), request)?;
    let history = &recording.index.history;
    let mut stacks = NamedStacks::of(history, &mut symbols, &parts);
    let mut counts = Counts::new(reader.events().len());
    counts.ignored = result.ignored;
    counts.unnamed = std::mem::take(&mut stacks.unnamed);
    let mut rows = LoadedRows::of(parts, &mut counts);
    if options.filter.hide_unresolved {
        rows.count_named(&stacks, &mut counts);
    }
    let events = event_numbers(reader, &counts);
    let grouping = Grouping::of(&recording, &GroupBy::default())?;
    let mut sampled = SampledProfile {
        profile: profile_of(&query, &grouping, &mut symbols, counts),
        has_times,
        ..SampledProfile::default()
    };
    let groups = stacks.comms.iter().map(|&comm| Group {
        comm,
        values: ValuesId::NONE,
    });
    sampled.groups = groups.collect();
    rows.fill(&mut sampled, (&query, &stacks), &events);
    sampled.stacks = stacks.tree;
    Ok(sampled)
}

/// What all threads have read.
struct LoadedRows {
    /// In the file's order.
    chunks: Vec<ChunkRows>,
    threads: Vec<NamedThread>,
    /// By thread that read, the numbers of its threads there.
    numbers: Vec<Vec<u32>>,
}

impl LoadedRows {
    /// Puts what threads read together; what they counted is added to counts.
    fn of(parts: Vec<ThreadSamples>, counts: &mut Counts) -> Self {
        let mut threads: Interner<u32, NamedThread, RandomState> = Interner::default();
        let mut rows = Self {
            chunks: Vec::new(),
            threads: Vec::new(),
            numbers: Vec::with_capacity(parts.len()),
        };
        for (nth, part) in parts.into_iter().enumerate() {
            let named = part.threads.values().iter();
            let numbers = named.map(|&thread| threads.intern(thread)).collect();
            rows.numbers.push(numbers);
            counts.merge(Counts {
                tallies: part.tallies,
                ends: part.ends,
                ..Counts::default()
            });
            for mut chunk in part.chunks {
                chunk.part = nth;
                rows.chunks.push(chunk);
            }
        }
        rows.threads = threads.into_values();
        rows.chunks.sort_by_key(|chunk| chunk.chunk);
        rows
    }

    /// Counts for the totals what has a name, where only that does; the rest is forgotten.
    fn count_named(&mut self, stacks: &NamedStacks, counts: &mut Counts) {
        for chunk in &mut self.chunks {
            chunk.retain(|chunk, row| {
                let in_totals = stacks
                    .place(chunk.part, row.node)
                    .is_some_and(|place| place.in_totals);
                if let Some(tally) = counts.tallies.get_mut(usize::from(row.event))
                    && in_totals
                {
                    tally.add_samples(1, chunk.weight(row));
                }
                in_totals
            });
        }
    }

    /// Puts rows into a profile, in order, with the threads that they are of.
    fn fill(
        self,
        sampled: &mut SampledProfile,
        (query, stacks): (&Query<'_>, &NamedStacks),
        events: &[Option<u32>],
    ) {
        let Self {
            chunks,
            threads,
            numbers,
        } = self;
        let n_rows = chunks.iter().map(ChunkRows::len).sum();
        let mut table = SampleTable::with_capacity(n_rows);
        let mut seen = SeenThreads::new(query, threads);
        let strings = &mut sampled.profile.strings;
        for_each_in_order(chunks, |chunk, range| {
            let numbers = numbers.get(chunk.part).map_or(&[][..], Vec::as_slice);
            for row in chunk.within(range) {
                let event = events.get(usize::from(row.event)).copied().flatten();
                let event = event.and_then(|event| u16::try_from(event).ok());
                let thread = numbers.get(row.thread as usize);
                let thread = thread.and_then(|&thread| seen.see((thread, row.time_ns), strings));
                let Some((event, thread)) = event.zip(thread) else {
                    continue;
                };
                let place = stacks.place(chunk.part, row.node);
                table.push(SampleRow {
                    time_ns: row.time_ns,
                    event,
                    thread,
                    stack: place
                        .map(|place| place.node)
                        .filter(|&node| node != NO_NODE),
                    cpu: Some(row.cpu).filter(|&cpu| cpu != NO_CPU),
                    weight: chunk.weight(&row),
                });
            }
        });
        sampled.samples = table;
        sampled.threads = seen.into_threads(sampled.has_times);
        let history = &query.recording.index.history;
        let last_names = sampled.threads.iter().map(|thread| LastNames {
            process: strings.intern(last_comm(history, thread.pid, thread.pid).raw()),
            thread: strings.intern(last_comm(history, thread.pid, thread.tid).raw()),
        });
        sampled.last_names = last_names.collect();
        if sampled.has_times {
            sampled.losses = timed_losses(query);
        }
    }
}
