//! What each row counts in each recording.

use crate::naming::Naming;
use crate::recordings::Recordings;
use crate::statistics::weight;
use foldhash::HashMap;
use rprof_profile::difference::Side;
use rprof_profile::run::{Namesake, RunEvent, RunRow};
use rprof_profile::view::SortKey;
use rprof_profile::{FrameId, SampleCount};

/// What something counts: by recording, those before first.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunCounts {
    pub(crate) runs: Vec<SampleCount>,
    /// By recording and block of time, where there is one recording a side.
    pub(crate) blocks: Vec<Vec<f64>>,
}

impl RunCounts {
    pub(crate) fn of(n_runs: usize) -> Self {
        Self {
            runs: vec![SampleCount::default(); n_runs],
            blocks: Vec::new(),
        }
    }

    /// Adds blocks of a recording.
    pub(crate) fn add(&mut self, run: usize, blocks: &[SampleCount], has_blocks: HasBlocks) {
        let Some(sum) = self.runs.get_mut(run) else {
            return;
        };
        for block in blocks {
            sum.samples = sum.samples.saturating_add(block.samples);
            sum.weight = sum.weight.saturating_add(block.weight);
        }
        if has_blocks == HasBlocks::No {
            return;
        }
        self.blocks.resize(self.runs.len(), Vec::new());
        let Some(sums) = self.blocks.get_mut(run) else {
            return;
        };
        sums.resize(sums.len().max(blocks.len()), 0.0);
        for (sum, block) in sums.iter_mut().zip(blocks) {
            *sum += weight(block.weight);
        }
    }

    /// Takes off what was added twice.
    fn take_off(&mut self, run: usize, blocks: &[SampleCount]) {
        if let Some(sum) = self.runs.get_mut(run) {
            for block in blocks {
                sum.samples = sum.samples.saturating_sub(block.samples);
                sum.weight = sum.weight.saturating_sub(block.weight);
            }
        }
        let sums = self.blocks.get_mut(run).into_iter().flatten();
        for (sum, block) in sums.zip(blocks) {
            *sum = (*sum - weight(block.weight)).max(0.0);
        }
    }

    /// Adds what something else counts.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, one) in self.runs.iter_mut().zip(&other.runs) {
            sum.samples = sum.samples.saturating_add(one.samples);
            sum.weight = sum.weight.saturating_add(one.weight);
        }
        self.blocks
            .resize(self.blocks.len().max(other.blocks.len()), Vec::new());
        for (sums, blocks) in self.blocks.iter_mut().zip(&other.blocks) {
            sums.resize(sums.len().max(blocks.len()), 0.0);
            for (sum, block) in sums.iter_mut().zip(blocks) {
                *sum += block;
            }
        }
    }

    /// All of a side.
    pub(crate) fn side(&self, side: Side, n_before: usize) -> SampleCount {
        let runs = match side {
            Side::Before => self.runs.get(..n_before),
            Side::After => self.runs.get(n_before..),
        };
        let runs = runs.unwrap_or_default();
        runs.iter()
            .fold(SampleCount::default(), |sum, one| SampleCount {
                samples: sum.samples.saturating_add(one.samples),
                weight: sum.weight.saturating_add(one.weight),
            })
    }

    /// Samples of both sides.
    pub(crate) fn samples(&self) -> u64 {
        let samples = self.runs.iter().map(|run| run.samples);
        samples.fold(0, u64::saturating_add)
    }
}

/// Whether blocks of time are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HasBlocks {
    Yes,
    No,
}

/// What a row is, and what it counts.
#[derive(Clone, Debug)]
pub(crate) struct CountedRow {
    /// What it is, by sort key.
    pub(crate) cells: Vec<u32>,
    pub(crate) own: RunCounts,
    /// With what it called, each sample once; empty where there are none.
    pub(crate) children: RunCounts,
    /// The same where it is not inlined.
    pub(crate) standing: RunCounts,
}

/// The rows of an event, and all of it.
#[derive(Clone, Debug)]
pub(crate) struct CountedEvent {
    pub(crate) rows: Vec<CountedRow>,
    pub(crate) total: RunCounts,
    /// Whether rows have sums with what they called: where samples have stacks, and rows are functions. Any other row
    /// is many functions of one stack.
    pub(crate) has_children: bool,
}

