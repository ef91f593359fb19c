//! The code of a function: asked for, and shown when it comes.

use super::account::name_of;
use super::over::choice;
use super::{App, Effect, Over};
use crate::face::{CodeAnswer, FunctionOf, WantedCode};
use crate::keys::Command;
use crate::menu::Menu;
use crate::page::{LeadsTo, Page};
use crate::zoom::selection;
use rprof_base::Counted;
use std::iter;

/// What stubs have after the name of their function.
const STUB: &str = "@plt";

/// Functions to choose from, at most: each has a digit.
const MOST_CHOICES: u8 = 9;

/// Where inlined code is: `inlined into X (40 samples), Y (12)`.
fn into_words(into: &[(String, u64)]) -> String {
    const NAMED: usize = 3;
    let one = |(at, (name, n)): (usize, &(String, u64))| match at {
        0 => format!("{name} ({})", Counted::new(*n, "sample", "samples")),
        _ => format!("{name} ({n})"),
    };
    let named: Vec<String> = into.iter().take(NAMED).enumerate().map(one).collect();
    let more = match into.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("inlined into {}{more}", named.join(", "))
}

impl App {
    /// Asks for the code of the selected function.
    pub(super) fn ask_code(&mut self) -> Effect {
        let cx = &self.cx;
        let profile = cx.profile();
        let selected = self.view().selected(cx);
        let frame = selected.frame.map(|frame| profile.frames.of(frame));
        let named = frame.and_then(|frame| Some((frame, frame.name?)));
        let Some((frame, name)) = named else {
            self.message = Some(match frame {
                Some(_) => "this code has no known name, so it cannot be shown".to_owned(),
                None => "no function is selected".to_owned(),
            });
            return Effect::None;
        };
        let wanted = WantedCode {
            function: FunctionOf {
                name: profile.strings.of(name).into_raw().to_owned(),
                image: Some(profile.strings.of(frame.image).into_raw().to_owned()),
                is_inlined: frame.is_inlined,
            },
            into: None,
            account: cx.scope.account,
            selection: selection(cx.event, &cx.zooms, profile),
            event: profile
                .events
                .get(cx.event)
                .map_or_else(String::new, |event| event.name.raw().to_owned()),
        };
        self.code_before.clear();
        self.shown_code = None;
        self.await_code(wanted)
    }

    /// Follows the jump or the call that is marked on a page of code; without one, asks which of its calls.
    pub(super) fn follow(&mut self, mut page: Page) -> Effect {
        let height = self.cx.page_height();
        match page.leads_to(height).cloned() {
            Some(LeadsTo::Address(address)) => {
                if !page.go_to_address(address, height) {
                    self.say("this does not lead to a function with a name");
                }
                self.over = Over::Page(page);
                Effect::None
            }
            Some(LeadsTo::Function(name)) => {
                self.over = Over::Page(page);
                self.ask_callee(name)
            }
            None => {
                self.callees = page.callees(MOST_CHOICES.into());
                if self.callees.is_empty() {
                    self.say("it calls no function with a name");
                    self.over = Over::Page(page);
                    return Effect::None;
                }
                let choices = ('1'..).zip(0..MOST_CHOICES).zip(&self.callees);
                let choices = choices.map(|((key, number), name)| {
                    let name = rprof_untrusted::printable(name);
                    choice(key, &name, Command::Callee(number))
                });
                self.over = Over::Menu(Menu {
                    under: Some(Box::new(page)),
                    ..Menu::new("Code of", choices.collect())
                });
                Effect::None
            }
        }
    }

    /// Asks for the code of the function with this number among those that were to choose from.
    pub(super) fn ask_chosen_callee(&mut self, number: u8) -> Effect {
        match self.callees.get(usize::from(number)).cloned() {
            Some(name) => self.ask_callee(name),
            None => Effect::None,
        }
    }

    /// Asks for the code of a function that the shown code calls.
    fn ask_callee(&mut self, name: String) -> Effect {
        let Some(shown) = self.shown_code.clone() else {
            return Effect::None;
        };
        // A stub leads to another image.
        let (name, image) = match name.strip_suffix(STUB) {
            Some(function) => (function.to_owned(), None),
            None => (name, shown.function.image.clone()),
        };
        self.await_code(WantedCode {
            function: FunctionOf {
                name,
                image,
                is_inlined: false,
            },
            into: None,
            ..shown
        })
    }

