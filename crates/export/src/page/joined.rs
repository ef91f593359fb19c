//! Samples as the page has them: by thread, then in order of time; where there are too many, joined.

use super::columns::{difference, unsigned};
use super::detail::{Detail, ThreadDetail};
use super::packing::Packing;
use super::stacks::Stacks;
use rprof_profile::{SampleTable, SampledProfile};
use std::io;

/// A row of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Joined {
    thread: u32,
    event: u16,
    cpu: u16,
    /// Since the first sample: nanoseconds, or slots.
    time: u64,
    /// One more than the stack's number; 0 if nothing was recorded of it.
    stack: u32,
    samples: u64,
    weight: u64,
}

impl Joined {
    fn key(&self) -> (u32, u64, u16, u32, u16) {
        (self.thread, self.time, self.event, self.stack, self.cpu)
    }
}

/// What rows are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowSource<'a> {
    samples: &'a SampleTable,
    stacks: &'a Stacks,
    start_ns: u64,
}

impl<'a> RowSource<'a> {
    pub(super) fn of(sampled: &'a SampledProfile, stacks: &'a Stacks) -> Self {
        let samples = &sampled.samples;
        Self {
            samples,
            stacks,
            start_ns: samples.span_ns().map_or(0, |span| *span.start()),
        }
    }

    /// The row of a sample.
    fn row(&self, sample: u32) -> Joined {
        let sample = self.samples.row(sample as usize);
        Joined {
            thread: sample.thread,
            event: sample.event,
            cpu: sample.cpu.unwrap_or(NO_CPU),
            time: sample.time_ns.saturating_sub(self.start_ns),
            stack: sample
                .stack
                .map_or(0, |stack| self.stacks.number(stack) + 1),
            samples: 1,
            weight: sample.weight,
        }
    }
}

/// The rows.
#[derive(Debug)]
pub(super) struct Rows {
    /// Numbers of all samples, by thread; within one in order of time.
    order: Vec<u32>,
    /// What became of them, if they were joined: rows of their own take ten times the memory.
    joined: Option<Vec<Joined>>,
    n_threads: usize,
    n_events: usize,
    has_cpus: bool,
    /// By event, if each of its samples counts for the same.
    alike: Vec<Option<u64>>,
    /// The first of each name, by thread.
    namesakes: Vec<u32>,
}

/// How many columns of samples there are, beside time and stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Present {
    pub(super) events: bool,
    pub(super) cpus: bool,
    pub(super) samples: bool,
    pub(super) weights: bool,
}

const NO_CPU: u16 = u16::MAX;

