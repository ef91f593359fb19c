//! The flame graph, drawn by inferno.
//!
//! inferno merges equal frames of lines that stand next to each other, after sorting lines as
//! text, which tears frames apart whose names begin alike (`foo`, `foo2`). So it gets our own
//! order: its flame-chart mode takes lines as they come, last one first.

use crate::Error;
use crate::legend::{Legend, POOLED, POOLED_NOTE};
use crate::quality::{short_waits_ms, unnamed_part};
use inferno::flamegraph::color::{BasicPalette, Color, MultiPalette, Palette, PaletteMap};
use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};
use rprof_base::{Counted, Share, Utc};
use rprof_profile::view::{
    Audience, Count, FirstFrame, FoldOptions, ThreadNames, fold, picture_label,
};
use rprof_profile::{EventKind, EventProfile, Profile, Quality};
use rprof_scheduling::Cause;
use rprof_untrusted::printable;
use std::cmp::Reverse;
use std::io::{self, Write};

/// How a flame graph looks.
#[derive(Clone, Debug)]
pub struct FlameOptions {
    /// Its title; `None` names the event.
    pub title: Option<String>,
    /// A line below the title.
    pub subtitle: Option<String>,
    /// Start from the innermost functions: who called them is above.
    pub reverse: bool,
    /// Hang from the top (an icicle graph).
    pub inverted: bool,
    /// What threads are called.
    pub threads: ThreadNames,
    /// In pixels; `None` is as wide as the window.
    pub width: Option<usize>,
    /// Frames narrower than this are left out.
    pub min_width: Share,
    /// Of more frames, the narrowest are left out.
    pub max_frames: usize,
    /// Colours.
    pub palette: FlamePalette,
}

impl Default for FlameOptions {
    fn default() -> Self {
        Self {
            title: None,
            subtitle: None,
            reverse: false,
            inverted: false,
            threads: ThreadNames::Pooled,
            width: None,
            min_width: Share::from_percent(0.01),
            max_frames: Self::MAX_FRAMES,
            palette: FlamePalette::default(),
        }
    }
}

impl FlameOptions {
    /// Pixels of a picture whose width nobody has chosen, before a browser makes it as wide as its window.
    pub const USUAL_WIDTH: usize = 1200;
    /// Frames of a picture whose least width nobody has chosen: browsers take seconds for many more.
    pub const MAX_FRAMES: usize = 20_000;

    /// The least width of a picture's frames, so that they are not too many.
    pub(crate) fn least_width(&self, widths: impl Iterator<Item = u64>, all: u64) -> Share {
        let is_wide = |&width: &u64| Share::of(width, all) >= self.min_width;
        let mut widths: Vec<u64> = widths.filter(is_wide).collect();
        if widths.len() <= self.max_frames {
            return self.min_width;
        }
        let (_, &mut too_narrow, _) =
            widths.select_nth_unstable_by_key(self.max_frames, |&width| Reverse(width));
        // In steps of a hundredth of a percent, to be said in few digits.
        let hundredths = (Share::of(too_narrow, all).percent() * 100.0).floor() + 1.0;
        Share::from_percent(hundredths / 100.0)
    }
}

/// Colours of a flame graph, by inferno's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlamePalette(Palette);

impl FlamePalette {
    /// What they are called.
    pub const NAMES: &[&str] = Palette::VARIANTS;

    /// The one that is called so.
    pub fn named(name: &str) -> Option<Self> {
        name.parse().ok().map(Self)
    }
}

impl Default for FlamePalette {
    /// Tells kernel, inlined and JIT code apart.
    fn default() -> Self {
        Self(Palette::Multi(MultiPalette::Java))
    }
}

/// What became of the frames of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Frames that were too narrow.
    pub left_out: u64,
    /// The width of the narrowest that may be there.
    pub least_width: Share,
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
) -> Result<Drawn, Error> {
    let fold_options = FoldOptions {
        first: if options.reverse {
            FirstFrame::Innermost
        } else {
            FirstFrame::Outermost
        },
        audience: Audience::Picture,
        count: Count::Weight,
        threads: options.threads,
    };
    let mut folded = fold(profile, event, fold_options);
    let least_width = options.least_width(folded.frame_counts().into_iter(), folded.sum());
    let left_out = folded.leave_out_narrow(least_width);
    let stacks = DrawnStacks {
        labels: folded.labels(),
        causes: folded.causes(),
        lines: folded.lines().collect(),
    };
    let drawn = Drawn {
        left_out,
        least_width,
    };
    draw(profile, event, &stacks, drawn, options, out)
}

