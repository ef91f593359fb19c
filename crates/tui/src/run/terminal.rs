//! The terminal while the interface has it; it is given back as it was found, however that ends.

use super::bounded::Bounded;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::cursor::{Hide, Show};
use ratatui_crossterm::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui_crossterm::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use ratatui_crossterm::crossterm::{execute, queue};
use rprof_ringbuf::sys::suspend_process;
use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Once;

/// Opens what a terminal is written to.
type Out = fn() -> Box<dyn Write>;

/// What is drawn with.
type BufferedBackend = Bounded<CrosstermBackend<BufWriter<Box<dyn Write>>>>;

/// Most screens are written at once.
const FRAME_LEN: usize = 64 << 10;

/// A terminal that shows the interface.
pub(super) struct Screen {
    /// Its end would show the cursor, and complain to a terminal that may be gone: [`give_back`] does that.
    terminal: ManuallyDrop<Terminal<BufferedBackend>>,
    out: Out,
}

impl Screen {
    /// Takes the terminal.
    pub(super) fn enter(out: Out) -> io::Result<Self> {
        restore_on_panic(out);
        let buffered = BufWriter::with_capacity(FRAME_LEN, out());
        let terminal = ManuallyDrop::new(Terminal::new(Bounded(CrosstermBackend::new(buffered)))?);
        let screen = Self { terminal, out };
        take(out)?;
        Ok(screen)
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        // Terminals that know this show nothing of it before all is there; others pass over it.
        queue!(self.terminal.backend_mut().0, BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| draw(frame.buffer_mut()))?;
        execute!(self.terminal.backend_mut().0, EndSynchronizedUpdate)
    }

    /// All is drawn anew next time.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        // `Terminal::clear` would ask where the cursor is, and the answer comes as keys do.
        let area = Rect::from((Position::ORIGIN, self.terminal.size()?));
        self.terminal.resize(area)
    }

    /// Gives the terminal back until the program is continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        give_back(self.out);
        suspend_process();
        self.take_again()
    }

    /// Takes the terminal as it is now: a shell had it.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        let _ = disable_raw_mode();
        take(self.out)?;
        self.clear()
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
    // What is pasted is to be told apart from keys.
    execute!(
        out(),
        EnterAlternateScreen,
        EnableMouseCapture,
        EnableBracketedPaste,
        Hide
    )
}

/// Nothing can be done about what fails here.
fn give_back(out: Out) {
    let _ = execute!(
        out(),
        EndSynchronizedUpdate,
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        Show
    );
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
