//! What is typed, and the terminal that it comes from.

use super::background::{Answer, Heard};
use super::bounded::used;
use super::message::Message;
use crate::app::Input;
use crossbeam_channel::Sender;
use ratatui_crossterm::crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use rprof_ringbuf::sys::is_hung_up;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

/// The terminal that keys come from.
pub(super) struct Keyboard(Option<OwnedFd>);

impl Keyboard {
    /// That of the standard input, else the one that the process has.
    pub(super) fn open() -> Self {
        let stdin = io::stdin();
        Self(if stdin.is_terminal() {
            stdin.as_fd().try_clone_to_owned().ok()
        } else {
            File::open("/dev/tty").ok().map(OwnedFd::from)
        })
    }

    /// The terminal, if there is one.
    pub(super) fn fd(&self) -> Option<OwnedFd> {
        let Self(terminal) = self;
        terminal.as_ref()?.try_clone().ok()
    }

    /// Whether nothing can come any more. Reading would not say so: it would be tried again and again.
    pub(super) fn is_gone(&self) -> bool {
        let Self(terminal) = self;
        terminal.as_ref().is_some_and(|one| is_hung_up(one.as_fd()))
    }
}

/// Keys that were pressed too early: they are for the interface, once it is there.
#[derive(Debug, Default)]
pub struct EarlyKeys {
    keys: Vec<Event>,
    torn: Torn,
}

/// What is still to come of a key whose escape came alone (arrows, on slow lines): its letters are no keys.
#[derive(Debug, Default, PartialEq)]
enum Torn {
    #[default]
    Nothing,
    /// After `ESC O`: one letter.
    Letter,
    /// After `ESC [`: numbers, and a letter.
    Numbers,
}

impl EarlyKeys {
    /// More are forgotten: somebody leans on a key.
    const MOST: usize = 1000;

    /// Takes what was pressed. Returns whether that ends the reading. `rest` is what comes soon after an escape, which
    /// is then no key of its own.
    pub(super) fn take(
        &mut self,
        pressed: Event,
        rest: impl FnOnce() -> io::Result<Option<Event>>,
    ) -> io::Result<bool> {
        if self.torn.takes(&pressed) {
            return Ok(false);
        }
        let pressed = match pressed {
            Event::Key(key) if is_plain(key, KeyCode::Char('q')) => return Ok(true),
            Event::Key(key) if is_plain(key, KeyCode::Esc) => {
                let Some(Event::Key(key)) = rest()? else {
                    return Ok(true);
                };
                match key.code {
                    KeyCode::Esc => return Ok(true),
                    KeyCode::Char('[') => self.torn = Torn::Numbers,
                    KeyCode::Char('O') => self.torn = Torn::Letter,
                    _ => {}
                }
                if self.torn != Torn::Nothing {
                    return Ok(false);
                }
                // An escape before a key is Alt.
                let modifiers = key.modifiers | KeyModifiers::ALT;
                Event::Key(KeyEvent { modifiers, ..key })
            }
            other => other,
        };
        if self.keys.len() < Self::MOST {
            self.keys.push(pressed);
        }
        Ok(false)
    }
}

impl Torn {
    /// Takes what belongs to it.
    fn takes(&mut self, pressed: &Event) -> bool {
        let (Event::Key(key), false) = (pressed, *self == Self::Nothing) else {
            return false;
        };
        let KeyCode::Char(letter) = key.code else {
            *self = Self::Nothing;
            return false;
        };
        // ECMA-48: parameters and intermediate bytes come before the final one.
        if *self == Self::Letter || !matches!(letter, ' '..='?') {
            *self = Self::Nothing;
        }
        true
    }
}

/// Whether a key is pressed, and no other with it.
fn is_plain(key: KeyEvent, code: KeyCode) -> bool {
    key.code == code && key.modifiers == KeyModifiers::NONE && key.kind != KeyEventKind::Release
}

/// Reads keys for as long as the program runs; those that came before go first.
pub(super) fn listen(to: Sender<Message>, early: EarlyKeys) {
    thread::spawn(move || {
        let (mut answer, mut early) = (Answer::default(), early.keys.into_iter());
        loop {
            let next = early.next().map_or_else(event::read, Ok);
            let input = match next {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    let inputs = match answer.hear(key) {
                        Heard::Nothing => Vec::new(),
                        Heard::Background(background) => vec![Input::Background(background)],
                        Heard::Keys(keys) => keys.into_iter().map(Input::Key).collect(),
                    };
                    for input in inputs {
                        if to.send(Message::Input(input)).is_err() {
                            return;
                        }
                    }
                    continue;
                }
                Ok(Event::Mouse(mouse)) => Input::Mouse(mouse),
                Ok(Event::Resize(columns, lines)) => {
                    let (columns, lines) = used(columns, lines);
                    Input::Size(columns, lines)
                }
                Ok(Event::Paste(text)) => Input::Paste(text),
                Ok(_) => continue,
                Err(error) => {
                    let _ = to.send(Message::Broken(error));
                    return;
                }
            };
            if to.send(Message::Input(input)).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn letter(letter: char) -> Event {
        key(KeyCode::Char(letter), KeyModifiers::NONE)
    }

    const ESC: Event = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));

    /// Takes keys, each as if it had come when it was waited for; nothing comes after the last.
    fn taken(early: &mut EarlyKeys, keys: &[Event]) -> bool {
        let mut keys = keys.iter().cloned();
        while let Some(key) = keys.next() {
            if early.take(key, || Ok(keys.next())).unwrap() {
                return true;
            }
        }
        false
    }

    #[test]
    fn esc_and_q_leave_and_other_keys_wait() {
        let mut early = EarlyKeys::default();
        let others = [
            letter('j'),
            key(KeyCode::Char('q'), KeyModifiers::ALT),
            Event::Resize(80, 24),
        ];
        assert!(!taken(&mut early, &others));
        assert_eq!(early.keys, others);
        for last in [&[ESC][..], &[letter('q')], &[ESC, ESC]] {
            assert!(taken(&mut early, last), "{last:?}");
        }
        assert_eq!(early.keys, others);
    }

    #[test]
    fn an_escape_whose_rest_comes_late_does_not_leave() {
        for (typed, expected) in [
            ("[A", vec![]),
            ("OB", vec![]),
            ("[1;5C", vec![]),
            ("[Aj", vec![letter('j')]),
            ("[5~[", vec![letter('[')]),
            ("q", vec![key(KeyCode::Char('q'), KeyModifiers::ALT)]),
        ] {
            let mut early = EarlyKeys::default();
            let keys: Vec<Event> = [ESC].into_iter().chain(typed.chars().map(letter)).collect();
            assert!(!taken(&mut early, &keys), "{typed}");
            assert_eq!(early.keys, expected, "{typed}");
        }
        // What is not of such a key is one of its own.
        let mut early = EarlyKeys::default();
        assert!(taken(&mut early, &[ESC, letter('['), ESC]));
    }

    #[test]
    fn a_key_that_is_held_down_takes_no_memory() {
        let mut early = EarlyKeys::default();
        assert!(!taken(&mut early, &vec![letter('j'); 2 * EarlyKeys::MOST]));
        assert_eq!(early.keys.len(), EarlyKeys::MOST);
    }
}
