//! The help, in lines.

use crate::keys::{HelpLine, help_lines};
use crate::views::view::View;
use std::iter;

/// All keys, in this many columns.
pub(super) fn help(columns: u16, views: &[Box<dyn View>]) -> Vec<String> {
    /// Longer ones have a line of their own.
    const KEYS_WIDTH: usize = 14;
    let room = usize::from(columns).saturating_sub(KEYS_WIDTH + 2).max(1);
    let numbers: Vec<String> = (1..=views.len()).map(|number| number.to_string()).collect();
    let names: Vec<&str> = views.iter().map(|view| view.help()).collect();
    let (numbers, names) = (numbers.join(" "), format!("views: {}", names.join(", ")));
    let mut lines = Vec::new();
    let views = HelpLine::Keys(&numbers, &names);
    for line in iter::once(views).chain(help_lines()) {
        let (mut keys, what) = match line {
            HelpLine::Keys(keys, what) => (keys, what),
            HelpLine::Task(task) => {
                lines.extend([String::new(), task.to_owned()]);
                continue;
            }
        };
        if keys.len() > KEYS_WIDTH {
            lines.push(keys.to_owned());
            keys = "";
        }
        for what in wrapped(what, room) {
            lines.push(format!("{keys:KEYS_WIDTH$}  {what}"));
            keys = "";
        }
    }
    lines
}

/// A text in lines; a word that is longer than one has its own.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
