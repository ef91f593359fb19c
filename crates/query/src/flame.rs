//! Flame graphs as boxes: where each frame begins, and how wide it is.

mod in_time;
mod label;
mod stacks;
mod waits;

pub use in_time::FlameChart;
pub use label::FlameLabel;
use rprof_profile::view::FirstFrame;
use rprof_profile::{EventProfile, FrameId, Profile};
use stacks::{Callees, Callers, Stacks, Standing};
use std::cmp::Ordering;
use waits::WaitFrames;

/// What stands next to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FlameOrder {
    /// The heaviest to the left.
    #[default]
    Heaviest,
    /// By name: the same function is at the same place in pictures of several recordings.
    Name,
}

/// One box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameBox {
    /// What it stands for.
    pub label: FlameLabel,
    /// Index of the box that it stands on; `None` for the lowest.
    pub parent: Option<u32>,
    /// How many boxes are below it.
    pub depth: u32,
    /// What is to the left of it, in the event's unit.
    pub start: u64,
    /// Its width, in the event's unit: of samples in it or in what is above it.
    pub width: u64,
    /// Of that, what is above nothing: its own samples.
    pub own: u64,
    /// How many samples are in it or above it.
    pub samples: u64,
}

/// All boxes of a picture. Each comes after the one that it stands on, and boxes of one depth from left to right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameLayout {
    /// The boxes.
    pub boxes: Vec<FlameBox>,
    /// The width of all.
    pub whole: u64,
    /// How many boxes are on each other, at most.
    pub depth: u32,
}

/// The part of a picture that is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameView {
    /// The box that is as wide as the picture, by what it and those below it stand for, the lowest first. Of no such
    /// box there is no picture; where none is said, it is all boxes.
    pub path: Vec<FlameLabel>,
    /// Boxes that are narrower, in the event's unit, are left out, with what is on them.
    pub least_width: u64,
}

impl FlameLayout {
    /// Boxes of an event's stacks, the threads' names as the lowest.
    pub fn of(
        profile: &Profile,
        event: &EventProfile,
        first: FirstFrame,
        order: FlameOrder,
    ) -> Self {
        Self::seen(profile, event, (first, order), &FlameView::default())
    }

    /// Those boxes of the same picture that are looked at. The lowest is the last one of the path, at the start.
    pub fn seen(
        profile: &Profile,
        event: &EventProfile,
        (first, order): (FirstFrame, FlameOrder),
        view: &FlameView,
    ) -> Self {
        let ranked = Ranked {
            profile,
            ranks: profile.frames.label_ranks(&profile.strings),
            order,
        };
        let (waits, with_waits) = WaitFrames::of(profile, event);
        let event = with_waits.as_ref().unwrap_or(event);
        match first {
            FirstFrame::Outermost => ranked.lay_out(Callees::new(event, waits), view),
            FirstFrame::Innermost => ranked.lay_out(Callers::new(event, waits), view),
        }
    }
}

/// The order of boxes.
struct Ranked<'p> {
    profile: &'p Profile,
    ranks: &'p [u32],
    order: FlameOrder,
}

impl Ranked<'_> {
    fn lay_out<S: Stacks>(&self, mut stacks: S, view: &FlameView) -> FlameLayout {
        let mut layout = FlameLayout::default();
        let mut lowest = Vec::new();
        stacks.lowest(&mut lowest);
        for (nth, label) in view.path.iter().enumerate() {
            let found = lowest.into_iter().find(|one| one.label == *label);
            let Some(one) = found else {
                return layout;
            };
            lowest = Vec::new();
            if nth + 1 == view.path.len() {
                lowest.push(one)
            } else {
                stacks.on(&one, &mut lowest)
            }
        }
        let mut todo: Vec<(Standing<S::Place>, Option<u32>, u64)> = Vec::new();
        layout.whole = self.place(&mut lowest, (None, 0), view, &mut todo);
        while let Some((one, parent, start)) = todo.pop() {
            let depth = parent.map_or(0, |parent: u32| layout.boxes[parent as usize].depth + 1);
            let idx = u32::try_from(layout.boxes.len()).unwrap_or(u32::MAX);
            layout.boxes.push(FlameBox {
                label: one.label,
                parent,
                depth,
                start,
                width: one.width,
                own: one.own,
                samples: one.samples,
            });
            layout.depth = layout.depth.max(depth + 1);
            stacks.on(&one, &mut lowest);
            self.place(&mut lowest, (Some(idx), start), view, &mut todo);
        }
        layout
    }

    /// Takes boxes that stand on the same one, from a place on, and says where they end.
    fn place<P>(
        &self,
        list: &mut Vec<Standing<P>>,
        (parent, mut at): (Option<u32>, u64),
        view: &FlameView,
        todo: &mut Vec<(Standing<P>, Option<u32>, u64)>,
    ) -> u64 {
        self.sort(list);
        let from = todo.len();
        for one in list.drain(..) {
            let start = at;
            at = at.saturating_add(one.width);
            if one.width >= view.least_width {
                todo.push((one, parent, start));
            }
        }
        // The leftmost is to come first.
        todo[from..].reverse();
        at
    }

    fn sort<P>(&self, list: &mut [Standing<P>]) {
        match self.order {
            FlameOrder::Heaviest => list.sort_unstable_by(|a, b| {
                let by_width = b.width.cmp(&a.width);
                by_width.then_with(|| self.by_name(a.label, b.label))
            }),
            FlameOrder::Name => list.sort_unstable_by(|a, b| self.by_name(a.label, b.label)),
        }
    }

    fn by_name(&self, a: FlameLabel, b: FlameLabel) -> Ordering {
        let text = |comm| self.profile.strings.of(comm);
        let rank = |frame: FrameId| self.ranks[frame.number() as usize];
        let kind = |label| match label {
            FlameLabel::Comm(_) => 0,
            FlameLabel::Wait(_) => 1,
            FlameLabel::Frame(_) => 2,
        };
        match (a, b) {
            (FlameLabel::Frame(a), FlameLabel::Frame(b)) => rank(a).cmp(&rank(b)),
            (FlameLabel::Comm(a), FlameLabel::Comm(b))
            | (FlameLabel::Wait(a), FlameLabel::Wait(b)) => text(a).cmp(&text(b)),
            // Threads stand beside nothing else; what a function waits for comes before what it calls.
            (a, b) => kind(a).cmp(&kind(b)),
        }
    }
}

#[cfg(test)]
mod tests;
