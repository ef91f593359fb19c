//! The loop: a terminal, keys, signals, and data that may be replaced.

mod background;
mod beside;
mod bounded;
mod error;
mod first_read;
mod keyboard;
mod message;
mod terminal;

use crate::app::{App, Effect, Input};
use crate::clipboard;
use crate::face::{CodeAnswer, ComparisonAnswer, Face, ScopeAnswer, TuiUpdate};
use crate::keys::is_interrupt;
use crate::look::Colors;
use beside::Beside;
use crossbeam_channel::{Receiver, unbounded};
pub use error::RunError;
pub use keyboard::EarlyKeys;
use keyboard::{Keyboard, listen};
use message::Message;
use ratatui_crossterm::crossterm::terminal::size as terminal_size;
use rprof_ringbuf::sys::{Signal, Signals};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};
use terminal::Screen;

/// How long signals and keys are waited for at once.
const TICK: Duration = Duration::from_millis(50);

/// What takes longer says that it is under way.
const SOON: Duration = Duration::from_millis(30);

/// Answers of a terminal on a slow line come as late as this after the question.
const LATE: Duration = Duration::from_secs(1);

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
    /// Obeyed first.
    pub early: EarlyKeys,
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
            signals: Some(Signals::block_on_screen()?),
            log,
            early: EarlyKeys::default(),
        })
    }

    /// Reads what the interface is to show; `None` if somebody leaves meanwhile (ESC, q). The terminal shows what reading
    /// says, and is as it was before after that. Other keys are for the interface.
    ///
    /// # Errors
    /// If a signal ends it, or the terminal is gone.
    pub fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Option<T>, RunError> {
        first_read::read(read, self.signals.as_ref(), &mut self.early)
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
        mut updates,
        signals,
        log,
        early,
    } = wires;
    let (columns, lines) = bounded::used(app.cx.size.0, app.cx.size.1);
    app.input(&Input::Size(columns, lines));
    let mut screen = Screen::enter(out)?;
    let mut asked = None;
    if app.cx.look.colors == Colors::Many {
        // Terminals of 16 colours have their own, which suit it; a few of them would show the question.
        screen.send(background::QUESTION)?;
        asked = Some(Instant::now());
    }
    let (sender, inputs) = unbounded();
    listen(sender, early);
    let mut looped = Loop {
        app,
        face,
        signals: signals.as_ref(),
        log,
        inputs,
        keyboard: Keyboard::open(),
        early: VecDeque::new(),
        beside: Beside::new(),
    };
    if looped.settle(&mut screen)? {
        looped.hear_last(asked);
        return Ok(());
    }
    looped.draw(&mut screen)?;
    loop {
        let message = looped.next(&mut updates, &mut screen)?;
        let begin = Instant::now();
        let what = looped.log.is_some().then(|| message.name());
        let is_seen = !matches!(message, Message::Made(_));
        if is_answer(&message) {
            asked = None;
        }
        if looped.obey(message, &mut screen)? {
            looped.hear_last(asked);
            return Ok(());
        }
        if is_seen {
            looped.draw(&mut screen)?;
            looped.note(what.as_deref(), begin);
        }
    }
}

/// The terminal has answered what its background is.
fn is_answer(message: &Message) -> bool {
    matches!(message, Message::Input(Input::Background(_)))
}

/// Takes what comes until the terminal's answer, or until then: a shell that has the terminal again would take the answer
/// for what somebody types.
fn hear_answer(inputs: &Receiver<Message>, until: Instant) {
    while let Ok(message) = inputs.recv_deadline(until) {
        if is_answer(&message) {
            return;
        }
    }
}

struct Loop<'a> {
    app: &'a mut App,
    face: &'a mut dyn Face,
    signals: Option<&'a Signals>,
    log: Option<Box<dyn Write>>,
    inputs: Receiver<Message>,
    keyboard: Keyboard,
    /// What came while something else was waited for.
    early: VecDeque<Message>,
    beside: Beside,
}

