//! The terminal while the interface has it; it is given back as it was found, however that ends.

use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::process::{Signal, getpid, kill_process};
use std::io::{self, Write};
use std::panic;
use std::sync::Once;

/// Opens what a terminal is written to.
type Out = fn() -> Box<dyn Write>;

/// A terminal that shows the interface.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Box<dyn Write>>>,
    out: Out,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter(out: Out) -> io::Result<Self> {
        restore_on_panic(out);
        let terminal = Terminal::new(CrosstermBackend::new(out()))?;
        let screen = Self { terminal, out };
        take(out)?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| draw(frame.buffer_mut()))?;
        Ok(())
    }

    /// All is drawn anew next time.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Gives the terminal back until the program is continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back(self.out);
        kill_process(getpid(), Signal::TSTP)?;
        take(self.out)?;
        self.terminal.clear()
    }

    /// Sends what the terminal obeys, beside the screen.
    pub(super) fn send(&mut self, escape: &str) -> io::Result<()> {
        let mut out = (self.out)();
        out.write_all(escape.as_bytes())?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back(self.out);
    }
}

fn take(out: Out) -> io::Result<()> {
    enable_raw_mode()?;
    execute!(out(), EnterAlternateScreen, EnableMouseCapture, Hide)
}

/// Nothing can be done about what fails here.
fn give_back(out: Out) {
    let _ = execute!(out(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

/// What a panic says is to be read, and not to be gone with the screen.
fn restore_on_panic(out: Out) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back(out);
            before(info);
        }));
    });
}
