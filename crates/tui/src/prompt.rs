//! A line that is typed.

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptKind {
    /// Names that are shown, or found.
    Search,
    /// Functions that stacks have.
    Frames,
    /// Percent below which rows are not shown.
    Limit,
}

impl PromptKind {
    /// What is asked.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Search => "names (part, pat*, /regex/): ",
            Self::Frames => "stacks with (names, pat*, /regex/): ",
            Self::Limit => "rows from percent: ",
        }
    }
}

/// A line that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) kind: PromptKind,
    pub(crate) text: String,
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

    pub(crate) fn key(&mut self, key: KeyEvent) -> Typed {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Typed::Done,
            KeyCode::Esc => return Typed::Off,
            KeyCode::Char('c' | 'g') if is_control => return Typed::Off,
            KeyCode::Char('u') if is_control => self.text.clear(),
            KeyCode::Char('w') if is_control => {
                let end = self.text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.text.truncate(end);
            }
            KeyCode::Char('h') if is_control => drop(self.text.pop()),
            KeyCode::Backspace => drop(self.text.pop()),
            KeyCode::Char(letter) if !is_control => self.push(letter),
            _ => {}
        }
        Typed::On
    }

    /// Takes a text up to where its first line ends.
    pub(crate) fn paste(&mut self, text: &str) {
        let line = text.split(['\r', '\n']).next().unwrap_or_default();
        let letters = line.chars().filter(|letter| !letter.is_control());
        letters.for_each(|letter| self.push(letter));
    }

    fn push(&mut self, letter: char) {
        if self.text.len() + letter.len_utf8() <= Self::MAX_LEN {
            self.text.push(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_words_and_all_of_a_line_are_taken_back() {
        let mut prompt = Prompt {
            kind: PromptKind::Search,
            text: String::new(),
        };
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
        let mut prompt = Prompt {
            kind: PromptKind::Search,
            text: "a".to_owned(),
        };
        prompt.paste("b\tc\x1b\rq\n");
        assert_eq!(prompt.text, "abc");
        prompt.paste(&"\u{e9}".repeat(Prompt::MAX_LEN));
        assert_eq!(prompt.text.len(), Prompt::MAX_LEN - 1);
    }
}
