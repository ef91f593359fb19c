//! The flame graph, drawn by inferno.
//!
//! inferno merges equal frames of lines that stand next to each other, after sorting lines as
//! text, which tears frames apart whose names begin alike (`foo`, `foo2`). So it gets our own
//! order: its flame-chart mode takes lines as they come, last one first.

use crate::Error;
use inferno::flamegraph::color::{BasicPalette, Color, MultiPalette, Palette, PaletteMap};
use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};
use rprof_base::{Counted, Share};
use rprof_profile::view::{
    Audience, Count, FirstFrame, FoldOptions, ThreadNames, fold, picture_label,
};
use rprof_profile::{EventKind, EventProfile, Profile, Quality};
use rprof_scheduling::Cause;
use rprof_untrusted::printable;
use std::cmp::Reverse;
use std::io::Write;

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
    let title = title_of(event);
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
    from_lines(&mut drawing, lines, out).map_err(Error::Draw)?;
    Ok(drawn)
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

/// The title, cut to what the picture's width has room for beside its buttons.
pub(crate) fn shown_title(options: &FlameOptions, title: String) -> String {
    let title = match &options.title {
        Some(title) => printable(title).into_owned(),
        None => title,
    };
    let width = options.width.unwrap_or(FlameOptions::USUAL_WIDTH);
    let room = (width.saturating_sub(TITLE_MARGINS) / TITLE_LETTER).max(8);
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
    let asked = asked.map(|text| printable(text).into_owned());
    let mut parts = Vec::from_iter(asked);
    if profile.events.len() > 1 {
        parts.push(format!("{} of {} events", event.name, profile.events.len()));
    }
    if let Some(idle) = profile.idle_share(event) {
        parts.push(format!("{idle:.1} % idle"));
    }
    parts.push(format!("{} lost", event.loss));
    let quality = Quality::of(profile);
    if profile.has_names {
        parts.push(format!("{:.1} % without names", quality.unnamed));
    }
    if quality.unwound > 0 {
        let complete = Share::of(quality.complete, quality.unwound);
        parts.push(format!("{complete:.1} % of stacks complete"));
    }
    parts.join(", ")
}

