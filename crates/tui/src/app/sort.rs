//! What rows are grouped by: chosen from a menu, or typed.

use super::over::choice;
use super::{App, Effect};
use crate::keys::Command;
use crate::menu::Menu;
use rprof_profile::view::SortKey;
use rprof_profile::{Account, Dimension, WAIT_DIMENSIONS};

/// Sort keys to choose from, and the key that chooses them.
const SORTS: &[(char, &[SortKey])] = &[
    ('1', SortKey::DEFAULT),
    ('2', &[SortKey::Symbol]),
    ('3', &[SortKey::Dso, SortKey::Symbol]),
    ('4', &[SortKey::Dso]),
    ('5', &[SortKey::Comm]),
    ('6', &[SortKey::Comm, SortKey::Dso]),
    ('p', &[PID]),
    ('t', &[TID]),
    ('c', &[CPU]),
];

const PID: SortKey = SortKey::Dimension(Dimension::Pid);
const TID: SortKey = SortKey::Dimension(Dimension::Tid);
const CPU: SortKey = SortKey::Dimension(Dimension::Cpu);

const CAUSE: SortKey = SortKey::Dimension(Dimension::Cause);
const STATE: SortKey = SortKey::Dimension(Dimension::State);
const WAKER: SortKey = SortKey::Dimension(Dimension::Waker);

/// The same where samples are of waits.
const SORTS_OF_WAITS: &[(char, &[SortKey])] = &[
    ('7', &[SortKey::Comm, CAUSE]),
    ('8', &[SortKey::Comm, CAUSE, WAKER]),
    ('9', &[SortKey::Comm, STATE]),
];

/// The names of keys, separated by commas.
fn names_of(keys: &[SortKey]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| key.name()).collect();
    names.join(",")
}

impl App {
    /// The sort keys to choose from.
    fn sorts(&self) -> impl Iterator<Item = (char, &'static [SortKey])> {
        let of_waits = match self.cx.scope.account {
            Account::OnCpu => &[][..],
            Account::OffCpu | Account::Wall => SORTS_OF_WAITS,
        };
        let sorts = SORTS.iter().chain(of_waits).copied();
        sorts.filter(|(_, keys)| self.can_group_by(keys))
    }

    /// Whether samples have these keys, or can be read again to have them.
    fn can_group_by(&self, keys: &[SortKey]) -> bool {
        !self.cx.is_live || self.has_keys(keys)
    }

    pub(super) fn sort_menu(&self) -> Menu {
        let choices = (0u8..).zip(self.sorts());
        let choices = choices
            .map(|(number, (key, keys))| choice(key, &names_of(keys), Command::SortBy(number)));
        let mut menu = Menu::new("Group rows by", choices.collect());
        let last = [
            choice('o', "type keys ..", Command::TypeKeys),
            choice('x', "toggle total and self", Command::Children),
        ];
        menu.choices.extend(last);
        let shown = self.sorts().position(|(_, keys)| keys == self.cx.by.keys);
        // What was typed is among the others.
        menu.cursor.at = shown.unwrap_or(menu.choices.len() - 2);
        menu
    }

    /// Groups rows by the keys with this number in the menu.
    pub(super) fn sort_by(&mut self, number: u8) -> Effect {
        let keys = self.sorts().nth(number.into());
        match keys {
            Some((_, keys)) => self.group_by(keys.to_vec()),
            None => Effect::None,
        }
    }

    /// The keys that group rows, as they are typed.
    pub(super) fn keys_text(&self) -> String {
        names_of(&self.cx.by.keys)
    }

    /// Groups rows by the keys that a text names.
    pub(super) fn keys_typed(&mut self, text: &str) -> Result<Effect, String> {
        let has_waits = self.cx.scope.account != Account::OnCpu;
        let of_waits = WAIT_DIMENSIONS.iter().copied().map(SortKey::Dimension);
        let of_waits = of_waits.filter(|&key| has_waits && self.can_group_by(&[key]));
        let of_all = SortKey::BROWSED
            .iter()
            .copied()
            .filter(|&key| self.can_group_by(&[key]));
        let known: Vec<SortKey> = of_all.chain(of_waits).collect();
        let mut keys = Vec::new();
        for name in text.split(',') {
            match SortKey::parse(name.trim()) {
                Some(key) if keys.contains(&key) => {}
                Some(key) if known.contains(&key) => keys.push(key),
                // Stacks here are of functions.
                Some(key) if key.is_of_lines() => {
                    let name = key.name();
                    return Err(format!(
                        "no rows by source line: press a, or report -s {name}"
                    ));
                }
                // It never shows who woke a thread.
                Some(key @ (CAUSE | STATE)) if self.cx.is_live && has_waits => {
                    return Err(format!("start rprof top with -s {}", key.name()));
                }
                _ => {
                    let known = names_of(&known).replace(',', ", ");
                    return Err(format!("unknown key; use {known}"));
                }
            }
        }
        Ok(self.group_by(keys))
    }

    /// Shows rows, from wherever.
    pub(super) fn show_rows(&mut self) {
        self.ask_views(Command::Rows);
    }
}
