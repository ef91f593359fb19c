//! The flame graph: boxes as wide as what they weigh, callers above what they called.

use super::boxes::Boxes;
use crate::cursor::Step;

/// A box on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedBox {
    pub(crate) number: u32,
    pub(crate) depth: usize,
    pub(crate) x: usize,
    pub(crate) width: usize,
}

/// What of the graph is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlameView {
    /// The box that is as wide as the screen; without it, all are.
    pub(crate) zoom: Option<u32>,
    pub(crate) selected: u32,
    /// The first line on the screen.
    pub(crate) top: usize,
}

impl FlameView {
    /// Where boxes are, as far as they are wide enough to be seen: callers first, then from left to right.
    pub(crate) fn placed(&self, boxes: &Boxes, columns: usize) -> Vec<PlacedBox> {
        let (start, whole) = match self.zoom.and_then(|zoom| boxes.get(zoom)) {
            Some(zoom) => (zoom.start, zoom.width),
            None => (0, boxes.layout.whole),
        };
        let column = |at: u64| {
            let at = u128::from(at.saturating_sub(start)) * columns as u128;
            usize::try_from(at / u128::from(whole.max(1)))
                .unwrap_or(usize::MAX)
                .min(columns)
        };
        let mut placed = Vec::new();
        let mut todo: Vec<u32> = Vec::new();
        match self.zoom {
            Some(zoom) => {
                // What is further out is as wide as the screen.
                let mut outer: Vec<u32> = boxes.path(zoom).skip(1).collect();
                outer.reverse();
                let whole_line = |(depth, number)| PlacedBox {
                    number,
                    depth,
                    x: 0,
                    width: columns,
                };
                placed.extend(outer.into_iter().enumerate().map(whole_line));
                todo.push(zoom);
            }
            None => todo.extend(boxes.children(None).iter().rev()),
        }
        while let Some(number) = todo.pop() {
            let Some(one) = boxes.get(number) else {
                continue;
            };
            let x = column(one.start);
            let width = column(one.start.saturating_add(one.width)).saturating_sub(x);
            if width > 0 {
                let depth = one.depth as usize;
                placed.push(PlacedBox {
                    number,
                    depth,
                    x,
                    width,
                });
                todo.extend(boxes.children(Some(number)).iter().rev());
            }
        }
        placed
    }

    /// Selects a neighbour.
    pub(crate) fn step(&mut self, step: Step, boxes: &Boxes, columns: usize) {
        let placed = self.placed(boxes, columns);
        let Some(here) = placed
            .iter()
            .find(|one| one.number == self.selected)
            .copied()
        else {
            self.selected = placed.first().map_or(0, |first| first.number);
            return;
        };
        let beside = |depth: usize| placed.iter().filter(move |one| one.depth == depth);
        // What is on it, or where its callers end, is below or above its beginning.
        let over = |depth: usize| {
            let mut line = beside(depth);
            line.find(|one| one.x < here.x + here.width && here.x < one.x + one.width)
        };
        let to = match step {
            Step::Up => here.depth.checked_sub(1).and_then(over),
            Step::Down => over(here.depth + 1),
            Step::Home => beside(here.depth).next(),
            Step::End => beside(here.depth).next_back(),
            Step::PageUp => placed.first(),
            Step::PageDown => {
                let deepest = |boxed: &&PlacedBox| (boxed.depth, boxed.width);
                placed.iter().max_by_key(deepest)
            }
        };
        self.selected = to.unwrap_or(&here).number;
    }

    /// Selects the box to the left or right on the same line.
    pub(crate) fn sideways(&mut self, is_left: bool, boxes: &Boxes, columns: usize) {
        let placed = self.placed(boxes, columns);
        let Some(here) = placed
            .iter()
            .find(|one| one.number == self.selected)
            .copied()
        else {
            return;
        };
        let mut line = placed.iter().filter(|one| one.depth == here.depth);
        let to = match is_left {
            true => line.rfind(|one| one.x < here.x),
            false => line.find(|one| one.x > here.x),
        };
        self.selected = to.unwrap_or(&here).number;
    }

    /// Makes the selected box as wide as the screen; if it is, the one that it stands on.
    pub(crate) fn zoom_in(&mut self, boxes: &Boxes) {
        match self.zoom == Some(self.selected) {
            true => self.zoom = boxes.get(self.selected).and_then(|one| one.parent),
            false => self.zoom = Some(self.selected),
        }
    }

    /// Out to all. Says whether there was anything to do.
    pub(crate) fn zoom_out(&mut self, boxes: &Boxes) -> bool {
        let zoom = self.zoom.take();
        // One step: to the caller with more weight than this one has.
        if let Some(number) = zoom
            && let Some(one) = boxes.get(number)
        {
            let mut outer = boxes.path(number).skip(1);
            self.zoom = outer.find(|&at| boxes.get(at).is_some_and(|at| at.width > one.width));
        }
        zoom.is_some()
    }

    /// Selects a box wherever it is, and makes it wide enough to be seen.
    pub(crate) fn show(&mut self, number: u32, boxes: &Boxes, columns: usize) {
        self.selected = number;
        let is_seen = |view: &Self| {
            let placed = view.placed(boxes, columns);
            placed.iter().any(|one| one.number == number)
        };
        if !is_seen(self) {
            self.zoom = None;
        }
        if !is_seen(self) {
            self.zoom = Some(number);
        }
    }

    /// The selected box onto the screen.
    pub(crate) fn fit(&mut self, boxes: &Boxes, height: usize) {
        if self.selected >= boxes.len() {
            *self = Self::default();
        }
        let depth = boxes.get(self.selected).map_or(0, |one| one.depth as usize);
        let height = height.max(1);
        self.top = self.top.min(depth).max((depth + 1).saturating_sub(height));
    }
}