    /// Asks for the code before a call was followed. Returns nothing if none was.
    pub(super) fn ask_code_before(&mut self) -> Option<Effect> {
        let before = self.code_before.last().cloned()?;
        self.is_back = true;
        Some(self.await_code(before))
    }

    fn await_code(&mut self, wanted: WantedCode) -> Effect {
        self.is_back &= self.code_before.last() == Some(&wanted);
        // Both come as a page.
        self.awaited_comparison = None;
        self.awaited = Some(wanted.clone());
        Effect::Code(Box::new(wanted))
    }

    /// The code that was asked for, if it is still wanted.
    pub fn take_code(&mut self, answer: CodeAnswer) {
        let CodeAnswer { wanted, code } = answer;
        if self.awaited.as_ref() != Some(&wanted) {
            return;
        }
        self.awaited = None;
        match code {
            Ok(code) => {
                let WantedCode { function, into, .. } = &wanted;
                let mut title = function.name.clone();
                if let Some(image) = &function.image {
                    title += &format!("  {image}");
                }
                match into {
                    Some(into) => title += &format!("  inlined into {into}"),
                    None if code.into.is_empty() => {}
                    None => title += &format!("  {}", into_words(&code.into)),
                }
                if let Some(note) = code.note {
                    title += &format!("  ({note})");
                }
                let title = rprof_untrusted::printable(&title).into_owned();
                let height = self.cx.page_height();
                let mut page = Page::code(title, code.lines, height);
                page.has_choice = code.into.len() > 1;
                self.over = Over::Page(page);
                self.inlined_into = code.into;
                self.remember_code(&wanted);
                self.shown_code = Some(wanted);
                self.message = None;
            }
            Err(why) => self.message = Some(why),
        }
    }

    /// Notes which code was shown before a call was followed, or forgets it on the way back.
    fn remember_code(&mut self, next: &WantedCode) {
        let Some(shown) = self.shown_code.take() else {
            return;
        };
        if std::mem::take(&mut self.is_back) {
            self.code_before.pop();
        } else if shown.function != next.function {
            self.code_before.push(shown);
        }
    }

    /// Asks in which of the functions the inlined code is to be shown.
    pub(super) fn choose_into(&mut self, page: Page) {
        let one = |(at, (name, n)): (u8, &(String, u64))| {
            let key = char::from(b'1' + at);
            let samples = Counted::new(*n, "sample", "samples");
            let text = format!("{} ({samples})", rprof_untrusted::printable(name));
            choice(key, &text, Command::CodeInto(Some(at)))
        };
        let all = choice('a', "all", Command::CodeInto(None));
        let into = (0..MOST_CHOICES).zip(&self.inlined_into).map(one);
        let choices = iter::once(all).chain(into).collect();
        self.over = Over::Menu(Menu {
            under: Some(Box::new(page)),
            ..Menu::new("Inlined into", choices)
        });
    }

    /// Asks for the shown code again, in one of the functions that it was inlined into, or in all.
    pub(super) fn ask_code_into(&mut self, number: Option<u8>) -> Effect {
        let into = number.and_then(|at| self.inlined_into.get(usize::from(at)));
        let into = into.map(|(name, _)| name.clone());
        let Some(shown) = self.shown_code.clone() else {
            return Effect::None;
        };
        self.await_code(WantedCode { into, ..shown })
    }

    /// What is waited for, in a line.
    pub(crate) fn awaited_text(&self) -> Option<String> {
        let (scope, comparison) = (&self.awaited_scope, &self.awaited_comparison);
        let reading = match (scope, comparison) {
            (Some((scope, _)), _) => Some(format!("reading {}", name_of(scope.account))),
            (None, Some(_)) => Some("comparing".to_owned()),
            (None, None) => None,
        };
        if let Some(reading) = reading {
            // What was given up is read to its end.
            let after = if self.n_reads > 1 {
                ", once an earlier read ends"
            } else {
                ""
            };
            return Some(format!("{reading}{after} .. (ESC cancels)"));
        }
        let WantedCode { function, .. } = self.awaited.as_ref()?;
        Some(format!(
            "reading the code of {} .. (ESC cancels)",
            rprof_untrusted::printable(&function.name)
        ))
    }
}
