//! Threads over time: one is selected, and a time can be marked.

mod draw;
mod load;

use super::context::{Context, Selected};
use super::table::SAVED_PERCENT;
use super::view::{Answer, View};
use crate::cursor::{Cursor, Step};
use crate::draw::pen::Pen;
use crate::keys::{Command, KeyHint, Load, hint, letter};
use crate::screen::Screen;
use crate::shown::CountedSamples;
use crate::task::{AnyRecipe, Recipe};
use crate::zoom::{TimeUnit, Zoom};
use load::FoundTime;
use ratatui_core::layout::Position;
use ratatui_crossterm::crossterm::event::KeyCode;
use rprof_query::{ThreadLane, ThreadLanes, lanes};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Makes lanes of this many slots; `None` if there are no samples or no times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LanesOf {
    n_slots: usize,
}

impl Recipe for LanesOf {
    type Product = Option<ThreadLanes>;

    fn make(&self, counted: &CountedSamples) -> Self::Product {
        lanes(counted.explorer.sampled(), &counted.selection, self.n_slots)
    }
}

impl Context {
    pub(crate) fn lanes(&self) -> Option<&ThreadLanes> {
        self.made_lanes()?.as_ref()
    }

    /// Lanes, if they are made: there may be none of what is selected.
    fn made_lanes(&self) -> Option<&Option<ThreadLanes>> {
        Some(&self.shown.as_ref()?.part::<LanesOf>()?.product)
    }

    /// Lines of the view: all threads as one, if there are several, and each of them.
    fn n_lanes(&self) -> usize {
        self.lanes()
            .map_or(0, |lanes| n_before(lanes) + lanes.lanes.len())
    }
}

/// Lines before the first thread: that of all threads, if there are several.
fn n_before(lanes: &ThreadLanes) -> usize {
    usize::from(lanes.lanes.len() > 1)
}

/// Columns of time.
fn n_slots(cx: &Context) -> usize {
    cx.screen().map_or(1, |screen| screen.lane().slots)
}

/// What the line of all threads is called.
const ALL: &str = "all threads";

/// What is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LanesView {
    pub(crate) cursor: Cursor,
    /// The slot of time.
    pub(crate) slot: usize,
    /// The other end of the time that is marked.
    pub(crate) mark: Option<usize>,
    /// What to select, once the lanes are made.
    wanted: Option<Load>,
    /// What was selected by how busy it is.
    found: Option<FoundTime>,
}

impl View for LanesView {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn help(&self) -> &'static str {
        "threads over time"
    }

    fn recipe(&self, cx: &Context) -> Arc<dyn AnyRecipe> {
        let n_slots = n_slots(cx);
        Arc::new(LanesOf { n_slots })
    }

    fn draw(&self, cx: &Context, pen: &mut Pen<'_>, screen: &Screen) {
        draw::draw(self, cx, pen, screen);
    }

    fn status(&self, cx: &Context) -> String {
        draw::status(self, cx).unwrap_or_default()
    }

    fn text(&self, cx: &Context) -> String {
        let Some(lanes) = cx.lanes() else {
            return String::new();
        };
        let first = lanes.lanes.first();
        let slots = first.map_or(1, |lane| lane.slots.len()).max(1);
        let times = times_of(lanes, &(0..=slots - 1));
        let length = times.end().saturating_sub(*times.start());
        let length = TimeUnit::of(length).text(length);
        let lines = lanes.lanes.iter().map(|lane| {
            let share = cx.percent(lane.weight);
            let name = cx.thread_name(lane.thread);
            let slots: Vec<String> = lane.slots.iter().map(ToString::to_string).collect();
            format!("{share:>SAVED_PERCENT$}  {name}  {}\n", slots.join(" "))
        });
        format!("# {length}, {slots} parts\n") + &lines.collect::<String>()
    }

    fn copied(&self, cx: &Context) -> Option<String> {
        let lanes = cx.lanes()?;
        Some(match self.selected_lane(lanes) {
            Some(lane) => cx.thread_name(lane.thread),
            None => ALL.to_owned(),
        })
    }

    fn selected(&self, cx: &Context) -> Selected {
        Selected {
            threads: self.selected_thread(cx),
            ..Selected::default()
        }
    }

    fn command(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        let n_slots = n_slots(cx);
        match command {
            Command::Step(Step::Home) => self.slot = 0,
            Command::Step(Step::End) => self.slot = n_slots.saturating_sub(1),
            Command::Step(step) => {
                let height = cx.height().saturating_sub(1);
                self.cursor.step(step, cx.n_lanes(), height);
            }
            Command::Left => self.sideways(-1, n_slots),
            Command::Right => self.sideways(1, n_slots),
            Command::FarLeft => self.sideways(-10, n_slots),
            Command::FarRight => self.sideways(10, n_slots),
            Command::Open | Command::Toggle => return self.zoom(cx),
            Command::Mark => self.mark(),
            Command::Load(load) => {
                self.wanted = Some(load);
                self.find_wanted(cx);
            }
            Command::Back => drop(self.mark.take()?),
            _ => return None,
        }
        Some(Answer::Done)
    }

    fn command_from_elsewhere(&mut self, command: Command, cx: &mut Context) -> Option<Answer> {
        match command {
            Command::Load(_) if !cx.explorer.sampled().has_times => {
                Some(Answer::Say("the recording has no times".to_owned()))
            }
            Command::Load(load) => {
                self.wanted = Some(load);
                Some(Answer::Show)
            }
            _ => None,
        }
    }

    fn keys(&self, cx: &Context) -> Vec<KeyHint> {
        let mark = match self.mark {
            Some(_) => letter(' ', "drop the mark"),
            None => letter(' ', "mark"),
        };
        let mut keys = vec![
            hint(KeyCode::Enter, "zoom into the time"),
            mark,
            letter('b', "busiest"),
            letter('T', "type a time"),
            letter('t', "thread"),
            letter('y', "copy"),
            letter('s', "save"),
        ];
        match self.mark {
            Some(_) if cx.is_live => {}
            Some(_) => keys.insert(1, letter('D', "compare with the rest")),
            None => keys.swap(0, 1),
        }
        keys.extend(cx.waits_hint());
        keys
    }

    fn is_wide(&self) -> bool {
        true
    }

    fn select(&mut self, at: Position, cx: &mut Context) -> bool {
        let before = *self;
        let Some(screen) = cx.screen() else {
            return false;
        };
        let lane = screen.lane();
        let slot = usize::from(at.x).checked_sub(lane.names);
        if let Some(slot) = slot {
            self.slot = slot.min(lane.slots.saturating_sub(1));
            self.mark = None;
        }
        // The first line is the time.
        if let Some(line) = usize::from(at.y).checked_sub(1) {
            let n = cx.n_lanes();
            let line = (self.cursor.top + line).min(n.saturating_sub(1));
            self.cursor.go(line, n, screen.height().saturating_sub(1));
        }
        // The same thread and time: as ENTER.
        *self == before && slot.is_some()
    }

    /// Marks a time range.
    fn drag(&mut self, column: usize, cx: &Context) {
        let lane = cx.screen().map(|screen| screen.lane());
        let slot = lane.and_then(|lane| Some((lane, column.checked_sub(lane.names)?)));
        if let Some((lane, slot)) = slot {
            self.mark.get_or_insert(self.slot);
            self.slot = slot.min(lane.slots.saturating_sub(1));
        }
    }

    fn marked_times(&self, cx: &Context) -> Option<RangeInclusive<u64>> {
        self.mark?;
        Some(self.times(cx.lanes()?))
    }

    fn time_changed(&mut self) {
        (self.slot, self.mark) = (0, None);
        (self.wanted, self.found) = (None, None);
    }

    fn has_search(&self) -> bool {
        false
    }

    fn fit(&mut self, cx: &mut Context) {
        if cx.lanes().is_some() {
            let height = cx.height().saturating_sub(1);
            self.cursor.fit(cx.n_lanes(), height);
            self.sideways(0, n_slots(cx));
        }
        self.find_wanted(cx);
    }
}