/// Colours of those that inferno would paint green, as Java: by their names alone, though green is
/// for what has the suffix of JIT code.
fn own_colors(labels: &[String]) -> PaletteMap {
    let is_like_java = |label: &&String| {
        let has_suffix = ["_[k]", "_[i]", "_[j]"]
            .iter()
            .any(|suffix| label.ends_with(suffix));
        let is_upper = label.starts_with(|first: char| first.is_ascii_uppercase());
        !has_suffix && !label.contains("::") && (is_upper || label.contains(['/', '.']))
    };
    let mut colors = PaletteMap::default();
    for label in labels.iter().filter(is_like_java) {
        colors.insert(label, red(label));
    }
    colors
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
mod tests {
    use super::*;
    use rprof_profile::testing;

    /// One stack for each function, with two events.
    fn profile(stacks: &[&str]) -> Profile {
        let stacks: Vec<_> = stacks.iter().map(|&stack| (stack, 1)).collect();
        let mut profile = testing::profile(&stacks);
        profile.events.push(profile.events[0].clone());
        profile
    }

    fn drawn(profile: &Profile) -> String {
        let mut svg = Vec::new();
        let options = FlameOptions::default();
        write_flame(profile, &profile.events[0], &options, &mut svg).unwrap();
        String::from_utf8(svg).unwrap()
    }

    /// The function and the colour of each box.
    fn boxes(svg: &str) -> Vec<(&str, [u8; 3])> {
        let boxes = svg.split("<title>").skip(1);
        let boxes = boxes.filter_map(|text| {
            let (name, rest) = text.split_once(" (")?;
            let (_, fill) = rest.split_once("fill=\"rgb(")?;
            let mut parts = fill.split(')').next()?.split(',').map(str::parse);
            let mut part = || parts.next()?.ok();
            Some((name, [part()?, part()?, part()?]))
        });
        boxes.collect()
    }

    #[test]
    fn green_is_code_made_at_run_time_and_nothing_else() {
        let names = [
            "PyEval_EvalFrameDefault",
            "Lexer",
            "memcpy.part.0",
            "java/lang/String",
            "std::Vec",
            "main",
            "*compiled",
            "*Compiled::twice",
        ];
        let svg = drawn(&profile(&names));
        let boxes = boxes(&svg);
        assert_eq!(boxes.len(), names.len() + 2, "{svg}");
        for (name, [red, green, blue]) in boxes {
            let is_green = green > red && green > blue;
            assert_eq!(is_green, names.contains(&&*format!("*{name}")), "{name}");
        }
    }

    #[test]
    fn a_long_title_is_cut_to_the_width() {
        let of = |width| {
            let options = FlameOptions {
                title: Some("\u{e4}".repeat(200)),
                width,
                ..FlameOptions::default()
            };
            shown_title(&options, String::new())
        };
        assert_eq!(of(Some(600)).chars().count(), 40);
        assert_eq!(of(None).chars().count(), 100);
        assert!(of(Some(100)).ends_with(".."));
    }

    #[test]
    fn each_palette_draws_the_same_twice() {
        let profile = profile(&["main", "std::Vec", "kernel", "*code", "+inlined"]);
        for name in FlamePalette::NAMES {
            let options = FlameOptions {
                palette: FlamePalette::named(name).unwrap(),
                ..FlameOptions::default()
            };
            let drawn = || {
                let mut svg = Vec::new();
                write_flame(&profile, &profile.events[0], &options, &mut svg).unwrap();
                svg
            };
            assert_eq!(drawn(), drawn(), "{name}");
        }
    }

    #[test]
    fn many_narrow_stacks_make_no_large_picture() {
        let stacks: Vec<String> = (0..50_000)
            .map(|n| format!("main;f{};g{n}", n % 10))
            .collect();
        let stacks: Vec<&str> = stacks.iter().map(String::as_str).collect();
        let profile = profile(&stacks);
        let mut svg = Vec::new();
        let options = FlameOptions::default();
        let drawn = write_flame(&profile, &profile.events[0], &options, &mut svg).unwrap();
        assert_eq!(
            (drawn.left_out, drawn.least_width),
            (50_000, options.min_width)
        );
        // All, prog, main and ten functions.
        let svg = String::from_utf8(svg).unwrap();
        assert_eq!(svg.matches("<title>").count(), 13);
    }

    #[test]
    fn of_too_many_frames_the_narrowest_are_left_out() {
        let names: Vec<String> = (0..40).map(|n| format!("f{n}")).collect();
        let stacks: Vec<(&str, u64)> = names.iter().map(String::as_str).zip(1..).collect();
        let profile = testing::profile(&stacks);
        for max_frames in 1..50 {
            let options = FlameOptions {
                max_frames,
                ..FlameOptions::default()
            };
            let mut svg = Vec::new();
            let drawn = write_flame(&profile, &profile.events[0], &options, &mut svg).unwrap();
            let n_drawn = String::from_utf8(svg).unwrap().matches("<title>").count();
            // Beside all.
            let expected = max_frames.min(41) + 1;
            assert_eq!(n_drawn, expected);
            assert_eq!(usize::try_from(drawn.left_out).unwrap(), 42 - expected);
        }
    }

    #[test]
    fn one_sample_of_any_name_is_a_picture() {
        let svg = drawn(&profile(&["a<b&c>\"d'"]));
        assert!(svg.contains("<title>a&lt;b&amp;c&gt;"), "{svg}");
        assert!(svg.contains("(1 cycles, 100.00%)"), "{svg}");
        assert!(!svg.contains("a<b"));
    }

    #[test]
    fn a_picture_of_one_of_several_events_says_which() {
        let mut profile = profile(&["main"]);
        assert!(drawn(&profile).contains("cycles of 2 events"));
        profile.events.pop();
        assert!(!drawn(&profile).contains("of 2 events"));
        profile.events[0].loss.samples = 3;
        assert!(drawn(&profile).contains(">3 samples lost, 0.0 % without names<"));
    }
}
