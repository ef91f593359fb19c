//! The application's state, and how keys and clicks change it.

mod about;
mod account;
mod code;
mod commands;
mod compare;
mod context_menu;
mod help;
mod mouse;
mod over;
mod prepared;
mod sort;
#[cfg(test)]
mod tests;
mod zooms;

use crate::face::{SampleScope, SaveForm, Saved, TuiData, WantedCode, WantedComparison};
use crate::look::{Background, Look};
use crate::menu::Menu;
use crate::page::Page;
use crate::prompt::Prompt;
use crate::shown::Shown;
use crate::views::VIEWS;
use crate::views::context::Context;
use crate::views::table::rows::RowsBy;
use crate::views::view::View;
use ratatui_crossterm::crossterm::event::{KeyEvent, MouseEvent};
use rprof_profile::view::{SortKey, Weighing};
use rprof_profile::{Account, SampledProfile};
use rprof_query::{Explorer, SampleSelection};
use std::sync::Arc;

/// Initial settings of the interface.
#[derive(Clone, Debug, PartialEq)]
pub struct TuiSettings {
    /// What the terminal can display.
    pub look: Look,
    /// The terminal's columns and lines.
    pub size: (u16, u16),
    /// The sort keys that group rows.
    pub keys: Vec<SortKey>,
    /// Whether rows count total or self.
    pub weighing: Weighing,
    /// Index of the event.
    pub event: usize,
    /// Whether the data may be replaced (`rprof top`).
    pub is_live: bool,
}

/// An event for the interface.
#[derive(Clone, Debug)]
pub enum Input {
    /// A key.
    Key(KeyEvent),
    /// The mouse.
    Mouse(MouseEvent),
    /// The terminal has another size: columns and lines.
    Size(u16, u16),
    /// A text that was pasted.
    Paste(String),
    /// What the terminal's background is.
    Background(Background),
}

/// What the caller must do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Quit.
    Quit,
    /// Suspend the program.
    Suspend,
    /// Redraw the whole screen.
    Redraw,
    /// Read the code of a function, and pass it to [`App::take_code`].
    Code(Box<WantedCode>),
    /// Read other samples, and pass them to [`App::take_scope`].
    Scope(SampleScope),
    /// Compare two times, and pass the result to [`App::take_comparison`].
    Compare(Box<WantedComparison>),
    /// Save the view: [`App::saved`], then [`App::take_saved`].
    Save(SaveForm),
    /// Copy a text to the clipboard.
    Copy(String),
    /// Pause or resume updates of the data.
    Pause(bool),
}

/// The overlay in front of the view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Over {
    Nothing,
    Page(Page),
    Menu(Menu),
    Prompt(Prompt),
}

impl Over {
    /// The page, also below a line that searches it.
    pub(crate) fn page_mut(&mut self) -> Option<&mut Page> {
        match self {
            Self::Page(page) => Some(page),
            Self::Prompt(prompt) => prompt.under.as_deref_mut(),
            Self::Nothing | Self::Menu(_) => None,
        }
    }
}

/// The application's state.
#[derive(Debug)]
pub struct App {
    /// What all views show.
    pub(crate) cx: Context,
    views: Vec<Box<dyn View>>,
    /// Index of the shown view.
    view: usize,
    /// Of what is replaced together with the samples.
    pub(crate) title: String,
    pub(crate) quality: String,
    pub(crate) advice: Option<String>,
    about: Vec<String>,
    /// The selection to count.
    asked: Option<SampleSelection>,
    /// Selections that were left, the last one at the end.
    kept: Vec<Shown>,
    pub(crate) over: Over,
    pub(crate) message: Option<String>,
    /// The code that was shown last, and the functions that it was inlined into.
    shown_code: Option<WantedCode>,
    inlined_into: Vec<(String, u64)>,
    /// The code that was shown before calls were followed, the last one at the end.
    code_before: Vec<WantedCode>,
    /// Whether the last of it is asked for again.
    is_back: bool,
    /// The functions that it calls, to choose from.
    callees: Vec<String>,
    /// The requested code that has not arrived yet.
    pub(crate) awaited: Option<WantedCode>,
    /// The requested samples that have not arrived yet, and what rows are to be grouped by then.
    awaited_scope: Option<(SampleScope, Vec<SortKey>)>,
    awaited_comparison: Option<WantedComparison>,
    /// Requests for either that have no answer yet: one that is being read, and one that waits.
    n_reads: u8,
    /// The samples and the event that were shown first.
    first: (Account, usize),
    pub(crate) is_paused: bool,
}

