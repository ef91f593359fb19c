//! Rows of all threads, put together in order of time.

use super::pass::ThreadSamples;
use super::row::{ChunkRows, EMPTY, NO_CPU, NO_NODE, SampledRow, for_each_in_order};
use super::stacks::NamedStacks;
use super::threads::SeenThreads;
use crate::Error;
use crate::locations::NamedThread;
use crate::pass::counts::Counts;
use crate::pass::own_code::CodeCounts;
use crate::pass::query::Query;
use crate::symbolize::Symbols;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use rprof_base::Interner;
use rprof_profile::{
    Filter, SampleCount, SamplePlace, SamplePlaces, SampleRow, SampleTable, SampledProfile,
    Strings, TraceValue,
};

/// What all threads have read.
pub(super) struct LoadedRows {
    /// In the file's order.
    chunks: Vec<ChunkRows>,
    threads: Vec<NamedThread>,
    /// By thread that read, the numbers of its threads there.
    numbers: Vec<Vec<u32>>,
}

impl LoadedRows {
    /// Puts what threads read together; what they counted is added to counts.
    pub(super) fn new(parts: Vec<ThreadSamples>, counts: &mut Counts) -> Self {
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
    pub(super) fn count_named(&mut self, stacks: &NamedStacks, counts: &mut Counts) {
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

    /// Counts samples that are shown by the places that they were taken at.
    pub(super) fn by_place(
        &self,
        stacks: &NamedStacks,
        symbols: &Symbols,
        query: &Query<'_>,
    ) -> CodeCounts {
        let mut counts = CodeCounts::new(query.recording.reader.events().len());
        let mut by_number: Vec<HashMap<u32, SampleCount>> =
            vec![HashMap::default(); counts.at.len()];
        for chunk in &self.chunks {
            let locations = stacks.locations(chunk.part).unwrap_or_default();
            for row in chunk.within(0..chunk.len()) {
                let place = stacks.place(chunk.part, row.node);
                if row.node != EMPTY && !place.is_some_and(|place| place.is_task_shown) {
                    continue;
                }
                let event = usize::from(row.event);
                let count = SampleCount::one(chunk.weight(&row));
                if let Some(all) = counts.all.get_mut(event) {
                    *all += count;
                }
                if let Some(&number) = locations.get(row.node as usize)
                    && let Some(by_number) = by_number.get_mut(event)
                {
                    *by_number.entry(number).or_default() += count;
                }
            }
        }
        for (at, by_number) in counts.at.iter_mut().zip(by_number) {
            let known = by_number.into_iter().filter_map(|(number, count)| {
                Some((*symbols.locations().get(number as usize)?, count))
            });
            at.extend(known);
        }
        counts
    }

    /// Forgets what a filter does not show. A sample without any location is in no function, and not for a filter of
    /// these.
    pub(super) fn keep_shown(&mut self, stacks: &NamedStacks, filter: &Filter) {
        if filter.accepts_all() {
            return;
        }
        let shows_empty = !filter.has_functions();
        for chunk in &mut self.chunks {
            chunk.retain(|chunk, row| {
                let place = stacks.place(chunk.part, row.node);
                place.is_some_and(|place| place.node != NO_NODE)
                    || (row.node == EMPTY && shows_empty)
            });
        }
    }
}

/// Puts rows into a profile, in order, with the threads that they are of.
pub(super) struct RowFiller<'a> {
    pub(super) query: &'a Query<'a>,
    pub(super) stacks: &'a NamedStacks,
    /// Numbers of the recording's events in the profile.
    pub(super) events: Vec<Option<u32>>,
    /// What is between the times of rows, beside what was recorded.
    pub(super) spacing_ns: u64,
    /// Locations by number, if it is asked for where samples were taken.
    pub(super) places: Vec<SamplePlace>,
}

impl RowFiller<'_> {
    /// `read_fields` is asked for the fields of each row's sample, which is at an offset.
    pub(super) fn fill(
        self,
        rows: LoadedRows,
        sampled: &mut SampledProfile,
        mut read_fields: impl FnMut(
            SampledRow,
            u64,
            &mut Strings,
        ) -> Result<Option<Vec<TraceValue>>, Error>,
    ) -> Result<(), Error> {
        let LoadedRows {
            chunks,
            threads,
            numbers,
        } = rows;
        let n_rows = chunks.iter().map(ChunkRows::len).sum();
        let mut table = SampleTable::with_capacity(n_rows);
        let mut seen = SeenThreads::new(self.query, threads);
        let strings = &mut sampled.profile.strings;
        let mut places = Vec::new();
        for_each_in_order(chunks, |chunk, range| {
            let locations = self.stacks.locations(chunk.part);
            let numbers = numbers.get(chunk.part).map_or(&[][..], Vec::as_slice);
            for (at, row) in range.clone().zip(chunk.within(range)) {
                let time_ns = row.time_ns + self.spacing_ns * table.len() as u64;
                let event = self.events.get(usize::from(row.event)).copied().flatten();
                let event = event.and_then(|event| u16::try_from(event).ok());
                let thread = numbers.get(row.thread as usize);
                let thread = thread.and_then(|&thread| seen.see(thread, time_ns, strings));
                let Some((event, thread)) = event.zip(thread) else {
                    continue;
                };
                if let Some(fields) = read_fields(row, chunk.offset(at), strings)? {
                    let number = u32::try_from(table.len()).unwrap_or(u32::MAX);
                    sampled.fields.insert(number, fields);
                }
                let place = self.stacks.place(chunk.part, row.node);
                if let Some(locations) = locations {
                    let number = locations.get(row.node as usize).copied();
                    places.push(number.unwrap_or(u32::MAX));
                }
                table.push(SampleRow {
                    time_ns,
                    event,
                    thread,
                    stack: place
                        .map(|place| place.node)
                        .filter(|&node| node != NO_NODE),
                    cpu: Some(row.cpu).filter(|&cpu| cpu != NO_CPU),
                    weight: chunk.weight(&row),
                });
            }
            Ok(())
        })?;
        sampled.samples = table;
        if !places.is_empty() {
            sampled.places = SamplePlaces::new(self.places, places);
        }
        sampled.threads = seen.into_threads(sampled.has_times);
        Ok(())
    }
}
