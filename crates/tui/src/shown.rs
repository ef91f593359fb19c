//! What is computed of the samples that are selected; each part when a view first needs it.

use crate::views::boxes::Boxes;
use foldhash::HashMap;
use rprof_base::Share;
use rprof_profile::view::{
    CallTree, FirstFrame, KeptRows, Order, Pruning, Row, Rows, SortKey, Weighing,
};
use rprof_profile::{EventProfile, FrameId};
use rprof_query::{
    Explorer, FlameLayout, FlameOrder, SampleSelection, StackFolding, ThreadLanes, lanes,
};

/// What rows are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowsBy {
    pub(crate) keys: Vec<SortKey>,
    pub(crate) weighing: Weighing,
}

/// Samples that are selected, counted.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) selection: SampleSelection,
    pub(crate) event: EventProfile,
    /// Weight and samples of what is shown.
    pub(crate) weight: u64,
    pub(crate) samples: u64,
    /// Made of which keys.
    rows_by: Option<RowsBy>,
    kept: Option<KeptRows>,
    rows: Vec<Row>,
    boxes: Option<Boxes>,
    lanes: Option<(usize, Option<ThreadLanes>)>,
}

impl Shown {
    /// Counts a selection; nothing if there is no such event.
    pub(crate) fn of(explorer: &mut Explorer, selection: SampleSelection) -> Option<Self> {
        let event = explorer.select(&selection, &StackFolding::default())?;
        let nodes = event.tree.nodes().iter();
        let sum = |(weight, samples): (u64, u64), node: &rprof_profile::Node| {
            (
                weight.saturating_add(node.self_weight),
                samples + node.self_samples,
            )
        };
        let (weight, samples) = nodes.fold((0, 0), sum);
        Some(Self {
            selection,
            event,
            weight,
            samples,
            rows_by: None,
            kept: None,
            rows: Vec::new(),
            boxes: None,
            lanes: None,
        })
    }

    /// Whether all samples of the event are shown.
    pub(crate) fn is_all(&self) -> bool {
        self.samples == self.event.samples
    }

    /// Makes rows, unless these are there. Says whether they are new.
    pub(crate) fn need_rows(&mut self, explorer: &Explorer, by: &RowsBy) -> bool {
        if self.rows_by.as_ref() == Some(by) {
            return false;
        }
        let rows = Rows::new(explorer.profile(), &self.event, &by.keys, by.weighing);
        self.rows = rows.iter().copied().collect();
        self.kept = Some(rows.keep());
        self.rows_by = Some(by.clone());
        true
    }

    /// The rows, as far as they were made.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The tree below a row, and whether its roots stand for the row itself.
    pub(crate) fn tree(
        &mut self,
        explorer: &Explorer,
        row: usize,
        order: Order,
    ) -> Option<CallTree> {
        let row = *self.rows.get(row)?;
        let rows = self.kept.take()?.again(explorer.profile(), &self.event);
        let tree = rows.call_tree(&row, order, Pruning::Below(0));
        self.kept = Some(rows.keep());
        Some(tree)
    }

    /// Makes boxes, unless they are there. Says whether they are new.
    pub(crate) fn need_boxes(&mut self, explorer: &Explorer) -> bool {
        let is_new = self.boxes.is_none();
        if is_new {
            let (first, order) = (FirstFrame::Outermost, FlameOrder::Heaviest);
            let layout = FlameLayout::of(explorer.profile(), &self.event, first, order);
            self.boxes = Some(Boxes::of(layout));
        }
        is_new
    }

    /// The boxes, if they were made.
    pub(crate) fn boxes(&self) -> Option<&Boxes> {
        self.boxes.as_ref()
    }

    /// Makes lanes of so many slots, unless they are there.
    pub(crate) fn need_lanes(&mut self, explorer: &Explorer, n_slots: usize) {
        if !self.has_lanes(n_slots) {
            let lanes = lanes(explorer.sampled(), &self.selection, n_slots);
            self.lanes = Some((n_slots, lanes));
        }
    }

    /// Whether lanes of so many slots were made.
    pub(crate) fn has_lanes(&self, n_slots: usize) -> bool {
        self.lanes
            .as_ref()
            .is_some_and(|(made, _)| *made == n_slots)
    }

    /// The lanes, if there are any.
    pub(crate) fn lanes(&self) -> Option<&ThreadLanes> {
        self.lanes.as_ref()?.1.as_ref()
    }

    /// A share of all samples, or of those that are shown.
    pub(crate) fn share(&self, weight: u64, is_relative: bool) -> Share {
        let whole = if is_relative {
            self.weight
        } else {
            self.event.weight
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