impl App {
    /// Starts with the rows of an event.
    pub fn new(data: TuiData, settings: TuiSettings) -> Self {
        let first = (data.scope.account, settings.event);
        let cx = Context {
            look: settings.look,
            size: settings.size,
            has_chains: has_chains(&data.sampled),
            scope: data.scope,
            accounts: data.accounts,
            explorer: Arc::new(Explorer::new(data.sampled)),
            is_live: settings.is_live,
            event: settings.event,
            zooms: Vec::new(),
            shown: None,
            by: RowsBy {
                keys: settings.keys,
                weighing: settings.weighing,
            },
            min_percent: 0.0,
            found: None,
            is_relative: false,
            has_heading: true,
            has_dsos: false,
        };
        let mut app = Self {
            cx,
            views: VIEWS.iter().map(|new| new()).collect(),
            view: 0,
            title: data.title,
            quality: data.quality,
            advice: data.advice,
            about: data.about,
            asked: None,
            kept: Vec::new(),
            over: Over::Nothing,
            message: None,
            shown_code: None,
            inlined_into: Vec::new(),
            code_before: Vec::new(),
            is_back: false,
            callees: Vec::new(),
            awaited: None,
            awaited_scope: None,
            awaited_comparison: None,
            n_reads: 0,
            first,
            is_paused: false,
        };
        app.select();
        app.settle();
        app
    }

    pub(crate) fn view_names(&self) -> Vec<&'static str> {
        self.views.iter().map(|view| view.name()).collect()
    }

    /// The view that is shown.
    pub(crate) fn view(&self) -> &dyn View {
        &*self.views[self.view]
    }

    /// Replaces the data; what is expanded and selected stays, as far as it still exists.
    pub fn replace(&mut self, data: TuiData) {
        self.take_data(data);
        self.settle();
    }

    /// The same; what the view needs is still [`Self::needed`].
    pub(crate) fn take_data(&mut self, data: TuiData) {
        self.before_change();
        self.put_data(data);
    }

    /// Puts data in the place of the one that is shown, of which views keep what they need.
    fn put_data(&mut self, data: TuiData) {
        self.cx.shown = None;
        self.kept.clear();
        self.cx.has_chains = has_chains(&data.sampled);
        self.cx.explorer = Arc::new(Explorer::new(data.sampled));
        (self.cx.scope, self.cx.accounts) = (data.scope, data.accounts);
        (self.title, self.quality) = (data.title, data.quality);
        (self.advice, self.about) = (data.advice, data.about);
        self.select();
        self.prepare();
    }

    /// Handles a key, a click or a new size, and waits for what the view needs.
    pub fn handle(&mut self, input: &Input) -> Effect {
        let effect = self.input(input);
        self.settle();
        effect
    }

    /// The same; what the view needs is still [`Self::needed`].
    pub(crate) fn input(&mut self, input: &Input) -> Effect {
        let had_times = self.cx.has_times();
        let effect = match input {
            Input::Size(columns, lines) => {
                self.resize((*columns, *lines));
                Effect::None
            }
            Input::Paste(text) => {
                self.paste(text);
                Effect::None
            }
            Input::Background(background) => {
                self.cx.look.background = *background;
                Effect::None
            }
            Input::Key(key) => self.key(*key),
            Input::Mouse(mouse) => self.mouse(*mouse),
        };
        self.prepare();
        match effect {
            // Other data would soon have nothing of that time.
            Effect::None
                if self.cx.is_live && !self.is_paused && !had_times && self.cx.has_times() =>
            {
                self.pause()
            }
            effect => effect,
        }
    }

    /// Pauses or resumes.
    pub(crate) fn pause(&mut self) -> Effect {
        if !self.cx.is_live {
            self.message = Some("only rprof top can pause: a file does not change".to_owned());
            return Effect::None;
        }
        self.is_paused = !self.is_paused;
        self.message = self.is_paused.then(|| "paused: p resumes".to_owned());
        Effect::Pause(self.is_paused)
    }

    /// Takes the result of saving.
    pub fn take_saved(&mut self, saved: Result<String, String>) {
        self.message = Some(match saved {
            Ok(file) => format!("wrote {file}"),
            Err(why) => why,
        });
    }

    /// Shows a message in the line below the view.
    pub fn say(&mut self, message: &str) {
        self.message = Some(message.to_owned());
    }

    /// What to save, with the lines of the view; `None` if nothing is shown.
    pub fn saved<'a>(&'a self, form: SaveForm, text: &'a str) -> Option<Saved<'a>> {
        let cx = &self.cx;
        Some(Saved {
            form,
            profile: cx.profile(),
            event: &cx.shown.as_ref()?.counted.event,
            keys: &cx.by.keys,
            weighing: cx.by.weighing,
            text,
        })
    }

    /// All lines of the view.
    pub fn text(&self) -> String {
        format!("# {}\n{}", self.cx.what(), self.view().text(&self.cx))
    }
}

/// Whether any stack has more than one function.
fn has_chains(sampled: &SampledProfile) -> bool {
    let nodes = sampled.stacks.nodes();
    nodes.iter().any(|node| node.parent.is_some())
}
