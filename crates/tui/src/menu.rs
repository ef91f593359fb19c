//! A few things to choose from.

use crate::cursor::{Cursor, Step};
use crate::keys::Command;
use crate::page::Page;
use ratatui_core::layout::Position;

/// One thing to choose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// The key that chooses it.
    pub(crate) key: char,
    /// What it is.
    pub(crate) text: String,
    /// What it does.
    pub(crate) command: Command,
}

/// Things to choose from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Menu {
    /// What is chosen.
    pub(crate) title: String,
    /// The things.
    pub(crate) choices: Vec<Choice>,
    /// The one that is selected.
    pub(crate) cursor: Cursor,
    /// Where it begins; in the middle if nobody says.
    pub(crate) at: Option<Position>,
    /// Whether keys that choose nothing close it, and do what they do without it.
    pub(crate) is_question: bool,
    /// The page that is shown again when nothing is chosen.
    pub(crate) under: Option<Box<Page>>,
}

impl Menu {
    pub(crate) fn new(title: &str, choices: Vec<Choice>) -> Self {
        Self {
            title: title.to_owned(),
            choices,
            cursor: Cursor::default(),
            at: None,
            is_question: false,
            under: None,
        }
    }

    pub(crate) fn step(&mut self, step: Step) {
        let n = self.choices.len();
        self.cursor.step(step, n, n);
    }

    /// The selected one.
    pub(crate) fn chosen(&self) -> Option<Command> {
        Some(self.choices.get(self.cursor.at)?.command)
    }

    /// That of a key.
    pub(crate) fn of_key(&self, key: char) -> Option<Command> {
        let mut choices = self.choices.iter();
        Some(choices.find(|choice| choice.key == key)?.command)
    }
}
