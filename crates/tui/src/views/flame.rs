//! The flame graph: boxes as wide as their weight, callers above callees.

use super::box_names::{BoxNames, BoxPath};
use super::boxes::Boxes;
use crate::cursor::Step;

/// A box on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedBox {
    pub(crate) number: u32,
    pub(crate) depth: usize,
    pub(crate) x: usize,
    pub(crate) width: usize,
    /// How many boxes these columns are of, if each of them is too narrow: `number` is the first.
    pub(crate) n_narrow: usize,
}

/// What a column is.
#[derive(Clone, Copy, Debug)]
struct FlameScale {
    start: u64,
    whole: u64,
    columns: usize,
}

impl FlameScale {
    fn column(self, at: u64) -> usize {
        let at = u128::from(at.saturating_sub(self.start)) * self.columns as u128;
        usize::try_from(at / u128::from(self.whole.max(1)))
            .unwrap_or(usize::MAX)
            .min(self.columns)
    }

    /// Boxes beside each other.
    fn place(self, line: &[u32], boxes: &Boxes, placed: &mut Vec<PlacedBox>) {
        let mut narrow: Option<PlacedBox> = None;
        let mut end = 0;
        for &number in line {
            let Some(one) = boxes.get(number) else {
                continue;
            };
            let x = self.column(one.start);
            end = self.column(one.start.saturating_add(one.width));
            let place = PlacedBox {
                number,
                depth: one.depth as usize,
                x,
                width: end - x,
                n_narrow: 0,
            };
            if place.width > 0 && narrow.is_none() {
                placed.push(place);
            } else {
                narrow.get_or_insert(place).n_narrow += 1;
            }
        }
        // The heaviest come first: after the first narrow one there are only such.
        if let Some(narrow) = narrow.filter(|narrow| end > narrow.x) {
            let width = end - narrow.x;
            placed.push(PlacedBox { width, ..narrow });
        }
    }
}

/// The visible part, by name.
#[derive(Debug)]
pub(crate) struct RememberedFlame {
    zoom: Option<BoxPath>,
    selected: BoxPath,
    top: usize,
}

/// The visible part of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlameView {
    /// The box zoomed to the screen's width; `None` shows all.
    pub(crate) zoom: Option<u32>,
    /// What is to be as wide, where only its caller is there now; with what is so instead.
    missing: Option<(BoxPath, Option<u32>)>,
    pub(crate) selected: u32,
    /// The first line on the screen.
    pub(crate) top: usize,
}

impl FlameView {
    /// Where boxes are, callers first, then from left to right. Those that are too narrow to be seen are one.
    pub(crate) fn placed(&self, boxes: &Boxes, columns: usize) -> Vec<PlacedBox> {
        let mut placed = Vec::new();
        let mut todo: Vec<&[u32]> = Vec::new();
        match &self.zoom {
            Some(zoom) => {
                // What is further out is as wide as the screen.
                let mut outer: Vec<u32> = boxes.path(*zoom).skip(1).collect();
                outer.reverse();
                let whole_line = |(depth, number)| PlacedBox {
                    number,
                    depth,
                    x: 0,
                    width: columns,
                    n_narrow: 0,
                };
                placed.extend(outer.into_iter().enumerate().map(whole_line));
                todo.push(std::slice::from_ref(zoom));
            }
            None => todo.push(boxes.children(None)),
        }
        let scale = self.scale(boxes, columns);
        while let Some(line) = todo.pop() {
            let begin = placed.len();
            scale.place(line, boxes, &mut placed);
            let wide = placed[begin..].iter().filter(|one| one.n_narrow == 0);
            todo.extend(wide.map(|one| boxes.children(Some(one.number))));
        }
        placed.sort_by_key(|one| (one.depth, one.x));
        placed
    }

    fn scale(&self, boxes: &Boxes, columns: usize) -> FlameScale {
        let (start, whole) = match self.zoom.and_then(|zoom| boxes.get(zoom)) {
            Some(zoom) => (zoom.start, zoom.width),
            None => (0, boxes.layout.whole),
        };
        FlameScale {
            start,
            whole,
            columns,
        }
    }

    /// Selects a neighbour.
    pub(crate) fn step(&mut self, step: Step, boxes: &Boxes, columns: usize) {
        let placed = self.placed(boxes, columns);
        let Some(here) = self.selected_of(&placed) else {
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

    fn selected_of(&self, placed: &[PlacedBox]) -> Option<PlacedBox> {
        let mut all = placed.iter();
        all.find(|one| one.number == self.selected).copied()
    }

    /// Selects the box to the left or right on the same line.
    pub(crate) fn sideways(&mut self, is_left: bool, boxes: &Boxes, columns: usize) {
        let placed = self.placed(boxes, columns);
        let Some(here) = self.selected_of(&placed) else {
            return;
        };
        let mut line = placed.iter().filter(|one| one.depth == here.depth);
        let to = if is_left {
            line.rfind(|one| one.x < here.x)
        } else {
            line.find(|one| one.x > here.x)
        };
        self.selected = to.unwrap_or(&here).number;
    }

    /// Makes the selected box as wide as the screen; if it is, the one that it stands on.
    pub(crate) fn zoom_in(&mut self, boxes: &Boxes) {
        if self.zoom == Some(self.selected) {
            self.zoom = boxes.get(self.selected).and_then(|one| one.parent)
        } else {
            self.zoom = Some(self.selected)
        }
    }

    /// Zooms out completely. Returns whether anything changed.
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
            let mut wide = placed.iter().filter(|one| one.n_narrow == 0);
            wide.any(|one| one.number == number)
        };
        if !is_seen(self) {
            self.zoom = None;
        }
        if !is_seen(self) {
            self.zoom = Some(number);
        }
    }

    /// The zoomed and selected boxes.
    pub(crate) fn remember(&self, names: BoxNames<'_>) -> RememberedFlame {
        RememberedFlame {
            zoom: match &self.missing {
                Some((path, instead)) if *instead == self.zoom => Some(path.clone()),
                _ => self.zoom.map(|zoom| names.path(zoom)),
            },
            selected: names.path(self.selected),
            top: self.top,
        }
    }

    /// Restores them for other boxes, as far as they still exist.
    pub(crate) fn again(names: BoxNames<'_>, was: &RememberedFlame) -> Self {
        let zoom = was.zoom.as_ref().and_then(|path| names.find(path));
        let is_found =
            |path: &BoxPath| zoom.is_some_and(|zoom| names.path(zoom).len() == path.len());
        let missing = was.zoom.clone().filter(|path| !is_found(path));
        Self {
            zoom,
            missing: missing.map(|path| (path, zoom)),
            selected: names.find(&was.selected).unwrap_or(0),
            top: was.top,
        }
    }

    /// Scrolls to the selected box.
    pub(crate) fn fit(&mut self, boxes: &Boxes, height: usize) {
        if self.selected >= boxes.len() {
            *self = Self::default();
        }
        let depth = boxes.get(self.selected).map_or(0, |one| one.depth as usize);
        let height = height.max(1);
        self.top = self.top.min(depth).max((depth + 1).saturating_sub(height));
    }
}
