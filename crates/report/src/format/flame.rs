//! The flame graph, drawn by inferno.
//!
//! inferno merges equal frames of lines that stand next to each other, after sorting lines as
//! text, which tears frames apart whose names begin alike (`foo`, `foo2`). So it gets our own
//! order: its flame-chart mode takes lines as they come, last one first.

use crate::Error;
use inferno::flamegraph::color::{MultiPalette, Palette};
use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};
use rprof_profile::view::{Audience, Count, FirstFrame, FoldOptions, fold};
use rprof_profile::{EventProfile, Profile};
use rprof_untrusted::printable;
use std::io::Write;

/// How a flame graph looks.
#[derive(Clone, Debug, Default)]
pub struct FlameOptions {
    /// Its title; `None` names the event.
    pub title: Option<String>,
    /// Start from the innermost functions: who called them is above.
    pub reverse: bool,
    /// Hang from the top (an icicle graph).
    pub inverted: bool,
}

/// Draws one event as SVG.
///
/// # Errors
/// [`Error::NothingToDraw`], or [`Error::Draw`] with the writer's error.
pub fn write_flame(
    profile: &Profile,
    event: &EventProfile,
    options: &FlameOptions,
    out: &mut impl Write,
) -> Result<(), Error> {
    let fold_options = FoldOptions {
        first: match options.reverse {
            true => FirstFrame::Innermost,
            false => FirstFrame::Outermost,
        },
        audience: Audience::Picture,
        count: Count::Weight,
    };
    let folded = fold(profile, event, fold_options);
    if folded.is_empty() {
        return Err(Error::NothingToDraw);
    }
    let lines: Vec<String> = folded.lines().rev().collect();
    let mut drawing = Options::default();
    drawing.title = match &options.title {
        Some(title) => printable(title).into_owned(),
        None => format!("{}, {} samples", event.name, event.samples),
    };
    drawing.flame_chart = true;
    drawing.colors = Palette::Multi(MultiPalette::Java);
    drawing.hash = true;
    drawing.text_truncate_direction = TextTruncateDirection::Right;
    drawing.count_name = unit(&event.name.shown()).to_owned();
    drawing.subtitle = (event.loss.samples > 0).then(|| {
        let at_least = if event.loss.at_least { "at least " } else { "" };
        format!("{at_least}{} samples lost", event.loss.samples)
    });
    if options.inverted {
        drawing.direction = Direction::Inverted;
    }
    let lines = lines.iter().map(String::as_str);
    from_lines(&mut drawing, lines, out).map_err(Error::Draw)
}

/// What an event's weight counts.
fn unit(event: &str) -> &str {
    let name = event.split([':', '/']).next().unwrap_or(event);
    match name {
        "cpu-clock" | "task-clock" => "ns",
        "" => "events",
        name => name,
    }
}