impl Loop<'_> {
    /// Obeys signals. Says whether all is to be drawn again.
    fn obey_signals(&mut self, screen: &mut Screen) -> Result<bool, RunError> {
        // Where SIGHUP is ignored, nothing else says so.
        if self.keyboard.is_gone() {
            return Err(RunError::Gone);
        }
        let mut is_changed = false;
        while let Some(signal) = self.signals.and_then(Signals::next) {
            match signal {
                Signal::Stop { number, .. } => return Err(RunError::Ended(number)),
                Signal::Suspend => screen.suspend()?,
                Signal::Continue => screen.take_again()?,
                _ => continue,
            }
            is_changed = true;
        }
        if is_changed {
            self.ask_size();
        }
        Ok(is_changed)
    }

    /// While others had the terminal, it may have become larger or smaller.
    fn ask_size(&mut self) {
        if let Ok((columns, lines)) = terminal_size() {
            let (columns, lines) = bounded::used(columns, lines);
            self.app.input(&Input::Size(columns, lines));
        }
    }

    /// What comes next.
    fn next(
        &mut self,
        updates: &mut Receiver<TuiUpdate>,
        screen: &mut Screen,
    ) -> Result<Message, RunError> {
        loop {
            if self.obey_signals(screen)? {
                return Ok(Message::Idle);
            }
            let early = self.early.pop_front();
            if let Some(message) = early.or_else(|| self.inputs.try_recv().ok()) {
                return Ok(message);
            }
            if self.app.has_work() {
                return Ok(Message::Idle);
            }
            // One at a time: the views that nobody waits for.
            if let Some(task) = self.app.wanted().filter(|_| self.beside.is_idle()) {
                self.beside.start(task);
            }
            let mut is_closed = false;
            crossbeam_channel::select! {
                recv(self.inputs) -> message => if let Ok(message) = message {
                    return Ok(message);
                },
                recv(self.beside.made()) -> made => if let Ok(made) = made {
                    return Ok(Message::Made(Box::new(self.beside.take(made))));
                },
                recv(*updates) -> data => match data {
                    Ok(TuiUpdate::Data(data)) => return Ok(Message::Data(data)),
                    Ok(TuiUpdate::Code(answer)) => return Ok(Message::Code(answer)),
                    Ok(TuiUpdate::Scope(answer)) => return Ok(Message::Scope(answer)),
                    Ok(TuiUpdate::Comparison(answer)) => return Ok(Message::Comparison(answer)),
                    Ok(TuiUpdate::End) => return Ok(Message::End),
                    Err(_) => is_closed = true,
                },
                default(TICK) => {}
            }
            if is_closed {
                // Nobody will send any more: this must not be asked all the time.
                *updates = crossbeam_channel::never();
            }
        }
    }

    /// Does what a message says. Says whether it is the end.
    fn obey(&mut self, message: Message, screen: &mut Screen) -> Result<bool, RunError> {
        let effect = match message {
            Message::Broken(error) => return Err(error.into()),
            Message::End => return Ok(true),
            Message::Data(data) => {
                self.app.take_data(*data);
                Effect::None
            }
            Message::Code(answer) => {
                self.app.take_code(*answer);
                Effect::None
            }
            Message::Scope(answer) => {
                self.app.take_scope(*answer);
                Effect::None
            }
            Message::Comparison(answer) => {
                self.app.take_comparison(*answer);
                Effect::None
            }
            Message::Input(input) => self.app.input(&input),
            Message::Made(made) => {
                self.app.take_made(*made);
                Effect::None
            }
            Message::Idle => {
                self.app.work();
                Effect::None
            }
        };
        let is_end = effect == Effect::Quit || self.settle(screen)?;
        Ok(is_end || self.take(effect, screen)?)
    }

    /// Waits for what the view needs: keys that come meanwhile are for what it will show. Says whether it is the end.
    fn settle(&mut self, screen: &mut Screen) -> Result<bool, RunError> {
        let mut wait = SOON;
        while let Some(task) = self.app.needed() {
            self.beside.start(task);
            self.obey_signals(screen)?;
            crossbeam_channel::select! {
                recv(self.beside.made()) -> made => if let Ok(made) = made {
                    let made = self.beside.take(made);
                    self.app.take_made(made);
                },
                recv(self.inputs) -> message => match message {
                    Ok(Message::Input(Input::Key(key))) if is_interrupt(key) => return Ok(true),
                    Ok(message) => self.early.push_back(message),
                    Err(_) => thread::sleep(TICK),
                },
                default(wait) => if wait == SOON {
                    wait = TICK;
                    self.draw(screen)?;
                },
            }
        }
        Ok(false)
    }

    /// At the end: waits for the answer to what the terminal was asked at that time, if it has not come yet.
    fn hear_last(&self, asked: Option<Instant>) {
        if let Some(asked) = asked
            && !self.early.iter().any(is_answer)
        {
            hear_answer(&self.inputs, asked + LATE);
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
                self.ask_size();
            }
            Effect::Code(wanted) => {
                if let Err(why) = self.face.ask_code((*wanted).clone()) {
                    let wanted = *wanted;
                    let code = Err(why);
                    self.app.take_code(CodeAnswer { wanted, code });
                }
            }
            Effect::Scope(wanted) => {
                if let Err(why) = self.face.ask_scope(wanted.clone()) {
                    let data = Err(why);
                    self.app.take_scope(ScopeAnswer { wanted, data });
                }
            }
            Effect::Compare(wanted) => {
                if let Err(why) = self.face.ask_comparison((*wanted).clone()) {
                    let (wanted, lines) = (*wanted, Err(why));
                    let answer = ComparisonAnswer { wanted, lines };
                    self.app.take_comparison(answer);
                }
            }
            Effect::Save(form) => {
                let text = self.app.text();
                let saved = self.app.saved(form, &text);
                let saved = saved.map_or(Err("nothing is shown yet".to_owned()), |saved| {
                    self.face.save(&saved)
                });
                self.app.take_saved(saved);
            }
            Effect::Copy(text) => match clipboard::escape(&text) {
                Some(escape) => {
                    screen.send(&escape)?;
                    self.app.say(&format!("copied: {text}"));
                }
                None => self.app.say("too long to copy"),
            },
        }
        Ok(false)
    }

    fn note(&mut self, what: Option<&str>, begin: Instant) {
        if let Some((log, what)) = self.log.as_mut().zip(what) {
            let _ = writeln!(log, "{} us: {what}", begin.elapsed().as_micros());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::Background;

    #[test]
    fn nothing_is_waited_for_when_the_answer_was_heard() {
        let (sender, inputs) = unbounded();
        for input in [
            Input::Size(80, 24),
            Input::Background(Background::Light),
            Input::Size(40, 12),
        ] {
            sender.send(Message::Input(input)).unwrap();
        }
        let far = Instant::now() + Duration::from_secs(3600);
        hear_answer(&inputs, far);
        assert_eq!(inputs.len(), 1);
        // Nor where nobody listens any more: what came is taken.
        drop(sender);
        hear_answer(&inputs, far);
        assert!(inputs.is_empty());
    }

    #[test]
    fn a_terminal_that_never_answers_is_waited_for_until_then() {
        let (_sender, inputs) = unbounded();
        hear_answer(&inputs, Instant::now());
        assert!(inputs.is_empty());
    }
}
