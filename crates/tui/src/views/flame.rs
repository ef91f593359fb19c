//! The flame graph: boxes as wide as their weight, callers above callees.

mod draw;
mod placed;

use super::box_names::{BoxNames, BoxPath};
use super::boxes::{Boxes, BoxesOf, Found};
use super::context::{Context, Selected};
use super::table::SAVED_PERCENT;
use super::view::{Answer, View};
use crate::cursor::Step;
use crate::draw::pen::Pen;
use crate::keys::{Command, KeyHint, hint, letter};
use crate::matcher::Matcher;
use crate::screen::Screen;
use crate::task::AnyRecipe;
use placed::{PlacedBox, place_boxes};
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::KeyCode;
use std::sync::Arc;

/// The visible part, by name.
#[derive(Debug)]
struct RememberedFlame {
    zoom: Option<BoxPath>,
    selected: BoxPath,
    top: usize,
}

/// The visible part of the graph.
#[derive(Debug, Default)]
pub(crate) struct FlameView {
    /// The box zoomed to the screen's width; `None` shows all.
    pub(crate) zoom: Option<u32>,
    /// What is to be as wide, where only its caller is there now; with what is so instead.
    missing: Option<(BoxPath, Option<u32>)>,
    pub(crate) selected: u32,
    /// The first line on the screen.
    top: usize,
    remembered: Option<RememberedFlame>,
}

impl View for FlameView {
    fn name(&self) -> &'static str {
        "flame"
    }

    fn help(&self) -> &'static str {
        "flame graph"
    }

    fn recipe(&self, _: &Context) -> Arc<dyn AnyRecipe> {
        Arc::new(BoxesOf)
    }

    fn draw(&self, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
        draw::draw(self, cx, pen, screen);
    }

    fn status(&self, cx: &Context) -> String {
        let boxes = cx.boxes();
        let selected = boxes.and_then(|boxes| Some((boxes, boxes.get(self.selected)?)));
        let text = selected.map(|(boxes, one)| {
            let (total, own) = (cx.percent(one.width), cx.percent(one.own));
            let name = boxes.name(self.selected, cx.profile());
            format!("{total} (self {own}, {} samples)  {name}", one.samples)
        });
        cx.found_text() + &text.unwrap_or_default()
    }

    /// Boxes as wide as one column of the screen, or wider.
    fn text(&self, cx: &Context) -> String {
        let Some(boxes) = cx.boxes() else {
            return String::new();
        };
        let mut placed = self.placed(boxes, cx.columns());
        placed.retain(|one| one.n_narrow == 0);
        placed.sort_by_key(|one| (one.x, one.depth));
        let lines = placed.into_iter().map(|placed| {
            let width = boxes.get(placed.number).map_or(0, |one| one.width);
            let share = cx.percent(width);
            let indent = " ".repeat(2 * placed.depth);
            let name = boxes.name(placed.number, cx.profile());
            format!("{share:>SAVED_PERCENT$}  {indent}{name}\n")
        });
        lines.collect()
    }

    fn copied(&self, cx: &Context) -> Option<String> {
        let boxes = cx.boxes()?;
        boxes.get(self.selected)?;
        Some(boxes.stack(self.selected, cx.profile()))
    }

    fn selected(&self, cx: &Context) -> Selected {
        cx.selected_box(self.selected)
    }

    fn command(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        let columns = cx.columns();
        let boxes = cx.boxes();
        match (command, boxes) {
            (Command::Step(step), Some(boxes)) => self.step(step, boxes, columns),
            (Command::Left, Some(boxes)) => self.sideways(true, boxes, columns),
            (Command::Right, Some(boxes)) => self.sideways(false, boxes, columns),
            (Command::Open | Command::Toggle, Some(boxes)) => self.zoom_in(boxes),
            (Command::Back, _) if cx.found.is_some() => return None,
            (Command::Back | Command::ZoomOut, boxes) => {
                let is_out = boxes.is_some_and(|boxes| self.zoom_out(boxes));
                if !is_out && cx.zooms.is_empty() {
                    return None;
                }
                if !is_out {
                    return Some(Answer::ZoomOut);
                }
            }
            _ => return None,
        }
        Some(Answer::Done)
    }

    /// Searches of the call tree go on here, too.
    fn command_from_elsewhere(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        match command {
            Command::NextFound => self.show_found(false, cx),
            Command::PreviousFound => self.show_found(true, cx),
            _ => return None,
        }
        Some(Answer::Done)
    }

    fn keys(&self, cx: &Context) -> Vec<KeyHint> {
        let mut keys = vec![
            hint(KeyCode::Enter, "zoom in"),
            letter('/', "search"),
            letter('a', "code"),
            letter('t', "thread"),
            letter('f', "stacks with"),
            letter('y', "copy"),
            letter('s', "save"),
        ];
        if self.zoom.is_some() && cx.zooms.is_empty() {
            keys.insert(1, letter('u', "zoom out"));
        }
        if cx.found.is_some() {
            keys.insert(1, letter('n', "next match"));
        }
        keys
    }

    fn is_wide(&self) -> bool {
        true
    }

    fn select(&mut self, at: Position, cx: &mut Context) -> bool {
        let Some(boxes) = cx.boxes() else {
            return false;
        };
        let (depth, x) = (self.top + usize::from(at.y), usize::from(at.x));
        let placed = self.placed(boxes, cx.columns());
        let hit = placed
            .iter()
            .find(|one| one.depth == depth && (one.x..one.x + one.width).contains(&x));
        let Some(hit) = hit else {
            return false;
        };
        std::mem::replace(&mut self.selected, hit.number) == hit.number
    }

    /// Shows the heaviest match.
    fn search(&mut self, matcher: Option<Matcher>, cx: &mut Context) {
        cx.find(matcher);
        let heaviest = cx.found.as_ref().and_then(Found::heaviest);
        if let Some((heaviest, boxes)) = heaviest.zip(cx.boxes()) {
            self.show(heaviest, boxes, cx.columns());
        }
    }

    fn before_change(&mut self, cx: &Context) {
        if self.remembered.is_none() {
            self.remembered = cx.box_names().map(|names| self.remember(names));
        }
    }

    fn after_change(&mut self, cx: &mut Context) {
        if let Some(names) = cx.box_names() {
            let was = self.remembered.take();
            *self = was.map_or_else(Self::default, |was| Self::reopened(names, &was));
        }
    }

    fn fit(&mut self, cx: &mut Context) {
        if let Some(boxes) = cx.boxes() {
            self.scroll_to_selected(boxes, cx.height());
        }
    }
}

