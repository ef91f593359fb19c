//! Keys in, screens out.

mod account;
mod code;
mod compare;
mod keys;
mod mouse;
mod parts;
mod replaced;
mod screens;
mod times;

use super::{App, Effect, Input, TuiSettings};
use crate::face::TuiData;
use crate::look::{Background, Colors, Look};
use crate::views::boxes::Boxes;
use crate::views::calls::CallsView;
use crate::views::flame::FlameView;
use crate::views::lanes::LanesView;
use crate::views::table::TableView;
use crate::views::view::View;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rprof_profile::SampledProfile;
use rprof_profile::testing;
use rprof_profile::view::{SortKey, Weighing};
use std::any::Any;

/// The state of views.
pub(super) trait ShownViews {
    fn of_type<V: View>(&self) -> &V;

    fn table(&self) -> &TableView {
        self.of_type()
    }

    fn calls(&self) -> &CallsView {
        self.of_type()
    }

    fn flame(&self) -> &FlameView {
        self.of_type()
    }

    fn lanes(&self) -> &LanesView {
        self.of_type()
    }

    /// The selected box of the call tree or the flame graph.
    fn selected_box(&self) -> Option<(&Boxes, u32)>;
}

impl ShownViews for App {
    fn of_type<V: View>(&self) -> &V {
        let views = self.views.iter();
        let mut found = views.filter_map(|view| (&**view as &dyn Any).downcast_ref());
        found.next().unwrap()
    }

    fn selected_box(&self) -> Option<(&Boxes, u32)> {
        let number = match self.view().name() {
            "calls" => self.calls().selected_box()?,
            _ => self.flame().selected,
        };
        let boxes = self.cx.boxes()?;
        boxes.get(number).map(|_| (boxes, number))
    }
}

/// A program with two threads that differ, and one that does little.
pub(super) fn sampled() -> SampledProfile {
    let mut samples: Vec<(u64, &str, &str, u64)> = Vec::new();
    for step in 0..100_u64 {
        let time = 1_000_000_000 + step * 10_000_000;
        samples.push((time, "server", "main;serve;parse;memcpy", 1));
        if step % 2 == 0 {
            samples.push((time + 1, "server", "main;serve;answer;+format", 1));
        }
        if (30..60).contains(&step) {
            samples.push((time + 2, "worker", "start;compress;*huffman", 1));
        }
        if step % 25 == 0 {
            samples.push((time + 3, "a\u{202e}b\nc", "start;wait", 1));
        }
    }
    testing::sampled(&samples)
}

pub(super) fn data(sampled: SampledProfile) -> TuiData {
    TuiData {
        sampled,
        title: "perf.data".to_owned(),
        quality: "184 samples, 0.0 % lost".to_owned(),
        about: vec!["recorded by rprof".to_owned()],
        ..TuiData::default()
    }
}

pub(super) fn app_of(sampled: SampledProfile, size: (u16, u16)) -> App {
    let settings = TuiSettings {
        look: Look {
            colors: Colors::Many,
            background: Background::Dark,
            has_blocks: true,
        },
        size,
        keys: SortKey::DEFAULT.to_vec(),
        weighing: Weighing::WithChildren,
        event: 0,
        is_live: false,
    };
    App::new(data(sampled), settings)
}

pub(super) fn app() -> App {
    app_of(sampled(), (80, 24))
}

/// Presses keys, one after the other; `<Name>` is one without a letter. The last effect is returned.
pub(super) fn press(app: &mut App, keys: &str) -> Effect {
    let mut effect = Effect::None;
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let (code, after) = match named {
            Some((name, after)) => (named_key(name), after),
            None => (KeyCode::Char(first), &rest[first.len_utf8()..]),
        };
        rest = after;
        effect = app.handle(&Input::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        idle(app);
    }
    effect
}

/// Nobody types until all is done.
pub(super) fn idle(app: &mut App) {
    while app.has_work() {
        app.work();
    }
    while let Some(task) = app.wanted() {
        app.take_made(task.run());
    }
}

fn named_key(name: &str) -> KeyCode {
    match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageDown" => KeyCode::PageDown,
        "Backspace" => KeyCode::Backspace,
        other => panic!("no key {other}"),
    }
}

/// What is on the screen, in a buffer.
pub(super) fn buffer(app: &App) -> Buffer {
    let (columns, lines) = app.cx.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, lines));
    app.draw(&mut buffer);
    buffer
}

/// What is on the screen, as text.
pub(super) fn screen(app: &App) -> String {
    let buffer = buffer(app);
    let mut text = String::new();
    for y in 0..buffer.area().height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area().width {
            let symbol = buffer[(x, y)].symbol();
            line += symbol;
            x += u16::try_from(rprof_profile::text::width(symbol).max(1)).unwrap();
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The line of the screen that has this text.
pub(super) fn line_with(app: &App, text: &str) -> String {
    let screen = screen(app);
    let line = screen.lines().find(|line| line.contains(text));
    line.unwrap_or_else(|| panic!("no {text} in\n{screen}"))
        .to_owned()
}