impl Rows {
    /// All samples, by thread.
    pub(super) fn of(sampled: &SampledProfile) -> Self {
        let mut alike: Vec<Option<Option<u64>>> = vec![None; sampled.profile.events.len()];
        let mut places = first_places(sampled);
        let mut order = vec![0; sampled.samples.len()];
        let mut has_cpus = false;
        for (number, sample) in (0u32..).zip(sampled.samples.iter()) {
            if let Some(alike) = alike.get_mut(usize::from(sample.event)) {
                let is_alike = alike.is_none_or(|alike| alike == Some(sample.weight));
                *alike = Some(Some(sample.weight).filter(|_| is_alike));
            }
            has_cpus |= sample.cpu.is_some();
            let place = &mut places[sample.thread as usize];
            order[*place] = number;
            *place += 1;
        }
        Self {
            order,
            joined: None,
            n_threads: sampled.threads.len(),
            n_events: sampled.profile.events.len(),
            has_cpus,
            alike: alike
                .into_iter()
                .map(|alike| alike.unwrap_or(Some(0)))
                .collect(),
            namesakes: namesakes(sampled),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.joined.as_ref().map_or(self.order.len(), Vec::len)
    }

    /// The sample that each row is, and the number of its stack; nothing once rows are joined.
    pub(super) fn ends<'a>(
        &'a self,
        source: RowSource<'a>,
    ) -> impl Iterator<Item = (u32, Option<u32>)> + 'a {
        let end = move |&sample: &u32| (sample, source.row(sample).stack.checked_sub(1));
        self.order.iter().map(end)
    }

    fn row(&self, source: RowSource<'_>, idx: usize) -> Joined {
        match &self.joined {
            Some(joined) => joined[idx],
            None => source.row(self.order[idx]),
        }
    }

    /// Joins what is one by a coarser detail; `before` is the detail that they have.
    pub(super) fn join(&mut self, source: RowSource<'_>, before: Detail, detail: Detail) {
        let unit = before.slot_ns.max(1);
        let is_by_name = detail.threads == ThreadDetail::Names;
        let namesakes = &self.namesakes;
        let coarser = |mut row: Joined| {
            row.time = row.time.saturating_mul(unit) / detail.slot_ns.max(1);
            if is_by_name {
                row.cpu = NO_CPU;
                row.thread = namesakes[row.thread as usize];
            }
            row
        };
        let mut rows: Vec<Joined> = match self.joined.take() {
            Some(rows) => rows.into_iter().map(coarser).collect(),
            None => {
                let order = std::mem::take(&mut self.order);
                let mut all = Vec::new();
                // As rows, all samples together would take much memory.
                for some in order.chunks(1 << 16) {
                    let rows = some.iter().map(|&sample| coarser(source.row(sample)));
                    let mut rows: Vec<Joined> = rows.collect();
                    join_alike(&mut rows);
                    all.extend(rows);
                }
                all
            }
        };
        join_alike(&mut rows);
        self.joined = Some(rows);
        self.has_cpus &= !is_by_name;
    }

    /// Which columns are written.
    pub(super) fn present(&self) -> Present {
        Present {
            events: self.n_events > 1,
            cpus: self.has_cpus,
            samples: self.joined.is_some(),
            weights: self.alike.iter().any(Option::is_none),
        }
    }

    /// What each sample of an event counts for, if that is the same.
    pub(super) fn alike(&self, event: usize) -> Option<u64> {
        self.alike.get(event).copied().flatten()
    }

    /// Writes the columns: rows of each thread, then time, stack, and what else is present.
    pub(super) fn write(&self, source: RowSource<'_>, out: &mut Packing) -> io::Result<()> {
        let present = self.present();
        let mut n_of_thread = vec![0u64; self.n_threads];
        for idx in 0..self.len() {
            n_of_thread[self.row(source, idx).thread as usize] += 1;
        }
        n_of_thread
            .iter()
            .for_each(|&n| unsigned(&mut out.bytes, n));
        let columns: [Column; 6] = [
            (true, Coding::Difference, |row| row.time),
            (true, Coding::Difference, |row| row.stack.into()),
            (present.events, Coding::Difference, |row| row.event.into()),
            (present.cpus, Coding::Difference, |row| {
                u64::from(row.cpu.wrapping_add(1))
            }),
            (present.samples, Coding::Unsigned, |row| row.samples),
            (present.weights, Coding::Unsigned, |row| row.weight),
        ];
        for (_, coding, value) in columns.into_iter().filter(|(is_there, ..)| *is_there) {
            let rows = (0..self.len()).map(|idx| self.row(source, idx));
            match coding {
                Coding::Difference => differences(rows, value, out)?,
                Coding::Unsigned => {
                    for row in rows {
                        unsigned(&mut out.bytes, value(&row));
                        out.flush_much()?;
                    }
                }
            }
            out.flush()?;
        }
        Ok(())
    }
}

/// Puts rows in order, and makes one of those that differ in nothing but counts.
fn join_alike(rows: &mut Vec<Joined>) {
    rows.sort_by_key(Joined::key);
    rows.dedup_by(|next, one| {
        let is_same = next.key() == one.key();
        if is_same {
            one.samples += next.samples;
            one.weight = one.weight.saturating_add(next.weight);
        }
        is_same
    });
}

/// Whether it is there, how it is written, its value.
type Column = (bool, Coding, fn(&Joined) -> u64);

/// How a column's numbers are written.
#[derive(Clone, Copy, Debug)]
enum Coding {
    Unsigned,
    /// Within each thread.
    Difference,
}

fn differences(
    rows: impl Iterator<Item = Joined>,
    value: fn(&Joined) -> u64,
    out: &mut Packing,
) -> io::Result<()> {
    let mut before = (0, 0);
    for row in rows {
        if row.thread != before.0 {
            before = (row.thread, 0);
        }
        let value = value(&row);
        difference(&mut out.bytes, value, before.1);
        before.1 = value;
        out.flush_much()?;
    }
    Ok(())
}

/// Where the rows of each thread begin.
fn first_places(sampled: &SampledProfile) -> Vec<usize> {
    let mut places = vec![0; sampled.threads.len()];
    for sample in sampled.samples.iter() {
        places[sample.thread as usize] += 1;
    }
    let mut first = 0;
    for place in &mut places {
        first += std::mem::replace(place, first);
    }
    places
}

/// For each thread the first of its name.
fn namesakes(sampled: &SampledProfile) -> Vec<u32> {
    let mut first = foldhash::HashMap::default();
    let threads = (0u32..).zip(&sampled.threads);
    threads
        .map(|(number, thread)| *first.entry(thread.comm).or_insert(number))
        .collect()
}
