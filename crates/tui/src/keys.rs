//! What keys do. Keys that perf's browser has do the same here.

use crate::cursor::Step;
use crate::face::SaveForm;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A command of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Quit,
    Suspend,
    Redraw,
    Back,
    Help,
    About,
    Actions,
    /// Show the view with this index.
    View(usize),
    NextEvent,
    PreviousEvent,
    Step(Step),
    Left,
    Right,
    /// By ten columns.
    FarLeft,
    FarRight,
    Open,
    Toggle,
    OpenEntry,
    OpenAll,
    CloseAll,
    Direction,
    Code,
    Dso,
    Kernel,
    Thread,
    Frames,
    ZoomOut,
    Search,
    NextFound,
    PreviousFound,
    Limit,
    Relative,
    Headings,
    Verbose,
    Sort,
    /// Group rows by the sort keys with this number.
    SortBy(u8),
    /// Toggle total and self.
    Children,
    Save,
    SaveAs(SaveForm),
    Copy,
    Pause,
    Mark,
    Hottest,
}

/// All keys but the numbers of the views, as the help shows them: a line for each, with a colon before what they do.
const KEYS: &str = "\
TAB Shift-TAB: next, previous event; with a single event: next, previous view
arrows PGUP PGDN SPACE HOME END: move
ENTER +: expand or collapse a row or node; zoom into a frame; zoom into the marked time range
LEFT: collapse a node, or zoom out; flame graph, threads: move left
ESC: leave a search, zoom or filter; then quit
e: expand or collapse the whole tree of a row or node
E C: expand all rows on the screen; collapse all
c: toggle the call trees of rows between callers and callees
a: show the function's code; there, H: next hottest line
d: zoom into the DSO, or back out
k: zoom into the kernel, or back out
t: zoom into threads with this name, or this thread, or back out
f: keep stacks with NAME; empty clears
u BACKSPACE: undo the last zoom
/: search names: filters rows; highlights in trees and graphs
n N: next, previous match
o: choose the sort keys that group rows
x: toggle total and self
L: hide rows below a percentage
F: toggle percentages of all samples and of the shown samples
H V: toggle headings; DSO names in trees
SPACE: threads: mark a time range; ENTER zooms into it
y: copy the row or stack to the clipboard (through the terminal)
s P: save the view as SVG, folded stacks, JSON or text; P: as text
p: rprof top: pause or resume; zooming into a time pauses, too
i m ? h F1: about the recording; menu of actions; this help
^L ^Z q ^C: redraw; suspend; quit
mouse: click selects, a second click opens; wheel scrolls; drag marks a time range
";

/// Keys, and what they do.
pub(crate) fn key_helps<'a>() -> impl Iterator<Item = (&'a str, &'a str)> {
    let all: &'a str = KEYS;
    all.lines().filter_map(|line| line.split_once(": "))
}

/// Whether a key ends everything, whatever is under way.
pub(crate) fn is_interrupt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c')
}

/// What a key does.
pub(crate) fn command_of(key: KeyEvent) -> Option<Command> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return of_control(key.code);
    }
    let is_far = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Up => Command::Step(Step::Up),
        KeyCode::Down => Command::Step(Step::Down),
        KeyCode::PageUp => Command::Step(Step::PageUp),
        KeyCode::PageDown => Command::Step(Step::PageDown),
        KeyCode::Home => Command::Step(Step::Home),
        KeyCode::End => Command::Step(Step::End),
        KeyCode::Left if is_far => Command::FarLeft,
        KeyCode::Right if is_far => Command::FarRight,
        KeyCode::Left => Command::Left,
        KeyCode::Right => Command::Right,
        KeyCode::Enter => Command::Open,
        KeyCode::Esc => Command::Back,
        KeyCode::Tab => Command::NextEvent,
        KeyCode::BackTab => Command::PreviousEvent,
        KeyCode::Backspace => Command::ZoomOut,
        KeyCode::F(1) => Command::Help,
        KeyCode::Char(letter) => return of_letter(letter),
        _ => return None,
    })
}

fn of_control(code: KeyCode) -> Option<Command> {
    Some(match code {
        KeyCode::Char('c') => Command::Quit,
        KeyCode::Char('l') => Command::Redraw,
        KeyCode::Char('z') => Command::Suspend,
        KeyCode::Char('f') => Command::Step(Step::PageDown),
        KeyCode::Char('b') => Command::Step(Step::PageUp),
        _ => return None,
    })
}

fn of_letter(letter: char) -> Option<Command> {
    Some(match letter {
        '1'..='9' => Command::View(letter.to_digit(10)? as usize - 1),
        ' ' => Command::Mark,
        '+' => Command::Toggle,
        'e' => Command::OpenEntry,
        'E' => Command::OpenAll,
        'C' => Command::CloseAll,
        'c' => Command::Direction,
        'a' => Command::Code,
        'd' => Command::Dso,
        'k' => Command::Kernel,
        't' => Command::Thread,
        'f' => Command::Frames,
        'u' => Command::ZoomOut,
        '/' => Command::Search,
        'n' => Command::NextFound,
        'N' => Command::PreviousFound,
        'L' => Command::Limit,
        'F' => Command::Relative,
        'H' => Command::Headings,
        'V' => Command::Verbose,
        'o' => Command::Sort,
        'x' => Command::Children,
        's' => Command::Save,
        'P' => Command::SaveAs(SaveForm::Text),
        'y' => Command::Copy,
        'p' => Command::Pause,
        'i' => Command::About,
        'm' => Command::Actions,
        '?' | 'h' => Command::Help,
        'q' => Command::Quit,
        _ => return None,
    })
}

/// What a key does on a page of text.
pub(crate) fn command_on_page(key: KeyEvent) -> Option<Command> {
    match key.code {
        KeyCode::Char('H') => Some(Command::Hottest),
        KeyCode::Tab => Some(Command::Hottest),
        KeyCode::Char(' ') => Some(Command::Step(Step::PageDown)),
        KeyCode::Char('q') => Some(Command::Back),
        _ => command_of(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: KeyCode) -> Option<Command> {
        command_of(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn each_letter_of_the_help_does_something() {
        for (keys, _) in key_helps() {
            for word in keys.split(' ').filter(|word| word.len() == 1) {
                let letter = word.chars().next().unwrap();
                assert!(of(KeyCode::Char(letter)).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn the_readme_has_all_keys() {
        let readme = include_str!("../README.md");
        assert_eq!(key_helps().count(), KEYS.lines().count());
        for (keys, what) in key_helps() {
            let row = format!("\n| `{keys}` | {what} |\n");
            assert!(readme.contains(&row), "README.md has no row {row}");
        }
    }

    #[test]
    fn perfs_keys_are_perfs() {
        for (letter, command) in [
            ('a', Command::Code),
            ('C', Command::CloseAll),
            ('d', Command::Dso),
            ('E', Command::OpenAll),
            ('t', Command::Thread),
            ('P', Command::SaveAs(SaveForm::Text)),
            ('+', Command::Toggle),
            ('h', Command::Help),
            ('q', Command::Quit),
        ] {
            assert_eq!(of(KeyCode::Char(letter)), Some(command), "{letter}");
        }
        assert_eq!(of(KeyCode::Tab), Some(Command::NextEvent));
        assert_eq!(of(KeyCode::Char('Z')), None);
    }
}
