//! A line that is typed.

use crate::page::Page;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    /// Names that are shown, or found.
    Search,
    /// Lines of a page.
    Find,
    /// Functions that stacks have.
    Frames,
    /// A time of the recording.
    Times,
    /// Percent below which rows are not shown.
    Limit,
    /// Sort keys that group rows.
    Keys,
}

impl PromptKind {
    /// What is asked.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Search => "search (part of a name, pat*, /regex/, !not)",
            Self::Find => "search (part of a line, /regex/)",
            Self::Frames => {
                "keep stacks with function (part of its name, pat*, /regex/; !NAME: without)"
            }
            Self::Times => "time range (1.5,3 in seconds or 50%-100%; empty: all)",
            Self::Limit => "hide rows below percent",
            Self::Keys => "group rows by (keys, separated by commas)",
        }
    }
}

/// A line that is typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) kind: PromptKind,
    text: String,
    /// Where the next letter goes, in bytes.
    at: usize,
    /// The page that is searched.
    pub(crate) under: Option<Box<Page>>,
}

/// What a key did to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// It goes on.
    On,
    /// It is done.
    Done,
    /// It is given up.
    Off,
}

impl Prompt {
    /// Bytes at most.
    const MAX_LEN: usize = 1000;

    /// A line that goes on after a text.
    pub(crate) fn new(kind: PromptKind, text: String) -> Self {
        let at = text.len();
        Self {
            kind,
            text,
            at,
            under: None,
        }
    }

    /// A line that searches a page.
    pub(crate) fn find(page: Page) -> Self {
        let text = page.searched().map_or("", |matcher| matcher.text());
        let line = Self::new(PromptKind::Find, text.to_owned());
        Self {
            under: Some(Box::new(page)),
            ..line
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What is before the cursor, and from it on.
    pub(crate) fn parts(&self) -> (&str, &str) {
        self.text.split_at(self.at)
    }

    /// Keys do what they do in a shell.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Typed {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Typed::Done,
            KeyCode::Esc => return Typed::Off,
            KeyCode::Char('c' | 'g') if is_control => return Typed::Off,
            KeyCode::Char('u') if is_control => self.take_from(0),
            KeyCode::Char('w') if is_control => {
                let (before, _) = self.parts();
                let start = before.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.take_from(start);
            }
            KeyCode::Char('k') if is_control => self.text.truncate(self.at),
            KeyCode::Char('h') if is_control => self.take_from(self.left()),
            KeyCode::Backspace => self.take_from(self.left()),
            KeyCode::Char('d') if is_control => self.take_next(),
            KeyCode::Delete => self.take_next(),
            KeyCode::Char('a') if is_control => self.at = 0,
            KeyCode::Home => self.at = 0,
            KeyCode::Char('e') if is_control => self.at = self.text.len(),
            KeyCode::End => self.at = self.text.len(),
            KeyCode::Char('b') if is_control => self.at = self.left(),
            KeyCode::Left => self.at = self.left(),
            KeyCode::Char('f') if is_control => self.at = self.right(),
            KeyCode::Right => self.at = self.right(),
            KeyCode::Char(letter) if !is_control => self.push(letter),
            _ => {}
        }
        Typed::On
    }

    /// Where the letter before the cursor begins.
    fn left(&self) -> usize {
        let (before, _) = self.parts();
        let letter = before.chars().next_back();
        self.at - letter.map_or(0, char::len_utf8)
    }

    /// Where the letter at the cursor ends.
    fn right(&self) -> usize {
        let (_, after) = self.parts();
        self.at + after.chars().next().map_or(0, char::len_utf8)
    }

    /// Takes back what is between a place and the cursor.
    fn take_from(&mut self, start: usize) {
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    fn take_next(&mut self) {
        let end = self.right();
        self.text.replace_range(self.at..end, "");
    }

    /// Takes a text up to where its first line ends.
    pub(crate) fn paste(&mut self, text: &str) {
        let line = text.split(['\r', '\n']).next().unwrap_or_default();
        let letters = line.chars().filter(|letter| !letter.is_control());
        letters.for_each(|letter| self.push(letter));
    }

    fn push(&mut self, letter: char) {
        if self.text.len() + letter.len_utf8() <= Self::MAX_LEN {
            self.text.insert(self.at, letter);
            self.at += letter.len_utf8();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_words_and_all_of_a_line_are_taken_back() {
        let mut prompt = Prompt::new(PromptKind::Search, String::new());
        let mut key = |code, modifiers| {
            let typed = prompt.key(KeyEvent::new(code, modifiers));
            (typed, prompt.text.clone())
        };
        for letter in "ab cd".chars() {
            key(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        let control = KeyModifiers::CONTROL;
        assert_eq!(key(KeyCode::Backspace, KeyModifiers::NONE).1, "ab c");
        assert_eq!(key(KeyCode::Char('w'), control).1, "ab ");
        assert_eq!(key(KeyCode::Char('u'), control).1, "");
        assert_eq!(key(KeyCode::Enter, KeyModifiers::NONE).0, Typed::Done);
        assert_eq!(key(KeyCode::Esc, KeyModifiers::NONE).0, Typed::Off);
    }

    #[test]
    fn a_pasted_text_is_typed_up_to_its_first_newline() {
        let mut prompt = Prompt::new(PromptKind::Search, "a".to_owned());
        prompt.paste("b\tc\x1b\rq\n");
        assert_eq!(prompt.text, "abc");
        prompt.paste(&"\u{e9}".repeat(Prompt::MAX_LEN));
        assert_eq!(prompt.text.len(), Prompt::MAX_LEN - 1);
    }

    #[test]
    fn the_cursor_goes_where_letters_are_to_come() {
        let typed = |keys: &[(KeyCode, KeyModifiers)]| {
            let mut prompt = Prompt::new(PromptKind::Search, "\u{e9}b c".to_owned());
            for &(code, modifiers) in keys {
                prompt.key(KeyEvent::new(code, modifiers));
            }
            let (before, after) = prompt.parts();
            format!("{before}|{after}")
        };
        let plain = |code| (code, KeyModifiers::NONE);
        let control = |letter| (KeyCode::Char(letter), KeyModifiers::CONTROL);
        let x = plain(KeyCode::Char('x'));
        assert_eq!(typed(&[plain(KeyCode::Home), x]), "x|\u{e9}b c");
        assert_eq!(typed(&[control('a'), plain(KeyCode::Delete)]), "|b c");
        assert_eq!(typed(&[plain(KeyCode::Left), control('w')]), "|c");
        assert_eq!(typed(&[control('b'), control('k')]), "\u{e9}b |");
        let home = plain(KeyCode::Home);
        let right = plain(KeyCode::Right);
        assert_eq!(typed(&[home, right, x]), "\u{e9}x|b c");
        assert_eq!(typed(&[home, right, plain(KeyCode::Backspace)]), "|b c");
        assert_eq!(typed(&[home, control('d'), control('e'), x]), "b cx|");
        assert_eq!(
            typed(&[home, control('h'), plain(KeyCode::Left)]),
            "|\u{e9}b c"
        );
        assert_eq!(typed(&[right, plain(KeyCode::Delete)]), "\u{e9}b c|");
    }
}
