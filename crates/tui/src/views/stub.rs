//! A view that says what is selected: it shows what a view is made of.

use super::{Answer, Context, View};
use crate::draw::Pen;
use crate::keys::Command;
use crate::screen::Screen;
use crate::shown::Counted;
use crate::task::{AnyRecipe, Recipe};
use ratatui_core::layout::Position;
use std::sync::Arc;

/// Makes the words.
#[derive(Clone, Debug, PartialEq)]
struct WordsOf;

impl Recipe for WordsOf {
    type Product = String;

    fn make(&self, counted: &Counted) -> String {
        format!("{} samples are shown", counted.samples)
    }
}

#[derive(Debug, Default)]
pub(crate) struct StubView;

impl View for StubView {
    fn name(&self) -> &'static str {
        "words"
    }

    fn help(&self) -> &'static str {
        "words"
    }

    fn recipe(&self, _: &Context) -> Arc<dyn AnyRecipe> {
        Arc::new(WordsOf)
    }

    fn draw(&self, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
        pen.cut(screen.body, &self.status(cx), cx.look.quiet());
    }

    fn status(&self, cx: &Context) -> String {
        let words = cx.shown.as_ref().and_then(|shown| shown.part::<WordsOf>());
        words.map_or_else(String::new, |made| made.product.clone())
    }

    fn text(&self, cx: &Context) -> String {
        self.status(cx)
    }

    fn copied(&self, cx: &Context) -> Option<String> {
        Some(self.status(cx))
    }

    fn command(&mut self, _: Command, _: &mut Context) -> Option<Answer> {
        None
    }

    fn click(&mut self, _: Position, _: &mut Context) -> Answer {
        Answer::Done
    }

    fn fit(&mut self, _: &mut Context) {}
}
