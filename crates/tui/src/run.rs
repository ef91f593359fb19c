//! The loop: a terminal, keys, signals, and data that may be replaced.

mod terminal;

use crate::app::{App, Effect, Input};
use crate::clipboard;
use crate::face::{Face, TuiData, TuiUpdate};
use crossbeam_channel::{Receiver, Sender, unbounded};
use ratatui_crossterm::crossterm::event::{self, Event, KeyEventKind};
use rprof_ringbuf::sys::{Signal, Signals};
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};
use terminal::Screen;

/// The interface cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The terminal cannot be used.
    #[error("the terminal")]
    Terminal(#[from] io::Error),
    /// SIGINT, SIGTERM or SIGHUP came.
    #[error("interrupted")]
    Interrupted,
}

/// What comes from outside.
#[derive(Debug)]
enum Message {
    Input(Input),
    Data(Box<TuiData>),
    End,
    Broken(io::Error),
}

/// How long signals and keys are waited for at once.
const TICK: Duration = Duration::from_millis(50);

/// What the loop is connected to.
pub struct Wires {
    /// Opens what the terminal is written to.
    pub out: fn() -> Box<dyn Write>,
    /// What comes here replaces the data.
    pub updates: Receiver<TuiUpdate>,
    /// Heard here, if at all.
    pub signals: Option<Signals>,
    /// Gets a line for each key: how long its answer took, in microseconds.
    pub log: Option<Box<dyn Write>>,
}

impl Wires {
    /// Those where nothing replaces the data, and signals end it.
    ///
    /// # Errors
    /// If signals cannot be heard.
    pub fn of(out: fn() -> Box<dyn Write>, log: Option<Box<dyn Write>>) -> io::Result<Self> {
        Ok(Self {
            out,
            updates: crossbeam_channel::never(),
            signals: Some(Signals::block()?),
            log,
        })
    }
}

impl std::fmt::Debug for Wires {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wires").finish_non_exhaustive()
    }
}

/// Shows the interface on a terminal until somebody leaves it.
///
/// # Errors
/// If the terminal cannot be used, or a signal ends it.
pub fn run(app: &mut App, face: &mut dyn Face, wires: Wires) -> Result<(), RunError> {
    let Wires {
        out,
        updates,
        signals,
        log,
    } = wires;
    let mut screen = Screen::enter(out)?;
    let (sender, inputs) = unbounded();
    listen(sender);
    let mut looped = Loop {
        app,
        face,
        signals: signals.as_ref(),
        log,
    };
    looped.draw(&mut screen)?;
    loop {
        let message = looped.next(&inputs, &updates)?;
        let begin = Instant::now();
        let what = format!("{message:.60?}");
        match message {
            Some(Message::Broken(error)) => return Err(error.into()),
            Some(Message::Data(data)) => looped.app.replace(*data),
            Some(Message::End) => return Ok(()),
            Some(Message::Input(input)) => {
                let effect = looped.app.handle(&input);
                if looped.take(effect, &mut screen)? {
                    return Ok(());
                }
            }
            None => looped.app.work(),
        }
        looped.draw(&mut screen)?;
        looped.note(&what, begin);
    }
}

/// Reads keys for as long as the program runs.
fn listen(to: Sender<Message>) {
    thread::spawn(move || {
        loop {
            let input = match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => Input::Key(key),
                Ok(Event::Mouse(mouse)) => Input::Mouse(mouse),
                Ok(Event::Resize(columns, lines)) => Input::Size(columns, lines),
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

struct Loop<'a> {
    app: &'a mut App,
    face: &'a mut dyn Face,
    signals: Option<&'a Signals>,
    log: Option<Box<dyn Write>>,
}

impl Loop<'_> {
    /// What comes next; `None` if there is work to be done meanwhile.
    fn next(
        &self,
        inputs: &Receiver<Message>,
        updates: &Receiver<TuiUpdate>,
    ) -> Result<Option<Message>, RunError> {
        loop {
            while let Some(signal) = self.signals.and_then(Signals::next) {
                if let Signal::Stop { .. } = signal {
                    return Err(RunError::Interrupted);
                }
            }
            if let Ok(message) = inputs.try_recv() {
                return Ok(Some(message));
            }
            if self.app.has_work() {
                return Ok(None);
            }
            crossbeam_channel::select! {
                recv(inputs) -> message => if let Ok(message) = message {
                    return Ok(Some(message));
                },
                recv(updates) -> data => match data {
                    Ok(TuiUpdate::Data(data)) => return Ok(Some(Message::Data(data))),
                    Ok(TuiUpdate::End) => return Ok(Some(Message::End)),
                    // Nobody will send any more: this must not be asked all the time.
                    Err(_) => thread::sleep(TICK),
                },
                default(TICK) => {}
            }
        }
    }

    fn draw(&mut self, screen: &mut Screen) -> io::Result<()> {
        let app = &*self.app;
        screen.draw(|buffer| app.draw(buffer))
    }

    /// Does what is asked for. Says whether it is the end.
    fn take(&mut self, effect: Effect, screen: &mut Screen) -> Result<bool, RunError> {
        match effect {
            Effect::None => {}
            Effect::Quit => return Ok(true),
            Effect::Redraw => screen.clear()?,
            Effect::Pause(is_paused) => self.face.pause(is_paused),
            Effect::Suspend => {
                screen.suspend()?;
                if let Ok((columns, lines)) = ratatui_crossterm::crossterm::terminal::size() {
                    self.app.handle(&Input::Size(columns, lines));
                }
            }
            Effect::Code(function) => {
                self.draw(screen)?;
                let code = self.face.code(&function);
                self.app.take_code(&function, code);
            }
            Effect::Save(form) => {
                let text = self.app.text();
                let saved = self.app.saved(form, &text);
                let saved = saved.map_or(Err("nothing is shown".to_owned()), |saved| {
                    self.face.save(&saved)
                });
                self.app.take_saved(saved);
            }
            Effect::Copy(text) => match clipboard::escape(&text) {
                Some(escape) => {
                    screen.send(&escape)?;
                    self.app.say(&format!("copied: {text}"));
                }
                None => self.app.say("this is too long to be copied"),
            },
        }
        Ok(false)
    }

    fn note(&mut self, what: &str, begin: Instant) {
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "{} us: {what}", begin.elapsed().as_micros());
        }
    }
}
