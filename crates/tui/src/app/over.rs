//! What stands in front of the view: pages, menus, a line that is typed; and what they do.

use super::commands::SORTS;
use super::help::help;
use super::{App, Effect, Over};
use crate::face::SaveForm;
use crate::keys::{Command, command_of, command_on_page, is_interrupt};
use crate::matcher::{Matcher, names};
use crate::menu::{Choice, Menu};
use crate::page::{Page, PageKind};
use crate::prompt::{Prompt, PromptKind, Typed};
use crate::views::ViewKind;
use crate::views::boxes::Found;
use crate::zoom::Zoom;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent};

impl App {
    /// What a key does.
    pub(super) fn key(&mut self, key: KeyEvent) -> Effect {
        if is_interrupt(key) && !matches!(self.over, Over::Prompt(_)) {
            return Effect::Quit;
        }
        self.message = None;
        match std::mem::replace(&mut self.over, Over::Nothing) {
            Over::Nothing => match command_of(key) {
                Some(command) => self.command(command),
                None => {
                    self.message = Some("press ? for the keys".to_owned());
                    Effect::None
                }
            },
            Over::Page(page) => self.key_on_page(page, key),
            Over::Menu(menu) => self.key_in_menu(menu, key),
            Over::Prompt(prompt) => self.key_in_prompt(prompt, key),
        }
    }

    fn key_on_page(&mut self, mut page: Page, key: KeyEvent) -> Effect {
        let height = self.page_height();
        match command_on_page(key) {
            Some(Command::Step(step)) => page.step(step, height),
            Some(Command::Left) => page.left = page.left.saturating_sub(8),
            Some(Command::Right) => page.left = page.left.saturating_add(8).min(10_000),
            Some(Command::Hottest) => page.next_hot(height),
            Some(Command::Back | Command::Help | Command::Code | Command::ZoomOut) => {
                return Effect::None;
            }
            Some(Command::Redraw) => {
                self.over = Over::Page(page);
                return Effect::Redraw;
            }
            Some(Command::Suspend) => {
                self.over = Over::Page(page);
                return Effect::Suspend;
            }
            _ => {}
        }
        self.over = Over::Page(page);
        Effect::None
    }

    fn key_in_menu(&mut self, mut menu: Menu, key: KeyEvent) -> Effect {
        let chosen = match (key.code, command_of(key)) {
            (KeyCode::Enter | KeyCode::Right, _) => menu.chosen(),
            (KeyCode::Esc | KeyCode::Left, _) => return Effect::None,
            (KeyCode::Char(letter), _) => menu.of_key(letter),
            (_, Some(Command::Step(step))) => {
                menu.step(step);
                None
            }
            _ => None,
        };
        match chosen {
            Some(command) => self.command(command),
            None if key.code == KeyCode::Char('q') => Effect::None,
            None => {
                self.over = Over::Menu(menu);
                Effect::None
            }
        }
    }

    fn key_in_prompt(&mut self, mut prompt: Prompt, key: KeyEvent) -> Effect {
        match prompt.key(key) {
            Typed::Off => {}
            Typed::On => self.over = Over::Prompt(prompt),
            Typed::Done => {
                if let Err(why) = self.typed(&prompt) {
                    self.message = Some(why);
                    self.over = Over::Prompt(prompt);
                }
            }
        }
        Effect::None
    }

    /// A text belongs into the line that is typed; it presses no keys.
    pub(super) fn paste(&mut self, text: &str) {
        self.message = None;
        match &mut self.over {
            Over::Prompt(prompt) => prompt.paste(text),
            _ => self.message = Some("paste works in the prompts of / and f".to_owned()),
        }
    }

