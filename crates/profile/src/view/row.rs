//! One row of a table.

use crate::{Dimension, DimensionValue, FrameId, Level, Profile, StrId, ValuesId};
use rprof_base::Share;
use std::ops::Deref;

/// What a row stands for; parts that are no sort key are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct RowKey {
    pub(crate) comm: Option<StrId>,
    /// A set with the values in those dimensions that are sort keys: of all that have them, the first one.
    pub(crate) values: ValuesId,
    pub(crate) image: Option<StrId>,
    pub(crate) frame: Option<FrameId>,
    /// File and line in the source; without the line where only files are told apart.
    pub(crate) position: Option<(StrId, Option<u32>)>,
}

impl RowKey {
    /// The function, if rows are told apart by it.
    pub fn frame(&self) -> Option<FrameId> {
        self.frame
    }

    /// The image, if rows are told apart by it.
    pub fn image(&self) -> Option<StrId> {
        self.image
    }

    /// The name of the thread, if rows are told apart by it.
    pub fn comm(&self) -> Option<StrId> {
        self.comm
    }

    /// The value in a dimension, if rows are told apart by it.
    pub fn value(&self, dimension: Dimension, profile: &Profile) -> Option<DimensionValue> {
        profile.values.of(self.values).get(dimension)
    }
}

/// One line of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it stands for.
    pub key: RowKey,
    /// Its place in the node tables.
    pub(super) number: usize,
    /// What its samples count.
    pub sums: Sums,
}

/// What the samples of a row count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Weight of the samples in it, in the event's unit.
    pub self_weight: u64,
    /// Number of those samples.
    pub self_samples: u64,
    /// Weight of the samples in it or in what it called; a sample counts once for a row.
    pub total_weight: u64,
    /// The first weight, each sample's divided by the threads that ran then; 0 if no column asks for it.
    pub(super) self_latency: u64,
    /// The same of the other.
    pub(super) total_latency: u64,
    /// Weight of the samples in it, by level.
    self_weights: [u64; Level::COUNT],
}

impl Row {
    pub(super) fn of(key: RowKey, number: usize) -> Self {
        Self {
            key,
            number,
            sums: Sums::NONE,
        }
    }

    /// A row that an event has nothing of.
    pub(super) fn absent(key: RowKey) -> Self {
        Self::of(key, usize::MAX)
    }

    /// Whether the event has anything of it.
    pub fn is_absent(&self) -> bool {
        self.number == usize::MAX
    }
}

impl Deref for Row {
    type Target = Sums;

    fn deref(&self) -> &Sums {
        &self.sums
    }
}

impl Sums {
    /// Of no sample.
    pub(super) const NONE: Self = Self {
        self_weight: 0,
        self_samples: 0,
        total_weight: 0,
        self_latency: 0,
        total_latency: 0,
        self_weights: [0; Level::COUNT],
    };

    pub(super) fn add_own(&mut self, level: Level, samples: u64, weight: u64) {
        self.self_weight = self.self_weight.saturating_add(weight);
        self.self_samples += samples;
        let at_level = &mut self.self_weights[level as usize];
        *at_level = at_level.saturating_add(weight);
    }

    /// Adds what another row counts, as its own.
    pub(super) fn add(&mut self, other: &Self) {
        self.self_weight = self.self_weight.saturating_add(other.self_weight);
        self.self_samples += other.self_samples;
        self.total_weight = self.self_weight;
        self.self_latency = self.self_latency.saturating_add(other.self_latency);
        self.total_latency = self.self_latency;
        for (sum, weight) in self.self_weights.iter_mut().zip(other.self_weights) {
            *sum = sum.saturating_add(weight);
        }
    }

    /// Weight of the samples in it that were taken at a level.
    pub fn weight_at(&self, level: Level) -> u64 {
        self.self_weights[level as usize]
    }
}

/// What rows are ordered by and trees grow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weighing {
    /// A row's own samples; rows without are left out.
    Own,
    /// Those of what it called, too (perf's `--children`).
    WithChildren,
}

/// What a field says of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    /// A part of the event's weight.
    Share(Share),
    /// A count, an id.
    Number(i128),
    /// A text as perf shows it.
    Text(String),
    /// Nothing was recorded.
    None,
}
