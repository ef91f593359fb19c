//! A few things to choose from.

use crate::cursor::{Cursor, Step};
use crate::keys::Command;

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
    pub(crate) title: &'static str,
    /// The things.
    pub(crate) choices: Vec<Choice>,
    /// The one that is selected.
    pub(crate) cursor: Cursor,
}

impl Menu {
    pub(crate) fn new(title: &'static str, choices: Vec<Choice>) -> Self {
        Self {
            title,
            choices,
            cursor: Cursor::default(),
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
