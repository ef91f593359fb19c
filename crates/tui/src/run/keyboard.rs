//! What is typed, and the terminal that it comes from.

use super::background::{Answer, Heard};
use super::bounded::used;
use super::message::Message;
use crate::app::Input;
use crossbeam_channel::Sender;
use ratatui_crossterm::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
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
pub struct EarlyKeys(Vec<Event>);

impl EarlyKeys {
    /// More are forgotten: somebody leans on a key.
    const MOST: usize = 1000;

    /// Takes what was pressed. Returns whether that ends the reading.
    pub(super) fn take(&mut self, pressed: Event) -> bool {
        if is_end(&pressed) {
            return true;
        }
        let Self(keys) = self;
        if keys.len() < Self::MOST {
            keys.push(pressed);
        }
        false
    }
}

/// Whether it is a key with which somebody leaves.
fn is_end(pressed: &Event) -> bool {
    let Event::Key(key) = pressed else {
        return false;
    };
    let is_leave = matches!(key.code, KeyCode::Esc | KeyCode::Char('q'));
    is_leave && key.modifiers == KeyModifiers::NONE && key.kind != KeyEventKind::Release
}

/// Reads keys for as long as the program runs; those that came before go first.
pub(super) fn listen(to: Sender<Message>, EarlyKeys(early): EarlyKeys) {
    thread::spawn(move || {
        let (mut answer, mut early) = (Answer::default(), early.into_iter());
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
    use ratatui_crossterm::crossterm::event::KeyEvent;

    #[test]
    fn esc_and_q_leave_and_other_keys_wait() {
        let mut early = EarlyKeys::default();
        let key = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        for other in [
            key(KeyCode::Char('j'), KeyModifiers::NONE),
            key(KeyCode::Char('q'), KeyModifiers::ALT),
            Event::Resize(80, 24),
        ] {
            assert!(!early.take(other));
        }
        assert_eq!(early.0.len(), 3);
        assert!(early.take(key(KeyCode::Esc, KeyModifiers::NONE)));
        assert!(early.take(key(KeyCode::Char('q'), KeyModifiers::NONE)));
        assert_eq!(early.0.len(), 3);
    }

    #[test]
    fn a_key_that_is_held_down_takes_no_memory() {
        let mut early = EarlyKeys::default();
        for _ in 0..2 * EarlyKeys::MOST {
            let key = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::NONE);
            assert!(!early.take(Event::Key(key)));
        }
        assert_eq!(early.0.len(), EarlyKeys::MOST);
    }
}
