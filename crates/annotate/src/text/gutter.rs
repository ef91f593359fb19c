//! Jumps, drawn beside the code.

use super::Drawing;
use crate::flow::{Jumps, Lane};
use std::ops::Range;

/// Lanes with their jumps.
#[derive(Debug)]
pub(super) struct Gutter<'l> {
    /// By lane, in order.
    lanes: Vec<Vec<&'l Lane>>,
    signs: &'static Signs,
}

/// What lanes are drawn with.
#[derive(Debug)]
struct Signs {
    across: char,
    down: char,
    crossing: char,
    /// Where a lane begins, ends, and is joined; the same where another one crosses.
    first: [char; 2],
    last: [char; 2],
    between: [char; 2],
}

const ASCII: Signs = Signs {
    across: '-',
    down: '|',
    crossing: '|',
    first: ['/', '/'],
    last: ['\\', '\\'],
    between: ['+', '+'],
};

const BOXES: Signs = Signs {
    across: '\u{2500}',
    down: '\u{2502}',
    crossing: '\u{253c}',
    first: ['\u{256d}', '\u{252c}'],
    last: ['\u{2570}', '\u{2534}'],
    between: ['\u{251c}', '\u{253c}'],
};

impl<'l> Gutter<'l> {
    pub(super) fn new(jumps: &'l Jumps, drawing: Drawing) -> Self {
        let n_lanes = match drawing {
            Drawing::None => 0,
            Drawing::Ascii | Drawing::Boxes => jumps.n_lanes,
        };
        let mut lanes = vec![Vec::new(); n_lanes];
        for jump in &jumps.lanes {
            if let Some(lane) = lanes.get_mut(jump.lane) {
                lane.push(jump);
            }
        }
        let signs = match drawing {
            Drawing::Boxes => &BOXES,
            Drawing::None | Drawing::Ascii => &ASCII,
        };
        Self { lanes, signs }
    }

    /// Columns that it takes.
    pub(super) fn width(&self) -> usize {
        match self.lanes.len() {
            0 => 0,
            n => n + 3,
        }
    }

    /// What stands beside an instruction.
    pub(super) fn beside(&self, at: usize) -> String {
        let signs = self.signs;
        let mut cells = String::new();
        let (mut is_joined, mut is_target) = (false, false);
        for lane in self.lanes.iter().rev() {
            let jump = last_from(lane, at).filter(|jump| jump.span().1 >= at);
            let joins = |jump: &&Lane| jump.target == at || jump.sources.binary_search(&at).is_ok();
            let cell = match (jump, jump.filter(joins)) {
                (_, Some(jump)) => {
                    is_target |= jump.target == at;
                    let (first, last) = jump.span();
                    let sign = match at {
                        _ if first == last => signs.between,
                        _ if at == first => signs.first,
                        _ if at == last => signs.last,
                        _ => signs.between,
                    };
                    sign[usize::from(std::mem::replace(&mut is_joined, true))]
                }
                (Some(_), None) if is_joined => signs.crossing,
                (Some(_), None) => signs.down,
                (None, _) if is_joined => signs.across,
                (None, _) => ' ',
            };
            cells.push(cell);
        }
        match (self.lanes.is_empty(), is_joined, is_target) {
            (true, _, _) => {}
            (_, _, true) => cells.extend([signs.across, '>', ' ']),
            (_, true, _) => cells.extend([signs.across, signs.across, ' ']),
            (_, false, _) => cells += "   ",
        }
        cells
    }

    /// What stands beside what is not an instruction: between the one before the range and the first after it, with
    /// those of the range left out.
    pub(super) fn between(&self, left_out: Range<usize>) -> String {
        let mut cells = String::new();
        for lane in self.lanes.iter().rev() {
            let before = left_out.start.checked_sub(1);
            let jump = before.and_then(|before| last_from(lane, before));
            let passes = jump.is_some_and(|jump| jump.span().1 >= left_out.end);
            cells.push(if passes { self.signs.down } else { ' ' });
        }
        if !self.lanes.is_empty() {
            cells += "   ";
        }
        cells
    }
}

/// The last jump of a lane that begins at this instruction or before it.
fn last_from<'l>(lane: &[&'l Lane], at: usize) -> Option<&'l Lane> {
    let after = lane.partition_point(|jump| jump.span().0 <= at);
    lane.get(after.checked_sub(1)?).copied()
}