/// What inferno is given.
pub(crate) struct DrawnStacks<'l> {
    /// What frames and threads are called.
    pub(crate) labels: &'l [String],
    /// What causes of waits are called.
    pub(crate) causes: &'l [String],
    /// Folded stacks, from left to right.
    pub(crate) lines: Vec<String>,
}

/// Draws stacks in the order that they have.
pub(crate) fn draw(
    profile: &Profile,
    event: &EventProfile,
    stacks: &DrawnStacks<'_>,
    drawn: Drawn,
    options: &FlameOptions,
    out: &mut impl Write,
) -> Result<Drawn, Error> {
    if stacks.lines.is_empty() {
        return Err(Error::NothingToDraw);
    }
    let palette = match (options.palette.0, event.kind) {
        // As off-CPU flame graphs have them.
        (Palette::Multi(MultiPalette::Java), EventKind::OffCpuTime) => {
            Palette::Basic(BasicPalette::Io)
        }
        (palette, _) => palette,
    };
    let mut colors = match palette {
        Palette::Multi(MultiPalette::Java) => own_colors(stacks.labels),
        _ => PaletteMap::default(),
    };
    for cause in stacks.causes {
        colors.insert(cause, cause_color(cause));
    }
    if let Some(idle) = profile.idle {
        let label = picture_label(profile, idle);
        colors.insert(&label, cause_color(&label));
    }
    let title = with_command(profile, title_of(event), options);
    let mut drawing = Options::default();
    drawing.title = shown_title(options, title);
    drawing.subtitle = Some(subtitle(profile, event, options.subtitle.as_deref()));
    drawing.count_name = unit(&event.name.shown()).to_owned();
    drawing.colors = palette;
    drawing.palette_map = Some(&mut colors);
    drawing.flame_chart = true;
    drawing.hash = true;
    drawing.text_truncate_direction = TextTruncateDirection::Right;
    drawing.image_width = options.width;
    // Of threads that are too narrow. What is as wide as that must not be lost to rounding.
    drawing.min_width = drawn.least_width.percent() * (1.0 - 1e-9);
    if options.inverted {
        drawing.direction = Direction::Inverted;
    }
    let lines = stacks.lines.iter().rev().map(String::as_str);
    let mut svg = Vec::new();
    from_lines(&mut drawing, lines, &mut svg).map_err(Error::Draw)?;
    let svg = String::from_utf8(svg).map_err(|error| Error::Draw(io::Error::other(error)))?;
    let legend = legend_of(stacks, palette, options.threads);
    out.write_all(legend.below(&svg).as_bytes())
        .map_err(Error::Draw)?;
    Ok(drawn)
}

/// What colours and names mean, as far as the picture has them.
fn legend_of(stacks: &DrawnStacks<'_>, palette: Palette, threads: ThreadNames) -> Legend {
    let mut colors = Vec::new();
    if let Palette::Multi(MultiPalette::Java) = palette {
        // As inferno's java.pl palette has them, in the middle of their shades.
        let has = |suffix: &str| stacks.labels.iter().any(|label| label.ends_with(suffix));
        let has_paths = stacks.labels.iter().any(|label| is_path(label));
        let kinds = [
            (true, [228, 90, 90], "user code"),
            (has_paths, [210, 210, 60], "C++, Rust"),
            (has("_[k]"), [220, 130, 30], "kernel"),
            (has("_[i]"), [80, 190, 190], "inlined"),
            (has("_[j]"), [80, 215, 80], "JIT code"),
        ];
        let kinds = kinds.into_iter().filter(|(is_there, ..)| *is_there);
        colors.extend(kinds.map(|(_, color, text)| (color, text.to_owned())));
    }
    for cause in stacks.causes {
        let Color { r, g, b } = cause_color(cause);
        colors.push(([r, g, b], cause.clone()));
    }
    let has_pools = stacks.labels.iter().any(|label| label.contains(POOLED));
    let note = (threads == ThreadNames::Pooled && has_pools).then_some(POOLED_NOTE);
    Legend { colors, note }
}

/// What is drawn, in words.
fn title_of(event: &EventProfile) -> String {
    let counted = |one, many| Counted::new(event.samples, one, many);
    match event.kind {
        EventKind::OffCpuTime => format!(
            "Off-CPU time, {}",
            counted("stretch of waiting", "stretches of waiting")
        ),
        EventKind::WallTime => format!("Wall time, {}", counted("sample", "samples")),
        _ => format!("{}, {}", event.name, counted("sample", "samples")),
    }
}