/// Counts the rows of an event; `numbers` has the event's number in each recording.
pub(crate) fn count(
    recordings: &Recordings,
    numbers: &[usize],
    keys: &[SortKey],
    naming: &mut Naming,
) -> CountedEvent {
    let n_runs = numbers.len();
    let has_blocks = if recordings.are_single() {
        HasBlocks::Yes
    } else {
        HasBlocks::No
    };
    let mut counted = CountedEvent {
        rows: Vec::new(),
        total: RunCounts::of(n_runs),
        has_children: keys.contains(&SortKey::Symbol),
    };
    let mut by_cells: HashMap<Vec<u32>, usize> = HashMap::default();
    for (at, ((_, one), &number)) in recordings.all().zip(numbers).enumerate() {
        let Some(event) = one.run.events.get(number) else {
            continue;
        };
        counted.has_children &= event.has_stacks;
        let all: Vec<SampleCount> = event.blocks.iter().map(|block| block.all).collect();
        counted.total.add(at, &all, has_blocks);
        let groups = naming.groups(&one.run, event, keys);
        let cells = |place: (u32, FrameId)| cells_of(place, &groups, keys, naming, at);
        for row in &event.rows {
            let cells = cells((row.group, row.frame));
            let place = *by_cells.entry(cells).or_insert_with_key(|cells| {
                counted.rows.push(CountedRow::new(cells, n_runs));
                counted.rows.len() - 1
            });
            if let Some(counted) = counted.rows.get_mut(place) {
                let is_inlined = one.run.frames.of(row.frame).is_inlined;
                counted.add(row, at, is_inlined, has_blocks);
            }
        }
        let is_inlined = |frame| one.run.frames.of(frame).is_inlined;
        let place = |place| by_cells.get(&cells(place)).copied();
        take_off_namesakes(&mut counted.rows, (event, at), place, is_inlined);
    }
    counted
}

/// Takes off what rows of several functions have counted for more than one of them.
fn take_off_namesakes(
    rows: &mut [CountedRow],
    (event, run): (&RunEvent, usize),
    place: impl Fn((u32, FrameId)) -> Option<usize>,
    is_inlined: impl Fn(FrameId) -> bool,
) {
    let all = &event.namesakes;
    let places = all.iter().map(|one| place((one.group, one.frame)));
    let places: Vec<Option<usize>> = places.collect();
    // By row: its functions on the way here, and how many of these are not inlined.
    let mut open: HashMap<usize, (u32, u32)> = HashMap::default();
    for_each_step(all, |step| {
        let (NamesakeStep::In(at) | NamesakeStep::Out(at)) = step;
        let (namesake, Some(number)) = (&all[at], places[at]) else {
            return;
        };
        let stands = u32::from(!is_inlined(namesake.frame));
        let (n_open, n_standing) = open.entry(number).or_default();
        if let NamesakeStep::Out(_) = step {
            *n_open -= 1;
            *n_standing -= stands;
            return;
        }
        if let Some(row) = rows.get_mut(number).filter(|_| *n_open > 0) {
            row.children.take_off(run, &namesake.again);
            if stands > 0 && *n_standing > 0 {
                row.standing.take_off(run, &namesake.again);
            }
        }
        *n_open += 1;
        *n_standing += stands;
    });
}

/// On the way through namesakes, by number: to one, after its callers, and out of it.
#[derive(Clone, Copy)]
enum NamesakeStep {
    In(usize),
    Out(usize),
}

/// Goes to each namesake and out of it again. Callers stand before those that they call.
fn for_each_step(all: &[Namesake], mut visit: impl FnMut(NamesakeStep)) {
    let mut called: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let mut todo = Vec::new();
    for (at, namesake) in all.iter().enumerate() {
        match namesake.caller.map(|caller| caller as usize) {
            Some(caller) if caller < at => called[caller].push(at),
            _ => todo.push(NamesakeStep::In(at)),
        }
    }
    todo.reverse();
    while let Some(step) = todo.pop() {
        visit(step);
        if let NamesakeStep::In(at) = step {
            todo.push(NamesakeStep::Out(at));
            todo.extend(called[at].iter().rev().map(|&one| NamesakeStep::In(one)));
        }
    }
}

fn cells_of(
    (group, frame): (u32, FrameId),
    groups: &[Vec<u32>],
    keys: &[SortKey],
    naming: &Naming,
    run: usize,
) -> Vec<u32> {
    let group = groups.get(group as usize);
    let cells = keys.iter().enumerate().map(|(at, key)| match key {
        SortKey::Dso => naming.image(run, frame),
        SortKey::Symbol => naming.symbol(run, frame),
        SortKey::Srcline | SortKey::Srcfile => naming.line(run, frame),
        SortKey::Comm | SortKey::Dimension(_) => {
            group.and_then(|cells| cells.get(at)).copied().unwrap_or(0)
        }
    });
    cells.collect()
}

impl CountedRow {
    fn new(cells: &[u32], n_runs: usize) -> Self {
        Self {
            cells: cells.to_vec(),
            own: RunCounts::of(n_runs),
            children: RunCounts::of(n_runs),
            standing: RunCounts::of(n_runs),
        }
    }

    fn add(&mut self, row: &RunRow, run: usize, is_inlined: bool, blocks: HasBlocks) {
        self.own.add(run, &row.own, blocks);
        self.children.add(run, &row.with_children, blocks);
        if !is_inlined {
            self.standing.add(run, &row.with_children, HasBlocks::No);
        }
    }
}

#[cfg(test)]
mod tests;