    /// The terminal has another size: columns and lines.
    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        if let Over::Page(page) = &mut self.over
            && page.kind == PageKind::Keys
        {
            page.lines = help(size.0);
        }
    }

    /// Does what a line says.
    fn typed(&mut self, prompt: &Prompt) -> Result<(), String> {
        let text = prompt.text().trim();
        match prompt.kind {
            PromptKind::Search => self.search(text)?,
            PromptKind::Frames if text.is_empty() => {
                self.zooms.retain(|zoom| !matches!(zoom, Zoom::Frames(_)));
                self.select();
            }
            PromptKind::Frames => {
                let names = names(text)?;
                self.zoom(Zoom::Frames(names));
            }
            PromptKind::Limit => {
                let percent = if text.is_empty() {
                    Ok(0.0)
                } else {
                    text.parse::<f64>()
                };
                let percent = percent
                    .ok()
                    .filter(|percent| (0.0..=100.0).contains(percent));
                self.min_percent = percent.ok_or("expected a percentage from 0 to 100")?;
                self.filter_again();
            }
        }
        Ok(())
    }

    fn search(&mut self, text: &str) -> Result<(), String> {
        let matcher = match text {
            "" => None,
            text => Some(Matcher::parse(text)?),
        };
        match self.view {
            ViewKind::Rows | ViewKind::Threads => {
                self.filter_again();
                self.filter = matcher;
                if self.view == ViewKind::Threads {
                    self.view = ViewKind::Rows;
                    self.message = Some("matching rows; press 4 to return to threads".to_owned());
                }
            }
            ViewKind::Calls | ViewKind::Flame => {
                let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
                let found = boxes
                    .zip(matcher)
                    .map(|(boxes, matcher)| Found::of(boxes, self.explorer.profile(), matcher));
                self.found = found;
                if self.found.as_ref().is_some_and(|found| found.n > 0) {
                    self.next_found(false);
                }
            }
        }
        Ok(())
    }

    /// Goes to what a search has found.
    pub(super) fn next_found(&mut self, is_back: bool) {
        let (height, columns) = (self.height(), self.columns());
        let Some(found) = &self.found else {
            self.message = Some("nothing searched: use /".to_owned());
            return;
        };
        let from = self.selected_box().map_or(0, |(_, number)| number);
        let next = found.next(from, is_back);
        let boxes = self.shown.as_ref().and_then(|shown| shown.boxes());
        if let Some((next, boxes)) = next.zip(boxes) {
            match self.view {
                ViewKind::Calls => self.calls.show(boxes, next, height),
                _ => self.flame.show(next, boxes, columns),
            }
        }
    }

    /// Opens a page, a menu or a line.
    pub(super) fn open_over(&mut self, command: Command) {
        let prompt = |kind, text: String| Over::Prompt(Prompt::new(kind, text));
        self.awaited = None;
        self.over = match command {
            Command::Search => {
                let is_tree = matches!(self.view, ViewKind::Calls | ViewKind::Flame);
                let matcher = if is_tree {
                    self.found.as_ref().map(|found| &found.matcher)
                } else {
                    self.filter.as_ref()
                };
                let text = matcher.map_or_else(String::new, |one| one.text().to_owned());
                prompt(PromptKind::Search, text)
            }
            Command::Frames => prompt(PromptKind::Frames, String::new()),
            Command::Limit => prompt(PromptKind::Limit, String::new()),
            Command::Help => Over::Page(Page::keys(help(self.size.0))),
            Command::About => Over::Page(Page::text("About".to_owned(), self.about_lines())),
            Command::Sort => Over::Menu(self.sort_menu()),
            Command::Save => Over::Menu(save_menu(self.is_live)),
            Command::Actions => Over::Menu(actions()),
            _ => Over::Nothing,
        };
    }

    pub(super) fn ask_quit(&mut self) {
        let choices = vec![
            choice('y', "yes", Command::Quit),
            choice('n', "no", Command::Redraw),
        ];
        self.over = Over::Menu(Menu::new("Really quit?", choices));
    }

    fn about_lines(&self) -> Vec<String> {
        let mut lines = self.about.clone();
        lines.push(format!("quality: {}", self.quality));
        lines.extend(self.advice.clone());
        let lines = lines
            .iter()
            .map(|line| rprof_untrusted::printable(line).into_owned());
        lines.collect()
    }

    fn sort_menu(&self) -> Menu {
        let choices = ('1'..).zip(0u8..).zip(SORTS).map(|((key, number), keys)| {
            let names: Vec<&str> = keys.iter().map(|key| key.name()).collect();
            choice(key, &names.join(","), Command::SortBy(number))
        });
        let mut menu = Menu::new("Group rows by", choices.collect());
        menu.choices
            .push(choice('x', "toggle total and self", Command::Children));
        menu.cursor.at = SORTS
            .iter()
            .position(|keys| *keys == self.by.keys)
            .unwrap_or(0);
        menu
    }
}

fn choice(key: char, text: &str, command: Command) -> Choice {
    let text = text.to_owned();
    Choice { key, text, command }
}

fn save_menu(is_live: bool) -> Menu {
    let recording = is_live.then_some(('p', "samples (perf.data)", SaveForm::Recording));
    let choices = [
        ('s', "flame graph (SVG)", SaveForm::Svg),
        ('f', "folded stacks", SaveForm::Folded),
        ('j', "rows as JSON", SaveForm::Json),
        ('t', "this view as text", SaveForm::Text),
    ];
    let choices = choices.into_iter().chain(recording);
    let choices = choices.map(|(key, text, form)| choice(key, text, Command::SaveAs(form)));
    Menu::new("Save", choices.collect())
}

fn actions() -> Menu {
    let choices = [
        ('+', "expand or collapse, zoom", Command::Open),
        ('a', "show the function's code", Command::Code),
        ('d', "zoom into this DSO, or back out", Command::Dso),
        ('t', "zoom into this thread, or back out", Command::Thread),
        ('k', "zoom into the kernel, or back out", Command::Kernel),
        ('f', "keep stacks with ..", Command::Frames),
        ('y', "copy", Command::Copy),
        ('s', "save ..", Command::Save),
        ('q', "quit", Command::Quit),
    ];
    let choices = choices.map(|(key, text, command)| choice(key, text, command));
    Menu::new("Actions", choices.into())
}
