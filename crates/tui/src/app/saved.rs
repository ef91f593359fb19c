//! What is seen, as text: to be saved or copied.

use super::{App, Effect};
use crate::views::ViewKind;
use crate::views::boxes::folded;
use crate::views::lanes::times_of;
use crate::views::table::TableLine;
use crate::zoom::{TimeUnit, percent};
use rprof_profile::view::Weighing;
use rprof_untrusted::printable;

/// Columns of a percentage.
const PERCENT: usize = 9;

impl App {
    /// The lines of the view, all of them.
    pub fn text(&self) -> String {
        let mut text = format!("# {}\n", self.what());
        match self.view {
            ViewKind::Rows => self.rows_text(&mut text),
            ViewKind::Calls => self.calls_text(&mut text),
            ViewKind::Flame => self.flame_text(&mut text),
            ViewKind::Threads => self.lanes_text(&mut text),
        }
        text
    }

    fn rows_text(&self, text: &mut String) {
        for at in 0..self.table.lines.len() {
            *text += &self.table_line_text(at);
            text.push('\n');
        }
    }

    fn table_line_text(&self, at: usize) -> String {
        let (Some(shown), Some(line)) = (&self.shown, self.table.lines.get(at)) else {
            return String::new();
        };
        let share = |weight| {
            format!(
                "{:>PERCENT$}",
                percent(shown.share(weight, self.is_relative))
            )
        };
        match *line {
            TableLine::Row(number) => {
                let Some(row) = shown.row(number) else {
                    return String::new();
                };
                let mut line = String::new();
                if self.by.weighing == Weighing::WithChildren {
                    line += &share(row.total_weight);
                }
                line += &share(row.self_weight);
                for cell in self.cells(row) {
                    line += "  ";
                    line += &cell;
                }
                line
            }
            TableLine::Node { row, node, depth } => {
                let Some(tree) = self.table.tree(row) else {
                    return String::new();
                };
                let node = tree.tree.node(node);
                let profile = self.explorer.profile();
                let mut name = String::new();
                profile
                    .frames
                    .label_parts(node.frame, &profile.strings)
                    .append_to(&mut name);
                let indent = " ".repeat(4 + 2 * depth);
                format!("{indent}{}  {name}", share(node.total.weight))
            }
        }
    }

    fn calls_text(&self, text: &mut String) {
        let Some((shown, boxes)) = self.shown_boxes() else {
            return;
        };
        for line in &self.calls.lines {
            let Some(one) = boxes.get(line.number) else {
                continue;
            };
            let share = |weight| percent(shown.share(weight, self.is_relative));
            let (total, own) = (share(one.width), share(one.own));
            let indent = " ".repeat(2 * line.depth);
            let name = boxes.name(line.number, self.explorer.profile());
            *text += &format!("{total:>PERCENT$}{own:>PERCENT$}  {indent}{name}\n");
        }
    }

    /// Boxes as wide as one column of the screen, or wider.
    fn flame_text(&self, text: &mut String) {
        let Some((shown, boxes)) = self.shown_boxes() else {
            return;
        };
        let mut placed = self.flame.placed(boxes, self.columns());
        placed.retain(|one| one.n_narrow == 0);
        placed.sort_by_key(|one| (one.x, one.depth));
        for placed in placed {
            let width = boxes.get(placed.number).map_or(0, |one| one.width);
            let share = percent(shown.share(width, self.is_relative));
            let indent = " ".repeat(2 * placed.depth);
            let name = boxes.name(placed.number, self.explorer.profile());
            *text += &format!("{share:>PERCENT$}  {indent}{name}\n");
        }
    }

    fn lanes_text(&self, text: &mut String) {
        let Some((shown, lanes)) = self.shown_lanes() else {
            return;
        };
        let slots = lanes
            .lanes
            .first()
            .map_or(1, |lane| lane.slots.len())
            .max(1);
        let times = times_of(lanes, &(0..=slots - 1));
        let long = times.end().saturating_sub(*times.start());
        let long = TimeUnit::of(long).text(long);
        *text += &format!("# {long}, {slots} parts\n");
        for lane in &lanes.lanes {
            let share = percent(shown.share(lane.weight, self.is_relative));
            let name = self.thread_name(lane.thread);
            let slots: Vec<String> = lane.slots.iter().map(ToString::to_string).collect();
            *text += &format!("{share:>PERCENT$}  {name}  {}\n", slots.join(" "));
        }
    }

    /// A thread by name and number.
    pub(crate) fn thread_name(&self, thread: u32) -> String {
        let sampled = self.explorer.sampled();
        let thread = sampled.threads.get(thread as usize);
        thread.map_or_else(String::new, |thread| {
            format!("{}/{}", sampled.profile.strings.of(thread.comm), thread.tid)
        })
    }

    /// Event, samples and zooms, in a line.
    pub(crate) fn what(&self) -> String {
        let Some(event) = self.explorer.profile().events.get(self.event) else {
            return "no events".to_owned();
        };
        let mut what = event.name.to_string();
        let n_events = self.explorer.profile().events.len();
        if n_events > 1 {
            what += &format!(" ({} of {n_events})", self.event + 1);
        }
        what += &match &self.shown {
            None => String::new(),
            Some(shown) if shown.is_all() => {
                format!(", {} samples", grouped(shown.counted.samples))
            }
            Some(shown) => format!(
                ", {} of {} samples",
                grouped(shown.counted.samples),
                grouped(shown.counted.event.samples)
            ),
        };
        for zoom in &self.zooms {
            what += ", ";
            what += &zoom.text(self.explorer.sampled());
        }
        printable(&what).into_owned()
    }

    /// A text of what is selected, for the clipboard.
    pub(super) fn copy(&mut self) -> Effect {
        let text = match self.view {
            ViewKind::Rows => match self.table.selected() {
                Some(TableLine::Node { row, node, .. }) => Some(self.node_stack(row, node)),
                Some(TableLine::Row(_)) => {
                    Some(self.table_line_text(self.table.cursor.at).trim().to_owned())
                }
                None => None,
            },
            ViewKind::Calls | ViewKind::Flame => {
                let selected = self.selected_box();
                selected.map(|(boxes, number)| boxes.stack(number, self.explorer.profile()))
            }
            ViewKind::Threads => {
                let lanes = self.shown.as_ref().and_then(|shown| shown.lanes());
                let lane = lanes.and_then(|lanes| lanes.lanes.get(self.lanes.cursor.at));
                lane.map(|lane| self.thread_name(lane.thread))
            }
        };
        match text {
            Some(text) => Effect::Copy(text),
            None => {
                self.message = Some("nothing is selected".to_owned());
                Effect::None
            }
        }
    }

    /// Names from the outermost to a node of a row's tree.
    fn node_stack(&self, row: usize, node: u32) -> String {
        let profile = self.explorer.profile();
        let Some(tree) = self.table.tree(row) else {
            return String::new();
        };
        let mut names: Vec<String> = tree
            .path(node)
            .map(|at| {
                let mut name = String::new();
                let frame = tree.tree.node(at).frame;
                profile
                    .frames
                    .label_parts(frame, &profile.strings)
                    .append_to(&mut name);
                name
            })
            .collect();
        if self.table.order == rprof_profile::view::Order::Caller {
            names.reverse();
        }
        folded(names.into_iter())
    }
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
