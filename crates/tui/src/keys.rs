//! What keys do. Those that perf's browser has do here what they do there.

use crate::cursor::Step;
use crate::face::SaveForm;
use crate::views::ViewKind;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Quit,
    Suspend,
    Redraw,
    Back,
    Help,
    About,
    Actions,
    View(ViewKind),
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
    /// Rows by the sort keys with this number.
    SortBy(u8),
    /// Whether rows count what they called.
    Children,
    Save,
    SaveAs(SaveForm),
    Copy,
    Pause,
    Mark,
    Hottest,
}

/// A line of the help.
#[derive(Clone, Copy, Debug)]
pub struct KeyHelp {
    /// The keys.
    pub keys: &'static str,
    /// What they do.
    pub what: &'static str,
}

const fn help(keys: &'static str, what: &'static str) -> KeyHelp {
    KeyHelp { keys, what }
}

/// All keys, as the help and the manual show them.
pub const KEYS: &[KeyHelp] = &[
    help("1 2 3 4", "rows, call tree, flame graph, threads over time"),
    help(
        "TAB Shift-TAB",
        "the next, the previous event; of one event: view",
    ),
    help("arrows PGUP PGDN SPACE HOME END", "move"),
    help(
        "ENTER +",
        "open or close the call tree of a row, a node; zoom into a box; apply the marked time",
    ),
    help(
        "LEFT",
        "close a node, or zoom out; boxes and threads: to the left",
    ),
    help("ESC", "out of a search, a zoom, a filter; then quit"),
    help("e", "open or close all of a row's or node's tree"),
    help(
        "E C",
        "open the trees of all rows on the screen; close all trees",
    ),
    help("c", "trees of rows from callers or from callees"),
    help(
        "a",
        "the code of the function; there, H is the next hottest line",
    ),
    help("d", "zoom into the DSO, or out"),
    help("k", "zoom into the kernel, or out"),
    help(
        "t",
        "zoom into the threads of this name, or this thread, or out",
    ),
    help(
        "f",
        "stacks that have functions of such names; nothing is all",
    ),
    help("u BACKSPACE", "zoom out by one step"),
    help(
        "/",
        "names: rows that have them; in trees and boxes what is found",
    ),
    help("n N", "the next, the previous that was found"),
    help("o", "sort keys: what rows are"),
    help(
        "x",
        "rows count what they called, or only their own samples",
    ),
    help("L", "rows below this percentage are not shown"),
    help(
        "F",
        "percentages of all samples, or of those that are shown",
    ),
    help("H V", "headings; names of DSOs in trees"),
    help("SPACE", "threads: mark a time; ENTER zooms into it"),
    help(
        "y",
        "copy the row or the stack (to the terminal's clipboard)",
    ),
    help(
        "s P",
        "save what is seen: SVG, folded stacks, JSON; as text",
    ),
    help(
        "p",
        "rprof top: pause, and go on; zooming into a time pauses it",
    ),
    help(
        "i m ? h F1",
        "about the recording; what can be done; this help",
    ),
    help("^L ^Z q ^C", "draw again; suspend; quit"),
    help(
        "mouse",
        "a click selects, a second one opens; the wheel moves; dragging marks a time",
    ),
];

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
        '1'..='4' => Command::View(ViewKind::of_number(letter)?),
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
        for KeyHelp { keys, .. } in KEYS {
            for word in keys.split(' ').filter(|word| word.len() == 1) {
                let letter = word.chars().next().unwrap();
                assert!(of(KeyCode::Char(letter)).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn the_readme_has_all_keys() {
        let readme = include_str!("../README.md");
        for KeyHelp { keys, what } in KEYS {
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
