//! What takes long: it is done beside the loop, so that keys are read meanwhile.

use crate::shown::{Counted, MadeRows, RowsBy};
use crate::views::boxes::Boxes;
use rprof_profile::view::FirstFrame;
use rprof_query::{Explorer, FlameLayout, FlameOrder, SampleSelection, ThreadLanes, lanes};
use std::sync::Arc;

/// What is to be made.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Count(Arc<Explorer>, Box<SampleSelection>),
    Rows(Arc<Counted>, RowsBy),
    Boxes(Arc<Counted>),
    /// Lanes of this many slots.
    Lanes(Arc<Counted>, usize),
}

/// What was made, and of what.
#[derive(Debug)]
pub(crate) enum Made {
    /// Nothing if there is no such event.
    Counted(Box<SampleSelection>, Option<Arc<Counted>>),
    Rows(Arc<Counted>, Box<MadeRows>),
    Boxes(Arc<Counted>, Boxes),
    Lanes(Arc<Counted>, usize, Option<ThreadLanes>),
}

impl Task {
    /// Does it.
    pub(crate) fn run(self) -> Made {
        match self {
            Self::Count(explorer, selection) => {
                let counted = Counted::of(explorer, (*selection).clone());
                Made::Counted(selection, counted.map(Arc::new))
            }
            Self::Rows(counted, by) => {
                let rows = MadeRows::of(&counted, by);
                Made::Rows(counted, Box::new(rows))
            }
            Self::Boxes(counted) => {
                let (first, order) = (FirstFrame::Outermost, FlameOrder::Heaviest);
                let profile = counted.explorer.profile();
                let layout = FlameLayout::of(profile, &counted.event, first, order);
                Made::Boxes(counted, Boxes::of(layout))
            }
            Self::Lanes(counted, n_slots) => {
                let lanes = lanes(counted.explorer.sampled(), &counted.selection, n_slots);
                Made::Lanes(counted, n_slots, lanes)
            }
        }
    }

    /// Whether both make the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Count(explorer, one), Self::Count(of, other)) => {
                Arc::ptr_eq(explorer, of) && one == other
            }
            (Self::Rows(of, by), Self::Rows(other, other_by)) => {
                Arc::ptr_eq(of, other) && by == other_by
            }
            (Self::Boxes(of), Self::Boxes(other)) => Arc::ptr_eq(of, other),
            (Self::Lanes(of, n), Self::Lanes(other, other_n)) => {
                Arc::ptr_eq(of, other) && n == other_n
            }
            _ => false,
        }
    }
}
