//! What the application asks of a view: what it needs computed, how it draws, what keys and clicks do in it.

use super::context::{Context, Selected};
use crate::draw::pen::Pen;
use crate::keys::{Command, KeyHint};
use crate::matcher::Matcher;
use crate::screen::Screen;
use crate::task::AnyRecipe;
use crate::zoom::Zoom;
use ratatui_core::layout::Position;
use std::any::Any;
use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What a view asks the application for, when it has done what it was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Done,
    /// To be shown itself.
    Show,
    /// A message in the status line.
    Say(String),
    /// Only these samples.
    Zoom(Zoom),
    /// The samples before the last zoom.
    ZoomOut,
}

/// A view. Methods with a body may be left out.
pub(crate) trait View: Any + Debug {
    /// One word, for the tab and messages.
    fn name(&self) -> &'static str;

    /// Its name in the help.
    fn help(&self) -> &'static str;

    /// Computes what it shows; until that is done, the view is not drawn.
    fn recipe(&self, cx: &Context) -> Arc<dyn AnyRecipe>;

    fn draw(&self, cx: &Context, pen: &mut Pen<'_>, screen: &Screen);

    /// The selection in a line, with the number of matches of a search.
    fn status(&self, cx: &Context) -> String;

    /// All lines, to be saved.
    fn text(&self, cx: &Context) -> String;

    /// The selection as text, for the clipboard.
    fn copied(&self, cx: &Context) -> Option<String>;

    /// The selection, to zoom into it and to show its code.
    fn selected(&self, _cx: &Context) -> Selected {
        Selected::default()
    }

    /// Obeys a key while the view is shown; `None` if the key does nothing here.
    fn command(&mut self, command: Command, cx: &mut Context) -> Option<Answer>;

    /// Obeys a key that the shown view does not know, such as one that is about rows wherever it is pressed.
    fn command_from_elsewhere(&mut self, _command: Command, _cx: &mut Context) -> Option<Answer> {
        None
    }

    /// The keys of the bar at the bottom, the most useful first.
    fn keys(&self, cx: &Context) -> Vec<KeyHint>;

    /// Selects what is at a position relative to the body, if anything. Returns whether it already was.
    fn select(&mut self, at: Position, cx: &mut Context) -> bool;

    /// What a click into the heading does, by its column.
    fn heading_click(&self, _column: u16, _cx: &Context) -> Option<Command> {
        None
    }

    /// Whether there is something to the left and to the right.
    fn is_wide(&self) -> bool {
        false
    }

    /// The mouse was moved to this column while its button is down.
    fn drag(&mut self, _column: usize, _cx: &Context) {}

    /// The time range that is marked.
    fn marked_times(&self, _cx: &Context) -> Option<RangeInclusive<u64>> {
        None
    }

    /// Another time is shown: what was marked of the one before is gone.
    fn time_changed(&mut self) {}

    /// Whether the view can be searched; if not, the first one that can is shown instead.
    fn has_search(&self) -> bool {
        true
    }

    /// The current search.
    fn searched<'a>(&'a self, cx: &'a Context) -> Option<&'a Matcher> {
        cx.found.as_ref().map(|found| &found.matcher)
    }

    /// Begins a search, or ends it.
    fn search(&mut self, _matcher: Option<Matcher>, _cx: &mut Context) {}

    /// What it shows is about to be replaced: keep by name what is open and selected.
    fn before_change(&mut self, _cx: &Context) {}

    /// What it shows was replaced.
    fn after_change(&mut self, _cx: &mut Context) {}

    /// A setting of the context that decides what is shown has changed.
    fn settings_changed(&mut self, _cx: &Context) {}

    /// Brings the selection onto the screen, after every input.
    fn fit(&mut self, cx: &mut Context);

    /// Whether there is something left to do while nobody types.
    fn has_work(&self) -> bool {
        false
    }

    /// Does a part of it.
    fn work(&mut self, _cx: &mut Context) {}
}
