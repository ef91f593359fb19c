//! What is computed of the samples that are selected; each part when a view first needs it.

use crate::views::boxes::Boxes;
use foldhash::HashMap;
use rprof_base::Share;
use rprof_profile::view::{
    CallTree, Columns, KeptRows, Order, Pruning, Row, Rows, SortKey, Weighing,
};
use rprof_profile::{EventProfile, FrameId, Node};
use rprof_query::{Explorer, SampleSelection, ThreadLanes};
use std::sync::Arc;

/// What rows are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowsBy {
    pub(crate) keys: Vec<SortKey>,
    pub(crate) weighing: Weighing,
}

/// Samples that are selected, counted.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) explorer: Arc<Explorer>,
    pub(crate) selection: SampleSelection,
    pub(crate) event: EventProfile,
    /// Weight and samples of what is shown.
    pub(crate) weight: u64,
    pub(crate) samples: u64,
}

impl Counted {
    /// Counts a selection; nothing if there is no such event.
    pub(crate) fn of(explorer: Arc<Explorer>, selection: SampleSelection) -> Option<Self> {
        let event = explorer.count(&selection)?;
        let sum = |(weight, samples): (u64, u64), node: &Node| {
            (
                weight.saturating_add(node.self_weight),
                samples + node.self_samples,
            )
        };
        let (weight, samples) = event.tree.nodes().iter().fold((0, 0), sum);
        Some(Self {
            explorer,
            selection,
            event,
            weight,
            samples,
        })
    }
}

/// Rows, and what trees below them are made of.
#[derive(Debug)]
pub(crate) struct MadeRows {
    by: RowsBy,
    /// Always there: taken only while a tree is made.
    kept: Option<KeptRows>,
}

impl MadeRows {
    pub(crate) fn of(counted: &Counted, by: RowsBy) -> Self {
        let profile = counted.explorer.profile();
        let rows = Rows::new(profile, &counted.event, &by.keys, by.weighing);
        Self {
            by,
            kept: Some(rows.keep()),
        }
    }
}

/// What of a selection is shown, as far as it was made.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) counted: Arc<Counted>,
    rows: Option<MadeRows>,
    boxes: Option<Boxes>,
    lanes: Option<(usize, Option<ThreadLanes>)>,
}

impl Shown {
    pub(crate) fn of(counted: Arc<Counted>) -> Self {
        Self {
            counted,
            rows: None,
            boxes: None,
            lanes: None,
        }
    }

    /// Whether all samples of the event are shown.
    pub(crate) fn is_all(&self) -> bool {
        self.counted.samples == self.counted.event.samples
    }

    /// Whether rows of these keys were made.
    pub(crate) fn has_rows(&self, by: &RowsBy) -> bool {
        self.rows.as_ref().is_some_and(|made| made.by == *by)
    }

    pub(crate) fn take_rows(&mut self, rows: MadeRows) {
        self.rows = Some(rows);
    }

    /// The rows, as far as they were made.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        let kept = self.rows.as_ref().and_then(|made| made.kept.as_ref());
        kept.into_iter().flat_map(KeptRows::iter)
    }

    /// The row with a number.
    pub(crate) fn row(&self, number: usize) -> Option<&Row> {
        self.rows.as_ref()?.kept.as_ref()?.get(number)
    }

    /// Puts rows in the order that another weighing has: the sums of rows have both.
    pub(crate) fn sort_rows(&mut self, by: &RowsBy) {
        if let Some(made) = &mut self.rows
            && made.by.keys == by.keys
            && made.by.weighing != by.weighing
            && let Some(kept) = &mut made.kept
        {
            let profile = self.counted.explorer.profile();
            kept.sort(profile, &Columns::of(&by.keys, by.weighing));
            made.by.weighing = by.weighing;
        }
    }

    /// The tree below a row.
    pub(crate) fn tree(&mut self, row: usize, order: Order) -> Option<CallTree> {
        let row = *self.row(row)?;
        let made = self.rows.as_mut()?;
        let profile = self.counted.explorer.profile();
        let rows = made.kept.take()?.again(profile, &self.counted.event);
        let tree = rows.call_tree(&row, order, Pruning::Below(0));
        made.kept = Some(rows.keep());
        Some(tree)
    }

    pub(crate) fn take_boxes(&mut self, boxes: Boxes) {
        self.boxes = Some(boxes);
    }

    /// The boxes, if they were made.
    pub(crate) fn boxes(&self) -> Option<&Boxes> {
        self.boxes.as_ref()
    }

    pub(crate) fn take_lanes(&mut self, n_slots: usize, lanes: Option<ThreadLanes>) {
        self.lanes = Some((n_slots, lanes));
    }

    /// Whether lanes of this many slots were made.
    pub(crate) fn has_lanes(&self, n_slots: usize) -> bool {
        let made = self.lanes.as_ref();
        made.is_some_and(|(made, _)| *made == n_slots)
    }

    /// The lanes, if there are any.
    pub(crate) fn lanes(&self) -> Option<&ThreadLanes> {
        self.lanes.as_ref()?.1.as_ref()
    }

    /// A share of all samples, or of those that are shown.
    pub(crate) fn share(&self, weight: u64, is_relative: bool) -> Share {
        let whole = if is_relative {
            self.counted.weight
        } else {
            self.counted.event.weight
        };
        Share::of(weight, whole)
    }
}

/// Names of frames, looked at once each.
#[derive(Debug, Default)]
pub(crate) struct FrameMatches(HashMap<FrameId, bool>);

impl FrameMatches {
    /// Whether a frame is such.
    pub(crate) fn of(&mut self, frame: FrameId, is_such: impl FnOnce() -> bool) -> bool {
        *self.0.entry(frame).or_insert_with(is_such)
    }
}
