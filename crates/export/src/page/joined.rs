//! Samples as the page has them: by thread, then in order of time; where there are too many, joined.

use super::columns::{difference, unsigned};
use super::stacks::Stacks;
use rprof_profile::SampledProfile;

/// How much is joined, so that a profile has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Detail {
    /// Samples of one thread, event and stack within so many nanoseconds are one row; 0 if each is one.
    pub(super) slot_ns: u64,
    /// Threads of one name are one.
    pub(super) threads: ThreadDetail,
    /// Stacks end at the outermost node that has fewer samples than this.
    pub(super) min_samples: u64,
}

/// Whether threads are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ThreadDetail {
    /// They are.
    Each,
    /// Only by their names.
    Names,
}

impl Detail {
    /// All of it.
    pub(super) const FULL: Self = Self {
        slot_ns: 0,
        threads: ThreadDetail::Each,
        min_samples: 0,
    };

    const FIRST_SLOT_NS: u64 = 1_000_000;

    /// The next coarser detail for a recording that is so long; `None` if there is nothing left to join.
    pub(super) fn coarser(self, span_ns: u64) -> Option<Self> {
        let slot_ns = match self.slot_ns {
            0 => Self::FIRST_SLOT_NS,
            slot_ns => slot_ns.saturating_mul(2),
        };
        let longest = span_ns / Self::MIN_SLOTS;
        match (slot_ns <= longest.max(Self::FIRST_SLOT_NS), self.threads) {
            (true, _) => Some(Self { slot_ns, ..self }),
            (false, ThreadDetail::Each) => Some(Self {
                slot_ns: Self::FIRST_SLOT_NS,
                threads: ThreadDetail::Names,
                ..self
            }),
            (false, ThreadDetail::Names) if self.min_samples < Self::MOST => Some(Self {
                min_samples: (self.min_samples * 2).max(2),
                ..self
            }),
            _ => None,
        }
    }

    /// Threads are told apart only as long as times are told apart so well.
    const MIN_SLOTS: u64 = 100;
    const MOST: u64 = 1 << 40;
}

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
    const EMPTY: Self = Self {
        thread: 0,
        event: 0,
        cpu: NO_CPU,
        time: 0,
        stack: 0,
        samples: 0,
        weight: 0,
    };

    fn key(&self) -> (u32, u64, u16, u32) {
        (self.thread, self.time, self.event, self.stack)
    }
}

/// The rows.
#[derive(Debug)]
pub(super) struct Rows {
    rows: Vec<Joined>,
    n_threads: usize,
    n_events: usize,
    is_joined: bool,
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
    pub(super) fn of(sampled: &SampledProfile, stacks: &Stacks) -> Self {
        let start_ns = sampled.samples.span_ns().map_or(0, |span| *span.start());
        let mut alike: Vec<Option<Option<u64>>> = vec![None; sampled.profile.events.len()];
        // Within a thread they stay in order of time.
        let mut places = first_places(sampled);
        let mut rows = vec![Joined::EMPTY; sampled.samples.len()];
        for sample in sampled.samples.iter() {
            if let Some(alike) = alike.get_mut(usize::from(sample.event)) {
                let is_alike = alike.is_none_or(|alike| alike == Some(sample.weight));
                *alike = Some(Some(sample.weight).filter(|_| is_alike));
            }
            let place = &mut places[sample.thread as usize];
            rows[*place] = Joined {
                thread: sample.thread,
                event: sample.event,
                cpu: sample.cpu.unwrap_or(NO_CPU),
                time: sample.time_ns.saturating_sub(start_ns),
                stack: sample.stack.map_or(0, |stack| stacks.number(stack) + 1),
                samples: 1,
                weight: sample.weight,
            };
            *place += 1;
        }
        Self {
            rows,
            n_threads: sampled.threads.len(),
            n_events: sampled.profile.events.len(),
            is_joined: false,
            alike: alike
                .into_iter()
                .map(|alike| alike.unwrap_or(Some(0)))
                .collect(),
            namesakes: namesakes(sampled),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Joins what is one by a coarser detail; `before` is the detail that they have.
    pub(super) fn join(&mut self, before: Detail, detail: Detail) {
        let unit = before.slot_ns.max(1);
        let is_by_name = detail.threads == ThreadDetail::Names;
        for row in &mut self.rows {
            row.time = row.time.saturating_mul(unit) / detail.slot_ns.max(1);
            row.cpu = NO_CPU;
            if is_by_name {
                row.thread = self.namesakes[row.thread as usize];
            }
        }
        self.rows.sort_by_key(Joined::key);
        self.rows.dedup_by(|next, one| {
            let is_same = next.key() == one.key();
            if is_same {
                one.samples += next.samples;
                one.weight = one.weight.saturating_add(next.weight);
            }
            is_same
        });
        self.is_joined = true;
    }

    /// Which columns are written.
    pub(super) fn present(&self) -> Present {
        Present {
            events: self.n_events > 1,
            cpus: self.rows.iter().any(|row| row.cpu != NO_CPU),
            samples: self.is_joined,
            weights: self.alike.iter().any(Option::is_none),
        }
    }

    /// What each sample of an event counts for, if that is the same.
    pub(super) fn alike(&self, event: usize) -> Option<u64> {
        self.alike.get(event).copied().flatten()
    }

    /// Appends the columns: rows of each thread, then time, stack, and what else is present.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let present = self.present();
        let mut n_of_thread = vec![0u64; self.n_threads];
        self.rows
            .iter()
            .for_each(|row| n_of_thread[row.thread as usize] += 1);
        n_of_thread.iter().for_each(|&n| unsigned(out, n));
        self.column(out, |row| row.time);
        self.column(out, |row| row.stack.into());
        if present.events {
            self.column(out, |row| row.event.into());
        }
        if present.cpus {
            self.column(out, |row| u64::from(row.cpu.wrapping_add(1)));
        }
        if present.samples {
            self.rows.iter().for_each(|row| unsigned(out, row.samples));
        }
        if present.weights {
            self.rows.iter().for_each(|row| unsigned(out, row.weight));
        }
    }

    /// Differences within each thread.
    fn column(&self, out: &mut Vec<u8>, value: impl Fn(&Joined) -> u64) {
        let mut before = (0, 0);
        for row in &self.rows {
            if row.thread != before.0 {
                before = (row.thread, 0);
            }
            let value = value(row);
            difference(out, value, before.1);
            before.1 = value;
        }
    }
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
