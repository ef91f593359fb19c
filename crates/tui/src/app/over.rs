//! What stands in front of the view: pages, menus, a line that is typed; and what they do.

use super::about;
use super::context_menu::context_menu;
use super::help::help;
use super::{App, Effect, Over};
use crate::face::SaveForm;
use crate::keys::{Command, command_of, command_on_page, is_interrupt};
use crate::matcher::{Matcher, names};
use crate::menu::{Choice, Menu};
use crate::page::{Page, PageKind};
use crate::prompt::{Prompt, PromptKind, Typed};
use crate::zoom::{Zoom, times_typed};
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
                Some(command) if !self.is_no_view(command) => self.command(command),
                _ => {
                    self.say("press ? for the keys");
                    Effect::None
                }
            },
            Over::Page(page) => self.key_on_page(page, key),
            Over::Menu(menu) => self.key_in_menu(menu, key),
            Over::Prompt(prompt) => self.key_in_prompt(prompt, key),
        }
    }

    fn is_no_view(&self, command: Command) -> bool {
        matches!(command, Command::View(view) if view >= self.views.len())
    }

    fn key_on_page(&mut self, mut page: Page, key: KeyEvent) -> Effect {
        let height = self.cx.page_height();
        match command_on_page(key) {
            Some(Command::Step(step)) => page.step(step, height),
            Some(Command::Left) => page.sideways(true),
            Some(Command::Right) => page.sideways(false),
            Some(Command::Hottest) => page.next_hot(height),
            Some(Command::Search) => {
                self.over = Over::Prompt(Prompt::find(page));
                return Effect::None;
            }
            Some(Command::NextFound) => page.next_match(false, height),
            Some(Command::PreviousFound) => page.next_match(true, height),
            Some(Command::Back) if key.code == KeyCode::Esc && page.searched().is_some() => {
                page.search(None, height);
            }
            Some(Command::ChooseInto) if page.has_choice => {
                self.choose_into(page);
                return Effect::None;
            }
            Some(Command::Open) if page.kind == PageKind::Code => return self.follow(page),
            Some(Command::Back) if self.awaited.take().is_some() => {}
            Some(Command::ZoomOut) if page.kind == PageKind::Code => {
                return match self.ask_code_before() {
                    Some(effect) => {
                        self.over = Over::Page(page);
                        effect
                    }
                    None => Effect::None,
                };
            }
            Some(Command::Help) if page.kind != PageKind::Keys => {
                let mut help = Page::keys(help(self.cx.size.0, &self.views));
                help.under = Some(Box::new(page));
                self.over = Over::Page(help);
                return Effect::None;
            }
            Some(Command::Back | Command::Help | Command::Code | Command::ZoomOut) => {
                if let Some(under) = page.under {
                    self.over = Over::Page(*under);
                }
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
            (KeyCode::Esc | KeyCode::Left, _) => {
                self.close_menu(menu);
                return Effect::None;
            }
            (KeyCode::Char(letter), _) => menu.of_key(letter),
            (_, Some(Command::Step(step))) => {
                menu.step(step);
                None
            }
            _ => None,
        };
        match chosen {
            Some(command) => {
                self.close_menu(menu);
                self.command(command)
            }
            // Another key means that nobody wants to quit, but something else.
            None if menu.is_question && command_of(key).is_some_and(is_no_step) => self.key(key),
            None if key.code == KeyCode::Char('q') => {
                self.close_menu(menu);
                Effect::None
            }
            None => {
                self.over = Over::Menu(menu);
                Effect::None
            }
        }
    }

    /// What is below the menu is shown again.
    fn close_menu(&mut self, menu: Menu) {
        if let Some(page) = menu.under {
            self.over = Over::Page(*page);
        }
    }

    fn key_in_prompt(&mut self, mut prompt: Prompt, key: KeyEvent) -> Effect {
        match prompt.key(key) {
            Typed::Off => {
                if let Some(page) = prompt.under {
                    self.over = Over::Page(*page);
                }
            }
            Typed::On => self.over = Over::Prompt(prompt),
            Typed::Done if prompt.kind == PromptKind::Find => self.find(prompt),
            Typed::Done => match self.typed(&prompt) {
                Ok(effect) => return effect,
                Err(why) => {
                    self.message = Some(why);
                    self.over = Over::Prompt(prompt);
                }
            },
        }
        Effect::None
    }

    /// Searches the page below a line for what it says.
    fn find(&mut self, mut prompt: Prompt) {
        let matcher = match prompt.text() {
            "" => Ok(None),
            text => Matcher::of_lines(text).map(Some),
        };
        match (matcher, prompt.under.take()) {
            (Ok(matcher), Some(mut page)) => {
                page.search(matcher, self.cx.page_height());
                self.over = Over::Page(*page);
            }
            (Ok(_), None) => {}
            (Err(why), under) => {
                self.message = Some(why);
                prompt.under = under;
                self.over = Over::Prompt(prompt);
            }
        }
    }

    /// A text belongs into the line that is typed; it presses no keys.
    pub(super) fn paste(&mut self, text: &str) {
        self.message = None;
        match &mut self.over {
            Over::Prompt(prompt) => prompt.paste(text),
            _ => self.message = Some("paste works in the prompts of /, f and T".to_owned()),
        }
    }

    /// The terminal has another size: columns and lines.
    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.cx.size = size;
        let height = self.cx.page_height();
        if let Some(page) = self.over.page_mut()
            && page.kind == PageKind::Keys
        {
            page.set_lines(help(size.0, &self.views), height);
        }
    }

    /// Does what a line says.
    fn typed(&mut self, prompt: &Prompt) -> Result<Effect, String> {
        let text = prompt.text().trim();
        match prompt.kind {
            PromptKind::Search => self.search(text)?,
            // A page that was searched is not there any more.
            PromptKind::Find => {}
            PromptKind::Frames if text.is_empty() => {
                self.cx
                    .zooms
                    .retain(|zoom| !matches!(zoom, Zoom::Frames(_)));
                self.select();
            }
            PromptKind::Frames => {
                let names = names(text)?;
                self.zoom(Zoom::Frames(names));
            }
            PromptKind::Times if text.is_empty() => {
                self.cx.zooms.retain(|zoom| !matches!(zoom, Zoom::Times(_)));
                self.select();
            }
            PromptKind::Times => {
                let span = self.cx.explorer.sampled().samples.span_ns();
                let span = span.ok_or("the samples have no times")?;
                self.zoom(Zoom::Times(times_typed(text, span)?));
                self.views.iter_mut().for_each(|view| view.time_changed());
            }
            PromptKind::Limit => {
                let percent = if text.is_empty() { "0" } else { text };
                let percent = percent.parse::<f64>().ok();
                let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
                self.cx.min_percent = percent.ok_or("expected a percentage from 0 to 100")?;
                self.settings_changed();
            }
            PromptKind::Keys => return self.keys_typed(text),
        }
        Ok(Effect::None)
    }

    /// The view that a search is in: the shown one, or the first that can be searched.
    fn searched_view(&self) -> usize {
        let can_search = |view: &usize| self.views[*view].has_search();
        let all = 0..self.views.len();
        [self.view]
            .into_iter()
            .chain(all)
            .find(can_search)
            .unwrap_or(0)
    }

    fn search(&mut self, text: &str) -> Result<(), String> {
        let matcher = match text {
            "" => None,
            text => Some(Matcher::parse(text)?),
        };
        let (from, view) = (self.view, self.searched_view());
        self.views[view].search(matcher, &mut self.cx);
        if view != from {
            self.view = view;
            self.message = Some(format!(
                "matching {}; press {} to return to {}",
                self.views[view].name(),
                from + 1,
                self.views[from].name()
            ));
        }
        Ok(())
    }

    /// Opens a page, a menu or a line. Returns whether the command is for that.
    pub(super) fn open_over(&mut self, command: Command) -> bool {
        let prompt = |kind, text: String| Over::Prompt(Prompt::new(kind, text));
        self.over = match command {
            Command::Search => {
                let matcher = self.views[self.searched_view()].searched(&self.cx);
                let text = matcher.map_or_else(String::new, |one| one.text().to_owned());
                prompt(PromptKind::Search, text)
            }
            Command::Frames => prompt(PromptKind::Frames, String::new()),
            Command::Times => prompt(PromptKind::Times, String::new()),
            Command::Limit => prompt(PromptKind::Limit, String::new()),
            Command::Help => Over::Page(Page::keys(help(self.cx.size.0, &self.views))),
            Command::About => Over::Page(Page::text("About".to_owned(), self.about_lines())),
            Command::Sort => Over::Menu(self.sort_menu()),
            Command::TypeKeys => prompt(PromptKind::Keys, self.keys_text()),
            Command::Save => Over::Menu(save_menu(self.cx.is_live)),
            Command::Actions => Over::Menu(context_menu(&self.cx, self.view())),
            _ => return false,
        };
        // What comes later would take its place.
        (self.awaited, self.awaited_comparison) = (None, None);
        true
    }

    pub(super) fn ask_quit(&mut self) {
        let choices = vec![
            choice('y', "yes", Command::Quit),
            choice('n', "no", Command::Redraw),
        ];
        self.over = Over::Menu(Menu {
            is_question: true,
            ..Menu::new("Really quit?", choices)
        });
    }

    fn about_lines(&self) -> Vec<String> {
        let mut lines = about::lines(&self.cx);
        lines.push(format!("quality: {}", self.quality));
        lines.extend(self.advice.clone());
        lines.push(String::new());
        lines.extend(self.about.iter().cloned());
        let lines = lines
            .iter()
            .map(|line| rprof_untrusted::printable(line).into_owned());
        lines.collect()
    }
}

/// Whether a command does something else than to move in a menu.
fn is_no_step(command: Command) -> bool {
    !matches!(command, Command::Step(_))
}

pub(super) fn choice(key: char, text: &str, command: Command) -> Choice {
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