impl FlameView {
    fn placed(&self, boxes: &Boxes, columns: usize) -> Vec<PlacedBox> {
        place_boxes(boxes, self.zoom, columns)
    }

    /// Selects a neighbour.
    fn step(&mut self, step: Step, boxes: &Boxes, columns: usize) {
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
        placed
            .iter()
            .find(|one| one.number == self.selected)
            .copied()
    }

    /// Selects the box to the left or right on the same line.
    fn sideways(&mut self, is_left: bool, boxes: &Boxes, columns: usize) {
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
    fn zoom_in(&mut self, boxes: &Boxes) {
        self.zoom = if self.zoom == Some(self.selected) {
            boxes.get(self.selected).and_then(|one| one.parent)
        } else {
            Some(self.selected)
        };
    }

    /// Zooms out completely. Returns whether anything changed.
    fn zoom_out(&mut self, boxes: &Boxes) -> bool {
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
    fn show(&mut self, number: u32, boxes: &Boxes, columns: usize) {
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
    fn remember(&self, names: BoxNames<'_>) -> RememberedFlame {
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
    fn reopened(names: BoxNames<'_>, was: &RememberedFlame) -> Self {
        let zoom = was.zoom.as_ref().and_then(|path| names.find(path));
        let is_found =
            |path: &BoxPath| zoom.is_some_and(|zoom| names.path(zoom).len() == path.len());
        let missing = was.zoom.clone().filter(|path| !is_found(path));
        Self {
            zoom,
            missing: missing.map(|path| (path, zoom)),
            selected: names.find(&was.selected).unwrap_or(0),
            top: was.top,
            remembered: None,
        }
    }

    /// Goes to the match of the search that is next by weight, or to the one before.
    fn show_found(&mut self, is_back: bool, cx: &Context) {
        let Some((found, boxes)) = cx.found.as_ref().zip(cx.boxes()) else {
            return;
        };
        let from = boxes.get(self.selected).map_or(0, |_| self.selected);
        if let Some(next) = found.next_by_weight(from, is_back) {
            self.show(next, boxes, cx.columns());
        }
    }

    fn scroll_to_selected(&mut self, boxes: &Boxes, height: usize) {
        if self.selected >= boxes.len() {
            *self = Self::default();
        }
        let depth = boxes.get(self.selected).map_or(0, |one| one.depth as usize);
        let height = height.max(1);
        self.top = self.top.min(depth).max((depth + 1).saturating_sub(height));
    }
}
