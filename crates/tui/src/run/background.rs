//! The terminal's background: it is asked for its colour, and the answer comes as keys do.
//!
//! Nobody waits for it: terminals that do not know the question never answer.

use crate::look::Background;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Asks for the colour of the background (OSC 11, xterm's control sequences).
pub(super) const QUESTION: &str = "\x1b]11;?\x1b\\";

/// What an answer begins with, after its escape.
const BEGIN: &str = "]11;rgb:";

/// Letters of an answer, at most: three numbers of four digits.
const MAX_LEN: usize = BEGIN.len() + 14;

/// Keys that may be the answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    held: Vec<KeyEvent>,
    text: String,
    is_done: bool,
}

/// What a key was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A part of an answer, perhaps.
    Nothing,
    /// The end of one.
    Background(Background),
    /// Keys that somebody pressed.
    Keys(Vec<KeyEvent>),
}

impl Answer {
    /// Takes a key. There is one answer, so keys are held only until it was heard.
    pub(super) fn hear(&mut self, key: KeyEvent) -> Heard {
        if self.is_done {
            return Heard::Keys(vec![key]);
        }
        // An escape and a letter come as a letter with Alt.
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('\\') if is_alt && !self.held.is_empty() => self.end(key),
            KeyCode::Char('g') if is_control && !self.held.is_empty() => self.end(key),
            KeyCode::Char(letter) if is_alt == self.held.is_empty() && !is_control => {
                self.text.push(letter);
                let is_begin = match self.text.strip_prefix(BEGIN) {
                    Some(color) => color.chars().all(|c| c == '/' || c.is_ascii_hexdigit()),
                    None => BEGIN.starts_with(&self.text),
                };
                if is_begin && self.text.len() <= MAX_LEN {
                    self.held.push(key);
                    return Heard::Nothing;
                }
                self.give_back(key)
            }
            _ => self.give_back(key),
        }
    }

    /// No answer: somebody pressed these.
    fn give_back(&mut self, key: KeyEvent) -> Heard {
        self.text.clear();
        let mut keys = std::mem::take(&mut self.held);
        keys.push(key);
        Heard::Keys(keys)
    }

    fn end(&mut self, key: KeyEvent) -> Heard {
        let color = self.text.strip_prefix(BEGIN).and_then(color_of);
        match color {
            Some(color) => {
                self.is_done = true;
                self.held.clear();
                Heard::Background(Background::of(color))
            }
            None => self.give_back(key),
        }
    }
}

/// Three numbers of one to four hexadecimal digits, each a share of its largest value.
fn color_of(text: &str) -> Option<[u8; 3]> {
    let part = |digits: &str| {
        let most = (1u32 << (4 * digits.len().clamp(1, 4))) - 1;
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from(value.min(most) * 255 / most).ok()
    };
    let mut parts = text.split('/').map(part);
    let mut next = || parts.next().flatten();
    let color = [next()?, next()?, next()?];
    parts.next().is_none().then_some(color)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys as a terminal's bytes become keys: an escape is Alt, a bell Ctrl-G.
    fn keys(bytes: &str) -> Vec<KeyEvent> {
        let mut modifiers = KeyModifiers::NONE;
        let mut keys = Vec::new();
        for letter in bytes.chars() {
            match letter {
                '\x1b' => modifiers = KeyModifiers::ALT,
                '\x07' => {
                    keys.push(KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL));
                }
                letter => {
                    keys.push(KeyEvent::new(KeyCode::Char(letter), modifiers));
                    modifiers = KeyModifiers::NONE;
                }
            }
        }
        keys
    }

    /// What is heard of bytes: the background, and the keys that are left.
    fn heard(bytes: &str) -> (Option<Background>, Vec<KeyEvent>) {
        let (mut answer, mut background, mut left) = (Answer::default(), None, Vec::new());
        for key in keys(bytes) {
            match answer.hear(key) {
                Heard::Nothing => {}
                Heard::Background(one) => background = Some(one),
                Heard::Keys(keys) => left.extend(keys),
            }
        }
        (background, left)
    }

    #[test]
    fn the_answer_of_a_terminal_is_no_keys() {
        for (bytes, background) in [
            ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", Background::Light),
            ("\x1b]11;rgb:fdfd/f6f6/e3e3\x07", Background::Light),
            ("\x1b]11;rgb:30/0a/24\x1b\\", Background::Dark),
            ("\x1b]11;rgb:0/0/0\x07", Background::Dark),
        ] {
            assert_eq!(heard(bytes), (Some(background), vec![]), "{bytes:?}");
        }
    }

    #[test]
    fn keys_before_and_after_it_are_pressed() {
        let (background, left) = heard("j\x1b]11;rgb:ffff/ffff/ffff\x1b\\kg");
        assert_eq!((background, left), (Some(Background::Light), keys("jkg")));
        // A second answer would be keys; nobody asks twice.
        let (_, left) = heard("\x1b]11;rgb:0/0/0\x07\x1b]");
        assert_eq!(left, keys("\x1b]"));
    }

    #[test]
    fn keys_that_look_like_its_beginning_are_not_lost() {
        for bytes in [
            "\x1b]q",
            "\x1b]11;rgb:zz",
            "\x1b]11;rgb:0/0\x07",
            "\x1b]11;rgb:00000/0/0/0/0/0/0/0/0/0x",
            "]11;rgb:0/0/0\x07",
            "\x1b\\\x07",
        ] {
            assert_eq!(heard(bytes), (None, keys(bytes)), "{bytes:?}");
        }
    }
}
