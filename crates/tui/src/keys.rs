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
    Times,
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
    /// Type the sort keys.
    TypeKeys,
    /// Show rows, whose sort keys have changed.
    Rows,
    /// Another part of the time of threads: on CPUs, waiting, or both.
    Account,
    /// Compare a time with the rest.
    Compare,
    /// Toggle total and self.
    Children,
    Save,
    SaveAs(SaveForm),
    Copy,
    Pause,
    Mark,
    /// Select a time by how busy threads are.
    Load(Load),
    Hottest,
    /// Only stacks with the selected function.
    KeepSelected,
    /// All samples but those of the selection.
    Without(LeftOut),
    /// Choose in which function inlined code is shown.
    ChooseInto,
    /// Show inlined code in the function with this number, or in all.
    CodeInto(Option<u8>),
    /// Show the code of the called function with this number.
    Callee(u8),
}

/// Which times are selected, the first of them first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    Busiest,
    Idlest,
}

/// What of the selection is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// Samples in its DSO.
    Dso,
    /// Stacks with its function.
    Function,
    /// Threads of its name.
    Comm,
}

/// All keys but the numbers of the views, as the help shows them: a heading for each task, then a line for each key,
/// with a colon before what it does.
const KEYS: &str = "\
Move
TAB Shift-TAB: next, previous event; with a single event: next, previous view
arrows PGUP PGDN SPACE HOME END: move; threads: HOME and END go to the first and last time
ESC: leave a search, zoom or filter; then quit
Expand and collapse
ENTER +: expand or collapse a row or node; zoom into a frame; zoom into the marked time range
LEFT: collapse a node, or zoom out; flame graph, threads: move left
e: expand or collapse the whole tree of a row or node
E C: expand all rows on the screen; collapse all
c: toggle the call trees of rows between callers and callees
Show a part of the samples
d: zoom into the DSO, or back out
k: zoom into the kernel, or back out
w: switch between CPU time, waiting time and both (needs record --off-cpu)
t: zoom into threads with this name, or this thread, or back out
X: hide what ran in the DSO itself (m: drop stacks with the function anywhere; hide threads)
f: keep stacks with function NAME; !NAME: without it; empty clears
T: type a time range, such as 1.5,3 (seconds) or 50%-100%; empty clears
b B: threads: select the busiest time of the selected thread, or of all; again: the next; B: the idlest
SPACE: threads: mark a time range; ENTER zooms into it, D compares it with the rest
D: compare the time that is marked, or zoomed into, with the rest: show significant changes
u BACKSPACE: undo the last zoom
Search
/: search names: filters rows; highlights in trees and graphs; in code and help: search lines
n N: next, previous match; flame graph: next lighter, heavier match
Choose what rows show
o: choose the sort keys that group rows
x: toggle total and self
L: hide rows below a percentage
F: toggle percentages of all samples and of the shown samples
H V: toggle headings; DSO names in trees
Look into code, save, copy
a: show the function's code; there, H: next hottest line; o: inlined code, of one function or all
ENTER BACKSPACE: in code: follow a jump or call, or choose one; back to the code before
y: copy the row or stack to the clipboard (through the terminal)
s P: save the view as SVG, folded stacks, JSON or text; P: as text
Anything else
m: menu of what can be done with the selection
p: rprof top: pause or resume; zooming into a time pauses, too
i ? h F1: about the recording; this help
^L ^Z q ^C: redraw; suspend; quit
mouse: click selects, a second click opens; right click: menu; wheel scrolls; drag marks a time range
";

/// A line of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelpLine<'a> {
    /// What the keys below it are for.
    Task(&'a str),
    /// Keys, and what they do.
    Keys(&'a str, &'a str),
}

/// Keys by task, and what they do.
pub(crate) fn help_lines<'a>() -> impl Iterator<Item = HelpLine<'a>> {
    let all: &'a str = KEYS;
    all.lines().map(|line| match line.split_once(": ") {
        Some((keys, what)) => HelpLine::Keys(keys, what),
        None => HelpLine::Task(line),
    })
}

/// A key of the bar at the bottom, and what it does where it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyHint {
    pub(crate) key: KeyCode,
    /// In a word or two.
    pub(crate) does: &'static str,
}

/// A [`KeyHint`].
pub(crate) const fn hint(key: KeyCode, does: &'static str) -> KeyHint {
    KeyHint { key, does }
}

/// The same of a letter.
pub(crate) const fn letter(letter: char, does: &'static str) -> KeyHint {
    hint(KeyCode::Char(letter), does)
}

impl KeyHint {
    /// What the key is called.
    pub(crate) fn name(&self) -> String {
        match self.key {
            KeyCode::Char(' ') => "SPACE".to_owned(),
            KeyCode::Char(letter) => letter.to_string(),
            KeyCode::Enter => "ENTER".to_owned(),
            KeyCode::Esc => "ESC".to_owned(),
            _ => String::new(),
        }
    }
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
        'b' => Command::Load(Load::Busiest),
        'B' => Command::Load(Load::Idlest),
        'a' => Command::Code,
        'd' => Command::Dso,
        'D' => Command::Compare,
        'k' => Command::Kernel,
        't' => Command::Thread,
        'f' => Command::Frames,
        'T' => Command::Times,
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
        'X' => Command::Without(LeftOut::Dso),
        's' => Command::Save,
        'P' => Command::SaveAs(SaveForm::Text),
        'y' => Command::Copy,
        'p' => Command::Pause,
        'w' => Command::Account,
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
        KeyCode::Char('o') => Some(Command::ChooseInto),
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
        for line in help_lines() {
            let HelpLine::Keys(keys, _) = line else {
                continue;
            };
            for word in keys.split(' ').filter(|word| word.len() == 1) {
                let letter = word.chars().next().unwrap();
                assert!(of(KeyCode::Char(letter)).is_some(), "{letter}");
            }
        }
    }

    #[test]
    fn the_readme_has_all_keys() {
        let readme = include_str!("../README.md");
        for line in help_lines() {
            let row = match line {
                HelpLine::Task(task) => format!("\n| **{task}** | |\n"),
                HelpLine::Keys(keys, what) => format!("\n| `{keys}` | {what} |\n"),
            };
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