/// A title after the command that was recorded, as far as there is room for both.
pub(crate) fn with_command(profile: &Profile, title: String, options: &FlameOptions) -> String {
    let command = match profile.about.recorded_command() {
        [] => profile.about.command.join(" "),
        command => command.join(" "),
    };
    let room = title_room(options).saturating_sub(title.chars().count() + ": ".len());
    let command = printable(&command);
    match command.chars().count() {
        0 => title,
        n if n <= room => format!("{command}: {title}"),
        // A few letters tell nothing.
        _ if room < 16 => title,
        _ => {
            let start: String = command.chars().take(room - 2).collect();
            format!("{start}..: {title}")
        }
    }
}

/// When a recording was made, in UTC.
pub(crate) fn date_of(profile: &Profile) -> Option<String> {
    let at = Utc::of(profile.about.wall_clock?.wall_ns / 1_000_000_000);
    let Utc {
        year,
        month,
        day,
        hour,
        minute,
        ..
    } = at;
    Some(format!(
        "{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC"
    ))
}

/// Letters that a title has room for.
fn title_room(options: &FlameOptions) -> usize {
    let width = options.width.unwrap_or(FlameOptions::USUAL_WIDTH);
    (width.saturating_sub(TITLE_MARGINS) / TITLE_LETTER).max(8)
}

/// The title, cut to what the picture's width has room for beside its buttons.
pub(crate) fn shown_title(options: &FlameOptions, title: String) -> String {
    let title = match &options.title {
        Some(title) => printable(title).into_owned(),
        None => title,
    };
    let room = title_room(options);
    match title.char_indices().nth(room) {
        Some(_) => title.chars().take(room - 2).chain("..".chars()).collect(),
        None => title,
    }
}

/// Pixels of a letter of the title.
const TITLE_LETTER: usize = 10;

/// Pixels that buttons take, at both sides.
const TITLE_MARGINS: usize = 200;

/// What was asked for, which event it is of several, and how good the profile is.
fn subtitle(profile: &Profile, event: &EventProfile, asked: Option<&str>) -> String {
    let asked = asked.map(|text| format!("{}; ", printable(text)));
    let mut parts = Vec::from_iter(date_of(profile));
    if profile.events.len() > 1 {
        parts.push(format!("{} of {} events", event.name, profile.events.len()));
    }
    if let Some(idle) = profile.idle_share(event) {
        parts.push(format!("{idle:.1} % idle"));
    }
    parts.push(format!("{} lost", event.loss));
    let quality = Quality::of(profile);
    parts.extend(unnamed_part(profile, &quality, "stacks were dropped"));
    if quality.unwound > 0 {
        let complete = Share::of(quality.complete, quality.unwound);
        let mut complete = format!("{complete:.1} % of stacks complete");
        if let Some(ms) = short_waits_ms(profile) {
            complete += &format!(" (waits under {ms} ms have no user stack)");
        }
        parts.push(complete);
    }
    asked.unwrap_or_default() + &parts.join(", ")
}

/// Colours of those that inferno would paint green, as Java: by their names alone, though green is
/// for what has the suffix of JIT code.
fn own_colors(labels: &[String]) -> PaletteMap {
    let is_like_java = |label: &&String| {
        let is_upper = label.starts_with(|first: char| first.is_ascii_uppercase());
        !has_suffix(label) && !is_path(label) && (is_upper || label.contains(['/', '.']))
    };
    let mut colors = PaletteMap::default();
    for label in labels.iter().filter(is_like_java) {
        colors.insert(label, red(label));
    }
    colors
}

/// Whether a label is of what has a colour of its own.
fn has_suffix(label: &str) -> bool {
    let mut suffixes = ["_[k]", "_[i]", "_[j]"].iter();
    suffixes.any(|suffix| label.ends_with(suffix))
}

/// Whether inferno paints a function as one of C++: by its name.
fn is_path(label: &str) -> bool {
    label.contains("::") && !has_suffix(label)
}

/// inferno's red, brighter or darker by the name.
fn red(name: &str) -> Color {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let [_, _, _, shade] = (hash ^ (hash >> 16)).to_le_bytes();
    Color {
        r: 200 + shade / 5,
        g: 50 + shade / 4,
        b: 50 + shade / 4,
    }
}

/// The colour of a cause of waits, by its label.
fn cause_color(label: &str) -> Color {
    let name = label.trim_start_matches('[').trim_end_matches(']');
    let [r, g, b] = Cause::named(name).unwrap_or_default().color();
    Color { r, g, b }
}

/// What an event's weight counts.
pub(crate) fn unit(event: &str) -> &str {
    let name = event.split([':', '/']).next().unwrap_or(event);
    match name {
        "cpu-clock" | "task-clock" | "offcpu-time" | "wall-time" => "ns",
        "" => "events",
        name => name,
    }
}

#[cfg(test)]
mod tests;
