//! The call tree: from the threads to what they called.

mod draw;

use super::box_names::{BoxNames, BoxPath};
use super::boxes::{Boxes, BoxesOf};
use super::context::{Context, Selected};
use super::opened::{open_below, open_chain};
use super::table::SAVED_PERCENT;
use super::view::{Answer, View};
use crate::cursor::Cursor;
use crate::draw::pen::Pen;
use crate::keys::{Command, KeyHint, hint, letter};
use crate::matcher::Matcher;
use crate::screen::Screen;
use crate::task::AnyRecipe;
use foldhash::HashSet;
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::KeyCode;
use std::sync::Arc;

/// A line of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLine {
    /// The box.
    pub(crate) number: u32,
    /// Indentation. A child that has all of its parent's weight is not indented further.
    pub(crate) depth: usize,
}

/// Expanded and selected nodes, by name.
#[derive(Debug)]
struct RememberedCalls {
    open: HashSet<u64>,
    selected: Option<BoxPath>,
    /// Number of lines above the selection on the screen.
    n_above: usize,
}

/// The tree, as far as it is expanded.
#[derive(Debug, Default)]
pub(crate) struct CallsView {
    pub(crate) cursor: Cursor,
    pub(crate) lines: Vec<CallLine>,
    open: HashSet<u32>,
    /// Names of expanded nodes that do not exist at present.
    missing: HashSet<u64>,
    remembered: Option<RememberedCalls>,
}

/// Maximum number of missing names; beyond it, all are forgotten.
const MOST_MISSING: usize = 10_000;

impl View for CallsView {
    fn name(&self) -> &'static str {
        "calls"
    }

    fn help(&self) -> &'static str {
        "call tree"
    }

    fn recipe(&self, _: &Context) -> Arc<dyn AnyRecipe> {
        Arc::new(BoxesOf)
    }

    fn draw(&self, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
        draw::draw(self, cx, pen, screen);
    }

    fn status(&self, cx: &Context) -> String {
        let frame = self.selected(cx).frame;
        let name = frame.map(|frame| cx.frame_in_image(frame));
        cx.found_text() + &name.unwrap_or_default()
    }

    fn text(&self, cx: &Context) -> String {
        let Some(boxes) = cx.boxes() else {
            return String::new();
        };
        let lines = self.lines.iter().filter_map(|line| {
            let one = boxes.get(line.number)?;
            let (total, own) = (cx.percent(one.width), cx.percent(one.own));
            let indent = " ".repeat(2 * line.depth);
            let name = boxes.name(line.number, cx.profile());
            Some(format!(
                "{total:>SAVED_PERCENT$}{own:>SAVED_PERCENT$}  {indent}{name}\n"
            ))
        });
        lines.collect()
    }

    fn copied(&self, cx: &Context) -> Option<String> {
        Some(cx.boxes()?.stack(self.selected_box()?, cx.profile()))
    }

    fn selected(&self, cx: &Context) -> Selected {
        let number = self.selected_box();
        number.map_or_else(Selected::default, |number| cx.selected_box(number))
    }

    fn command(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        let height = cx.height();
        if let Command::Step(step) = command {
            self.cursor.step(step, self.lines.len(), height);
            return Some(Answer::Done);
        }
        let boxes = cx.boxes()?;
        match command {
            Command::Left if !self.close(boxes, height) => return Some(Answer::ZoomOut),
            Command::Left => {}
            Command::Right => self.open(boxes),
            Command::Open | Command::Toggle => self.toggle(boxes),
            Command::OpenEntry => self.toggle_all(boxes),
            Command::OpenAll => self.open_all(boxes, height),
            Command::CloseAll => self.close_all(boxes, height),
            Command::NextFound => self.show_found(false, cx),
            Command::PreviousFound => self.show_found(true, cx),
            _ => return None,
        }
        Some(Answer::Done)
    }

    fn keys(&self, cx: &Context) -> Vec<KeyHint> {
        let mut keys = vec![
            hint(KeyCode::Enter, "expand"),
            letter('/', "search"),
            letter('e', "whole tree"),
            letter('a', "code"),
            letter('t', "thread"),
            letter('f', "stacks with"),
            letter('y', "copy"),
            letter('s', "save"),
        ];
        if cx.found.is_some() {
            keys.insert(1, letter('n', "next"));
        }
        keys
    }

    fn select(&mut self, at: Position, cx: &mut Context) -> bool {
        self.cursor.click(at.y, self.lines.len(), cx.height())
    }

    fn search(&mut self, matcher: Option<Matcher>, cx: &mut Context) {
        cx.find(matcher);
        self.show_found(false, cx);
    }

    fn before_change(&mut self, cx: &Context) {
        if self.remembered.is_none() {
            self.remembered = cx.box_names().map(|names| self.remember(names));
        }
    }

    fn after_change(&mut self, cx: &mut Context) {
        if let Some(names) = cx.box_names() {
            match self.remembered.take() {
                Some(was) => self.reopen(names, &was, cx.height()),
                None => self.reset(names.boxes),
            }
        }
    }

    fn fit(&mut self, cx: &mut Context) {
        if cx.boxes().is_some() {
            self.cursor.fit(self.lines.len(), cx.height());
        }
    }
}

impl CallsView {
    /// Resets the tree: threads only, the first one expanded.
    fn reset(&mut self, boxes: &Boxes) {
        self.open.clear();
        self.cursor = Cursor::default();
        if let Some(&first) = boxes.children(None).first() {
            open_chain(&mut self.open, boxes, first);
        }
        self.build(boxes);
    }