impl LanesView {
    /// The thread; none if all of them are selected.
    fn selected_lane<'l>(&self, lanes: &'l ThreadLanes) -> Option<&'l ThreadLane> {
        lanes
            .lanes
            .get(self.cursor.at.checked_sub(n_before(lanes))?)
    }

    fn selected_thread(&self, cx: &Context) -> Option<Zoom> {
        let lane = self.selected_lane(cx.lanes()?)?;
        let sampled = cx.explorer.sampled();
        let thread = sampled.threads.get(lane.thread as usize)?;
        let comm = sampled.profile.strings.of(thread.comm).to_string();
        Some(Zoom::Thread {
            pid: thread.pid,
            tid: thread.tid,
            comm,
        })
    }

    /// Zooms into the marked time range, or the selected slot.
    fn zoom(&mut self, cx: &Context) -> Option<Answer> {
        let times = self.times(cx.lanes()?);
        self.time_changed();
        Some(Answer::Zoom(Zoom::Times(times)))
    }

    /// Moves by slots.
    fn sideways(&mut self, by: isize, n_slots: usize) {
        let last = n_slots.saturating_sub(1);
        self.slot = self.slot.saturating_add_signed(by).min(last);
    }

    /// Starts or clears the mark of a time range.
    fn mark(&mut self) {
        self.mark = match self.mark {
            Some(_) => None,
            None => Some(self.slot),
        };
    }

    /// The marked slots, or the selected one.
    fn chosen(&self) -> RangeInclusive<usize> {
        self.marked().unwrap_or(self.slot..=self.slot)
    }

    /// Slots that are marked.
    pub(crate) fn marked(&self) -> Option<RangeInclusive<usize>> {
        let mark = self.mark?;
        Some(mark.min(self.slot)..=mark.max(self.slot))
    }

    /// The time of the marked slots, or of the selected one.
    fn times(&self, lanes: &ThreadLanes) -> RangeInclusive<u64> {
        times_of(lanes, &self.chosen())
    }
}

/// The time range of slots, both ends included.
fn times_of(lanes: &ThreadLanes, slots: &RangeInclusive<usize>) -> RangeInclusive<u64> {
    let begin = |slot: usize| {
        let slot = u64::try_from(slot).unwrap_or(u64::MAX);
        lanes
            .times_ns
            .start()
            .saturating_add(lanes.slot_ns.saturating_mul(slot))
    };
    let end = begin(slots.end() + 1).saturating_sub(1);
    begin(*slots.start())..=end.min(*lanes.times_ns.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_time_is_all_of_its_slots() {
        let lanes = ThreadLanes {
            times_ns: 1000..=1094,
            slot_ns: 10,
            lanes: Vec::new(),
            running: Vec::new(),
        };
        let mut view = LanesView::default();
        view.sideways(2, 10);
        assert_eq!(view.times(&lanes), 1020..=1029);
        view.mark();
        view.sideways(-5, 10);
        assert_eq!(
            (view.marked(), view.times(&lanes)),
            (Some(0..=2), 1000..=1029)
        );
        view.sideways(20, 10);
        assert_eq!(view.times(&lanes), 1020..=1094);
        view.mark();
        assert_eq!(view.marked(), None);
    }
}
