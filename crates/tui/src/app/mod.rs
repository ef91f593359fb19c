//! The application's state, and how keys and clicks change it.

mod code;
mod commands;
mod help;
mod mouse;
mod over;
mod prepared;
mod remembered;
mod saved;
#[cfg(test)]
mod tests;
mod zooms;

use crate::face::{SaveForm, Saved, TuiData, WantedCode};
use crate::look::Look;
use crate::matcher::Matcher;
use crate::menu::Menu;
use crate::page::Page;
use crate::prompt::Prompt;
use crate::shown::{RowsBy, Shown};
use crate::views::ViewKind;
use crate::views::boxes::Found;
use crate::views::calls::CallsView;
use crate::views::flame::FlameView;
use crate::views::lanes::LanesView;
use crate::views::table::TableView;
use crate::zoom::Zoom;
use ratatui_crossterm::crossterm::event::{KeyEvent, MouseEvent};
use remembered::{RememberedBoxes, RememberedRows};
use rprof_profile::SampledProfile;
use rprof_profile::view::{Order, SortKey, Weighing};
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

/// The application's state.
#[derive(Debug)]
pub struct App {
    pub(crate) look: Look,
    pub(crate) size: (u16, u16),
    pub(crate) explorer: Arc<Explorer>,
    /// Whether there is anything below rows.
    pub(crate) has_chains: bool,
    /// Of what is replaced together with the samples.
    pub(crate) title: String,
    pub(crate) quality: String,
    pub(crate) advice: Option<String>,
    about: Vec<String>,
    pub(crate) event: usize,
    pub(crate) zooms: Vec<Zoom>,
    pub(crate) by: RowsBy,
    pub(crate) is_relative: bool,
    pub(crate) has_heading: bool,
    pub(crate) has_dsos: bool,
    pub(crate) min_percent: f64,
    pub(crate) filter: Option<Matcher>,
    pub(crate) found: Option<Found>,
    /// The shown selection, once counted.
    pub(crate) shown: Option<Shown>,
    /// The selection to count.
    asked: Option<SampleSelection>,
    /// Selections that were left, the last one at the end.
    kept: Vec<Shown>,
    remembered: Option<RememberedRows>,
    remembered_boxes: Option<RememberedBoxes>,
    /// Whether the table is to be made again, when its rows are there.
    is_table_old: bool,
    pub(crate) view: ViewKind,
    pub(crate) table: TableView,
    pub(crate) calls: CallsView,
    pub(crate) flame: FlameView,
    pub(crate) lanes: LanesView,
    pub(crate) over: Over,
    pub(crate) message: Option<String>,
    /// The requested code that has not arrived yet.
    pub(crate) awaited: Option<WantedCode>,
    pub(crate) is_live: bool,
    pub(crate) is_paused: bool,
}

impl App {
    /// Starts with the rows of an event.
    pub fn new(data: TuiData, settings: TuiSettings) -> Self {
        let order = table_order(settings.weighing);
        let has_chains = has_chains(&data.sampled);
        let mut app = Self {
            look: settings.look,
            size: settings.size,
            explorer: Arc::new(Explorer::new(data.sampled)),
            has_chains,
            title: data.title,
            quality: data.quality,
            advice: data.advice,
            about: data.about,
            event: settings.event,
            zooms: Vec::new(),
            by: RowsBy {
                keys: settings.keys,
                weighing: settings.weighing,
            },
            is_relative: false,
            has_heading: true,
            has_dsos: false,
            min_percent: 0.0,
            filter: None,
            found: None,
            shown: None,
            asked: None,
            kept: Vec::new(),
            remembered: None,
            remembered_boxes: None,
            is_table_old: true,
            view: ViewKind::default(),
            table: TableView::default(),
            calls: CallsView::default(),
            flame: FlameView::default(),
            lanes: LanesView::default(),
            over: Over::Nothing,
            message: None,
            awaited: None,
            is_live: settings.is_live,
            is_paused: false,
        };
        app.table.order = order;
        app.select();
        app.settle();
        app
    }

    /// Replaces the data; what is expanded and selected stays, as far as it still exists.
    pub fn replace(&mut self, data: TuiData) {
        self.take_data(data);
        self.settle();
    }

    /// The same; what the view needs is still [`Self::needed`].
    pub(crate) fn take_data(&mut self, data: TuiData) {
        self.remember_rows();
        self.remember_boxes();
        self.shown = None;
        self.kept.clear();
        self.has_chains = has_chains(&data.sampled);
        self.explorer = Arc::new(Explorer::new(data.sampled));
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
        let has_times = self.has_times();
        let effect = match input {
            Input::Size(columns, lines) => {
                self.resize((*columns, *lines));
                Effect::None
            }
            Input::Paste(text) => {
                self.paste(text);
                Effect::None
            }
            Input::Key(key) => self.key(*key),
            Input::Mouse(mouse) => self.mouse(*mouse),
        };
        self.prepare();
        match effect {
            // Other data would soon have nothing of that time.
            Effect::None if self.is_live && !self.is_paused && !has_times && self.has_times() => {
                self.pause()
            }
            effect => effect,
        }
    }

    /// Whether the view is zoomed into a time range.
    fn has_times(&self) -> bool {
        let mut zooms = self.zooms.iter();
        zooms.any(|zoom| matches!(zoom, Zoom::Times(_)))
    }

    /// Pauses or resumes.
    pub(crate) fn pause(&mut self) -> Effect {
        if !self.is_live {
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
        Some(Saved {
            form,
            profile: self.explorer.profile(),
            event: &self.shown.as_ref()?.counted.event,
            keys: &self.by.keys,
            weighing: self.by.weighing,
            text,
        })
    }
}

/// Whether any stack has more than one function.
fn has_chains(sampled: &SampledProfile) -> bool {
    let mut nodes = sampled.stacks.nodes().iter();
    nodes.any(|node| node.parent.is_some())
}

/// Trees grow as those of `rprof report`.
pub(crate) fn table_order(weighing: Weighing) -> Order {
    match weighing {
        Weighing::Own => Order::Callee,
        Weighing::WithChildren => Order::Caller,
    }
}
