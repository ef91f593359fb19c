//! The code of a function: asked for, and shown when it comes.

use super::{App, Effect, Over};
use crate::face::{CodeAnswer, FunctionOf, WantedCode};
use crate::page::Page;
use crate::zoom::selection;

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
                image: profile.strings.of(frame.image).into_raw().to_owned(),
                is_inlined: frame.is_inlined,
            },
            selection: selection(cx.event, &cx.zooms, profile),
            event: profile
                .events
                .get(cx.event)
                .map_or_else(String::new, |event| event.name.raw().to_owned()),
        };
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
                let WantedCode { function, .. } = &wanted;
                let mut title = format!("{}  {}", function.name, function.image);
                if let Some(note) = code.note {
                    title += &format!("  ({note})");
                }
                let title = rprof_untrusted::printable(&title).into_owned();
                let height = self.cx.page_height();
                self.over = Over::Page(Page::code(title, code.lines, height));
                self.message = None;
            }
            Err(why) => self.message = Some(why),
        }
    }

    /// What is waited for, in a line.
    pub(crate) fn awaited_text(&self) -> Option<String> {
        let WantedCode { function, .. } = self.awaited.as_ref()?;
        Some(format!(
            "reading the code of {} .. (ESC cancels)",
            rprof_untrusted::printable(&function.name)
        ))
    }
}
