//! Where boxes are on the screen.

use crate::views::boxes::Boxes;

/// A box on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlacedBox {
    pub(super) number: u32,
    pub(super) depth: usize,
    pub(super) x: usize,
    pub(super) width: usize,
    /// How many boxes these columns are of, if each of them is too narrow: `number` is the first.
    pub(super) n_narrow: usize,
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

/// Where boxes are, callers first, then from left to right; `zoom` is as wide as the screen. Those that are too narrow
/// to be seen are one.
pub(super) fn place_boxes(boxes: &Boxes, zoom: Option<u32>, columns: usize) -> Vec<PlacedBox> {
    let mut placed = Vec::new();
    let mut todo: Vec<&[u32]> = Vec::new();
    match &zoom {
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
    let zoomed = zoom.and_then(|zoom| boxes.get(zoom));
    let scale = FlameScale {
        start: zoomed.map_or(0, |zoom| zoom.start),
        whole: zoomed.map_or(boxes.layout.whole, |zoom| zoom.width),
        columns,
    };
    while let Some(line) = todo.pop() {
        let begin = placed.len();
        scale.place(line, boxes, &mut placed);
        let wide = placed[begin..].iter().filter(|one| one.n_narrow == 0);
        todo.extend(wide.map(|one| boxes.children(Some(one.number))));
    }
    placed.sort_by_key(|one| (one.depth, one.x));
    placed
}
