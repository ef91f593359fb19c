//! What is typed, and the terminal that it comes from.

use super::background::{Answer, Heard};
use super::bounded::used;
use super::message::Message;
use crate::app::Input;
use crossbeam_channel::Sender;
use ratatui_crossterm::crossterm::event::{self, Event, KeyEventKind};
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

    /// Whether nothing can come any more. Reading would not say so: it would be tried again and again.
    pub(super) fn is_gone(&self) -> bool {
        let Self(terminal) = self;
        terminal.as_ref().is_some_and(|one| is_hung_up(one.as_fd()))
    }
}

/// Reads keys for as long as the program runs.
pub(super) fn listen(to: Sender<Message>) {
    thread::spawn(move || {
        let mut answer = Answer::default();
        loop {
            let input = match event::read() {
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
