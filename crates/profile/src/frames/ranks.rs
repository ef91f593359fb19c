//! The order of frames by what they are called.

use super::{FrameId, FrameInfo, Frames};
use crate::Strings;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// By number of the frame, its place in the order of labels; made once for all questions to a profile.
pub(super) type LabelRanks = OnceLock<Box<[u32]>>;

impl Frames {
    /// By number of the frame, its place in the order of labels. No two have the same.
    pub fn label_ranks(&self, strings: &Strings) -> &[u32] {
        self.ranks.get_or_init(|| {
            let label = |id| self.label_parts(id, strings);
            let starts = self.ids().map(|id| (label(id).start(), id));
            let mut order: Vec<(u128, FrameId)> = starts.collect();
            order.sort_unstable_by(|&(a_start, a), &(b_start, b)| {
                let by_label = || label(a).compare(&label(b));
                let rest = || (self.of(a).start, a).cmp(&(self.of(b).start, b));
                a_start.cmp(&b_start).then_with(by_label).then_with(rest)
            });
            let mut ranks = vec![0; order.len()];
            for (rank, (_, id)) in (0u32..).zip(order) {
                ranks[id.number() as usize] = rank;
            }
            ranks.into()
        })
    }

    /// Orders two as tables do: by name, then by where they begin; those without names come last.
    pub(crate) fn compare_symbols(&self, a: FrameId, b: FrameId, strings: &Strings) -> Ordering {
        let (a, b) = (self.of(a), self.of(b));
        let by_name = match (a.name, b.name) {
            (Some(a), Some(b)) => strings.compare(a, b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        };
        let rest = |frame: &FrameInfo| (frame.start, frame.level, frame.is_inlined);
        by_name.then_with(|| rest(a).cmp(&rest(b)))
    }
}
