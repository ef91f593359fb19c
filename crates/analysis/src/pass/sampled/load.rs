//! A recording to samples that are told apart.

use super::pass::{SampledPass, ThreadSamples};
use super::row::{ChunkRows, NO_NODE, SampledRow};
use super::stacks::NamedStacks;
use crate::Error;
use crate::index::SampleOrder;
use crate::locations::{NamedThread, distinct};
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
use rprof_profile::{Group, NodeKey, SampleRow, SampleTable, SampledProfile, ValuesId};

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
    let (frames, nodes) = match options.stacks {
        true => (WantedFrames::All, options.nodes),
        false => (WantedFrames::Innermost, NodeKey::Function),
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
    let parts = result.locals;
    let locations = parts.iter().flat_map(|part| part.locations.values());
    let mut symbols = query.symbolize(distinct(locations), request)?;
    let history = &recording.index.history;
    let mut stacks = NamedStacks::of(history, &mut symbols, &parts);
    let mut counts = Counts::new(reader.events().len());
    counts.ignored = result.ignored;
    counts.unnamed = std::mem::take(&mut stacks.unnamed);
    let (rows, threads) = sorted((parts, &stacks), &query, &mut counts);
    let events = event_numbers(reader, &counts);
    let grouping = Grouping::of(&recording, &GroupBy::default())?;
    let mut sampled = SampledProfile {
        profile: profile_of(&query, &grouping, &mut symbols, counts),
        stacks: stacks.tree,
        has_times,
        ..SampledProfile::default()
    };
    let groups = stacks.comms.into_iter().map(|comm| Group {
        comm,
        values: ValuesId::NONE,
    });
    sampled.groups = groups.collect();
    fill(&mut sampled, (&query, threads), &events, rows);
    Ok(sampled)
}

/// Rows of all threads that read, in order, with nodes and threads of all; and the threads. What the threads counted is
/// added to counts.
fn sorted(
    (parts, stacks): (Vec<ThreadSamples>, &NamedStacks),
    query: &Query<'_>,
    counts: &mut Counts,
) -> (Vec<SampledRow>, Vec<NamedThread>) {
    let mut threads: Interner<u32, NamedThread, RandomState> = Interner::default();
    let mut chunks: Vec<ChunkRows> = Vec::new();
    let by_name = query.samples.filter.hide_unresolved;
    for (part, places) in parts.into_iter().zip(&stacks.places) {
        let numbers = part.threads.values().iter();
        let numbers: Vec<u32> = numbers.map(|&thread| threads.intern(thread)).collect();
        counts.merge(Counts {
            tallies: part.tallies,
            ends: part.ends,
            ..Counts::default()
        });
        for mut chunk in part.chunks {
            chunk.rows.retain_mut(|row| {
                let place = places.get(row.node as usize);
                row.node = place.map_or(NO_NODE, |place| place.node);
                row.thread = numbers.get(row.thread as usize).copied().unwrap_or(NO_NODE);
                if !by_name {
                    return true;
                }
                let in_totals = place.is_some_and(|place| place.in_totals);
                if let Some(tally) = counts.tallies.get_mut(usize::from(row.event))
                    && in_totals
                {
                    tally.add_samples(1, row.weight);
                }
                in_totals
            });
            chunks.push(chunk);
        }
    }
    chunks.sort_by_key(|chunk| chunk.chunk);
    let mut rows: Vec<SampledRow> = chunks.into_iter().flat_map(|chunk| chunk.rows).collect();
    rows.sort_by_key(|row| row.time_ns);
    (rows, threads.into_values())
}

/// Puts rows into a profile, with the threads that they are of.
fn fill(
    sampled: &mut SampledProfile,
    (query, threads): (&Query<'_>, Vec<NamedThread>),
    events: &[Option<u32>],
    rows: Vec<SampledRow>,
) {
    let mut seen = SeenThreads::new(query, threads);
    let mut table = SampleTable::with_capacity(rows.len());
    let strings = &mut sampled.profile.strings;
    for row in rows {
        let event = events.get(usize::from(row.event)).copied().flatten();
        let event = event.and_then(|event| u16::try_from(event).ok());
        let Some((event, thread)) = event.zip(seen.see((row.thread, row.time_ns), strings)) else {
            continue;
        };
        table.push(SampleRow {
            time_ns: row.time_ns,
            event,
            thread,
            stack: Some(row.node).filter(|&node| node != NO_NODE),
            cpu: row.cpu,
            weight: row.weight,
        });
    }
    sampled.samples = table;
    sampled.threads = seen.into_threads(sampled.has_times);
    if sampled.has_times {
        sampled.losses = timed_losses(query);
    }
}