    /// The expanded and selected nodes.
    fn remember(&self, names: BoxNames<'_>) -> RememberedCalls {
        let selected = self.selected_box().map(|number| names.path(number));
        let open = names.of_all(self.open.iter().copied());
        RememberedCalls {
            open: open.chain(self.missing.iter().copied()).collect(),
            // The first line is where one begins: it is no choice.
            selected: selected.filter(|_| self.cursor.at > 0),
            n_above: self.cursor.at.saturating_sub(self.cursor.top),
        }
    }

    /// Restores expanded and selected nodes, as far as they still exist.
    fn reopen(&mut self, names: BoxNames<'_>, was: &RememberedCalls, height: usize) {
        let boxes = names.boxes;
        self.open.clear();
        self.missing.clone_from(&was.open);
        self.cursor = Cursor::default();
        let lowest = boxes.children(None).iter();
        let mut todo: Vec<(u32, u64)> = lowest.map(|&one| (one, names.below(0, one))).collect();
        while let Some((number, name)) = todo.pop() {
            if self.missing.remove(&name) {
                self.open.insert(number);
                let on = boxes.children(Some(number)).iter();
                todo.extend(on.map(|&one| (one, names.below(name, one))));
            }
        }
        if self.missing.len() > MOST_MISSING {
            self.missing.clear();
        }
        self.build(boxes);
        let selected = was.selected.as_ref().and_then(|path| names.find(path));
        if let Some(number) = selected {
            self.show(boxes, number, height);
            self.cursor.top = self.cursor.at.saturating_sub(was.n_above);
            self.cursor.fit(self.lines.len(), height);
        }
    }

    pub(crate) fn selected_box(&self) -> Option<u32> {
        Some(self.lines.get(self.cursor.at)?.number)
    }

    fn is_open(&self, number: u32) -> bool {
        self.open.contains(&number)
    }

    /// Opens or closes a node.
    fn toggle(&mut self, boxes: &Boxes) {
        if let Some(number) = self.selected_box() {
            if !self.open.remove(&number) {
                open_chain(&mut self.open, boxes, number);
            }
            self.build(boxes);
        }
    }

    /// Opens a node, if it is not.
    fn open(&mut self, boxes: &Boxes) {
        if self
            .selected_box()
            .is_some_and(|number| !self.is_open(number))
        {
            self.toggle(boxes);
        }
    }

    /// Collapses a node, or goes to its parent. Returns whether anything changed.
    fn close(&mut self, boxes: &Boxes, height: usize) -> bool {
        let Some(number) = self.selected_box() else {
            return false;
        };
        if self.open.remove(&number) {
            self.build(boxes);
            return true;
        }
        let parent = boxes.get(number).and_then(|one| one.parent);
        parent.is_some_and(|parent| self.go_to(parent, height))
    }

    /// Opens all of a node's tree, or closes it.
    fn toggle_all(&mut self, boxes: &Boxes) {
        let Some(number) = self.selected_box() else {
            return;
        };
        if self.open.contains(&number) {
            let mut todo = vec![number];
            while let Some(at) = todo.pop() {
                if self.open.remove(&at) {
                    todo.extend(boxes.children(Some(at)));
                }
            }
        } else {
            open_below(&mut self.open, boxes, vec![number]);
        }
        self.build(boxes);
    }

    fn open_all(&mut self, boxes: &Boxes, height: usize) {
        let at = self.selected_box();
        let lowest = boxes.children(None).iter().rev().copied().collect();
        open_below(&mut self.open, boxes, lowest);
        self.build(boxes);
        at.map(|at| self.go_to(at, height));
    }

    fn close_all(&mut self, boxes: &Boxes, height: usize) {
        let at = self.selected_box();
        self.open.clear();
        self.missing.clear();
        self.build(boxes);
        let lowest = at.and_then(|at| boxes.path(at).last());
        lowest.map(|lowest| self.go_to(lowest, height));
    }

    /// Selects a box, and opens what it is in.
    fn show(&mut self, boxes: &Boxes, number: u32, height: usize) {
        self.open.extend(boxes.path(number).skip(1));
        self.build(boxes);
        self.go_to(number, height);
    }

    /// Goes to the next match of the search, or the previous one.
    fn show_found(&mut self, is_back: bool, cx: &Context) {
        let from = self.selected_box().unwrap_or(0);
        let next = cx
            .found
            .as_ref()
            .and_then(|found| found.next(from, is_back));
        if let Some((next, boxes)) = next.zip(cx.boxes()) {
            self.show(boxes, next, cx.height());
        }
    }

    fn go_to(&mut self, number: u32, height: usize) -> bool {
        let at = self.lines.iter().position(|line| line.number == number);
        if let Some(at) = at {
            self.cursor.go(at, self.lines.len(), height);
        }
        at.is_some()
    }

    fn build(&mut self, boxes: &Boxes) {
        self.lines.clear();
        let mut todo: Vec<CallLine> = Vec::new();
        let line = |depth| move |&number: &u32| CallLine { number, depth };
        todo.extend(boxes.children(None).iter().rev().map(line(0)));
        while let Some(one) = todo.pop() {
            self.lines.push(one);
            if self.open.contains(&one.number) {
                let is_chain = boxes.only_child(one.number).is_some();
                let is_thread = boxes.frame(one.number).is_none();
                let depth = one.depth + usize::from(!is_chain || is_thread);
                let children = boxes.children(Some(one.number)).iter().rev();
                todo.extend(children.map(line(depth)));
            }
        }
    }
}
