//! A time range compared with the rest: significant changes.

use super::{App, Effect, Over};
use crate::face::{ComparisonAnswer, WantedComparison};
use crate::page::Page;
use crate::zoom::{Zoom, selection};
use rprof_profile::text::Fit;
use rprof_query::SampleSelection;

impl App {
    /// Asks to compare the marked time with the rest of what is shown, or the time that is zoomed into with the rest of
    /// the recording.
    pub(super) fn compare(&mut self) -> Effect {
        let wanted = self.wanted_comparison();
        match wanted {
            Ok(wanted) => {
                // The reader answers the last request.
                (self.awaited, self.awaited_scope) = (None, None);
                self.read_asked();
                self.awaited_comparison = Some(wanted.clone());
                Effect::Compare(Box::new(wanted))
            }
            Err(why) => {
                self.say(why);
                Effect::None
            }
        }
    }

    fn wanted_comparison(&self) -> Result<WantedComparison, &'static str> {
        let cx = &self.cx;
        let all = cx.explorer.sampled().samples.span_ns();
        let all = all.ok_or("the samples have no times")?;
        let zoomed = cx.zooms.iter().find_map(|zoom| match zoom {
            Zoom::Times(times) => Some(times.clone()),
            _ => None,
        });
        let marked = self.views.iter().find_map(|view| view.marked_times(cx));
        let (times_ns, all_ns) = match (marked, zoomed) {
            (Some(marked), Some(zoomed)) => (marked, zoomed),
            (Some(marked), None) => (marked, all),
            (None, Some(zoomed)) => (zoomed, all),
            (None, None) => {
                return Err("no time to compare: mark one in threads (SPACE), or type one (T)");
            }
        };
        let is_of_stacks = |zoom: &Zoom| matches!(zoom, Zoom::Frames(_) | Zoom::WithoutFunction(_));
        if cx.zooms.iter().any(is_of_stacks) {
            return Err("cannot compare filtered stacks: undo the filter first (u)");
        }
        let profile = cx.profile();
        let event = profile.events.get(cx.event).ok_or("no events")?;
        Ok(WantedComparison {
            account: cx.scope.account,
            event: event.name.raw().to_owned(),
            selection: SampleSelection {
                times_ns: None,
                ..selection(cx.event, &cx.zooms, profile)
            },
            times_ns,
            all_ns,
            fit: Fit {
                columns: cx.size.0.into(),
                ellipsis: cx.look.ellipsis(),
            },
        })
    }

    /// The comparison that was asked for, if it is still wanted.
    pub fn take_comparison(&mut self, answer: ComparisonAnswer) {
        let ComparisonAnswer { wanted, lines } = answer;
        self.read_answered();
        if self
            .awaited_comparison
            .take_if(|one| *one == wanted)
            .is_none()
        {
            return;
        }
        match lines {
            Ok(lines) => {
                let sampled = self.cx.explorer.sampled();
                let times = Zoom::Times(wanted.times_ns).text(sampled);
                let title = format!("{times}, compared with the rest");
                let lines = lines
                    .iter()
                    .map(|line| rprof_untrusted::printable(line).into_owned());
                self.over = Over::Page(Page::text(title, lines.collect()));
                self.message = None;
            }
            Err(why) => self.message = Some(why),
        }
    }
}
