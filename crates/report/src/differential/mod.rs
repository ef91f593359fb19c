//! A flame graph of what changed, drawn by inferno.
//!
//! inferno colours a difference by its own weight and says one number of it. So each box gets a name of its own (its
//! label and a mark with its number) and a colour by that name; in what inferno drew, the marks then become what is
//! said of each box.

mod change;
mod marks;

use crate::Error;
use crate::flame::{Drawn, FlameOptions, drawing_of, unit};
use change::{Change, Divisors};
use inferno::flamegraph::color::{BackgroundColor, Color, PaletteMap};
use inferno::flamegraph::from_lines;
use marks::{mark, without_marks};
use rprof_base::{Counted, Share};
use rprof_profile::difference::{
    BothCounts, DifferentialTree, Directions, ScaledPair, Scaling, SureChanges,
};
use rprof_profile::view::{Count, FirstFrame};
use rprof_untrusted::printable;
use std::borrow::Cow;
use std::io::{self, Write};

/// What a frame's width is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WidthBy {
    /// What it counts after; what has vanished is as wide as it was.
    #[default]
    After,
    /// What it counted before; what is new is as wide as it is.
    Before,
    /// By how much it changed, more or less: what is alike on both sides is not there.
    Change,
}

/// How a differential flame graph looks.
#[derive(Clone, Debug)]
pub struct DifferentialOptions {
    /// What all flame graphs have; the palette is another.
    pub flame: FlameOptions,
    /// Widths.
    pub width_by: WidthBy,
    /// What is compared.
    pub scaling: Scaling,
    /// What changed beyond noise: all else is grey.
    pub sure: SureChanges,
}

/// What no box has.
const BACKGROUND: Color = Color {
    r: 250,
    g: 250,
    b: 250,
};

/// Draws what changed in an event, which has a name, as SVG.
///
/// # Errors
/// [`Error::NothingToDraw`], [`Error::NothingChanged`], or [`Error::Draw`] with the writer's error.
pub fn write_differential(
    tree: &DifferentialTree,
    event: &str,
    options: &DifferentialOptions,
    out: &mut impl Write,
) -> Result<Drawn, Error> {
    let scaled = tree.scaled(Count::Weight, options.scaling);
    let mut widths = own_widths(tree, &scaled, options.width_by);
    let drawn = leave_out_narrow(tree, &mut widths, &options.flame);
    if widths.iter().all(|width| width.unwrap_or(0) == 0) {
        return Err(match options.width_by {
            WidthBy::Change => Error::NothingChanged,
            WidthBy::After | WidthBy::Before => Error::NothingToDraw,
        });
    }
    let unit = unit(event);
    let sum = tree.sum();
    let first = if options.flame.reverse {
        FirstFrame::Innermost
    } else {
        FirstFrame::Outermost
    };
    let directions = tree.directions(&options.sure, first);
    let totals = tree.totals();
    let changed = |counts: BothCounts, sure: Directions| Change {
        counts,
        divisors: Divisors::of(&sum, options.scaling),
        scaling: options.scaling,
        sure,
    };
    let change = |at: u32| changed(totals[at as usize], directions[at as usize]);
    let all = changed(sum, options.sure.total);
    let mut colors = PaletteMap::default();
    colors.insert("", all.color());
    let shown = (0u32..).zip(&widths).filter(|(_, width)| width.is_some());
    for (at, _) in shown.clone() {
        colors.insert(marked(tree, at), change(at).color());
    }
    let lines = shown.filter_map(|(at, width)| {
        let width = width.filter(|&width| width > 0)?;
        let path = tree.path(at).into_iter().map(|node| marked(tree, node));
        Some(format!("{} {width}", path.collect::<Vec<_>>().join(";")))
    });
    let lines: Vec<String> = lines.collect();
    let compared = compared(event, &sum);
    let mut drawing = drawing_of((&options.flame, drawn.least_width), compared.clone());
    drawing.bgcolors = Some(BackgroundColor::Flat(BACKGROUND));
    drawing.palette_map = Some(&mut colors);
    drawing.count_name = unit.to_owned();
    drawing.subtitle = Some(subtitle(options, &compared));
    let mut svg = Vec::new();
    let lines = lines.iter().rev().map(String::as_str);
    from_lines(&mut drawing, lines, &mut svg).map_err(Error::Draw)?;
    let svg = String::from_utf8(svg).map_err(|error| Error::Draw(io::Error::other(error)))?;
    let said = |at: Option<u32>| at.map_or(all, change).text(unit);
    without_marks(&svg, said, out).map_err(Error::Draw)?;
    Ok(drawn)
}

fn marked(tree: &DifferentialTree, node: u32) -> String {
    let label = tree
        .nodes()
        .get(node as usize)
        .map_or("", |found| tree.label(found));
    format!("{label}{}", mark(node))
}

/// How wide each node is without those below it.
fn own_widths(
    tree: &DifferentialTree,
    scaled: &[ScaledPair],
    width_by: WidthBy,
) -> Vec<Option<u64>> {
    // Of each node, whether anything in or below it is on a side.
    let totals = tree.totals();
    let width = |(pair, total): (&ScaledPair, &BothCounts)| match width_by {
        WidthBy::After if total.after.samples == 0 => pair.before,
        WidthBy::After => pair.after,
        WidthBy::Before if total.before.samples == 0 => pair.after,
        WidthBy::Before => pair.before,
        WidthBy::Change => pair.before.abs_diff(pair.after),
    };
    scaled.iter().zip(&totals).map(width).map(Some).collect()
}

/// How wide each node is with those below it.
fn widths_with_callees(tree: &DifferentialTree, widths: &[Option<u64>]) -> Vec<u64> {
    let mut totals: Vec<u64> = widths.iter().map(|width| width.unwrap_or(0)).collect();
    for (at, node) in tree.nodes().iter().enumerate().rev() {
        if let Some(parent) = node.parent.map(|parent| parent as usize) {
            totals[parent] = totals[parent].saturating_add(totals[at]);
        }
    }
    totals
}

/// Makes frames narrower than there may be `None`: their width is their callers'.
fn leave_out_narrow(
    tree: &DifferentialTree,
    widths: &mut [Option<u64>],
    options: &FlameOptions,
) -> Drawn {
    let own = widths.iter().map(|width| width.unwrap_or(0));
    let all = own.fold(0, u64::saturating_add);
    let totals = widths_with_callees(tree, widths);
    let least_width = options.least_width(totals.iter().copied().filter(|&width| width > 0), all);
    let mut left_out = 0;
    for (at, node) in tree.nodes().iter().enumerate().rev() {
        let is_narrow = Share::of(totals[at], all) < least_width;
        left_out += u64::from(is_narrow && totals[at] > 0);
        // Threads stay: what they count has no other place.
        if let Some(parent) = node.parent.map(|parent| parent as usize)
            && (is_narrow || totals[at] == 0)
        {
            let own = widths[at].take().unwrap_or(0);
            widths[parent] = widths[parent].map(|width| width.saturating_add(own));
        }
    }
    Drawn {
        left_out,
        least_width,
    }
}

/// Event and samples.
fn compared(event: &str, sum: &BothCounts) -> String {
    let samples = Counted::new(sum.before.samples, "sample", "samples");
    format!(
        "{}, {samples} before, {} after",
        printable(event),
        sum.after.samples
    )
}

/// What was asked for, and how the picture is to be read.
fn subtitle(options: &DifferentialOptions, compared: &str) -> String {
    // A title of one's own leaves out what is compared.
    let samples = options.flame.title.as_ref().map(|_| compared.into());
    let asked = options.flame.subtitle.as_deref().map(printable);
    let scaling = match options.scaling {
        Scaling::Shares => "each side's shares",
        Scaling::Recorded => "amounts per run",
        Scaling::PerSecond(_) => "amounts per second",
    };
    let width = match options.width_by {
        WidthBy::After => "widths are after (removed paths: before)",
        WidthBy::Before => "widths are before (new paths: after)",
        WidthBy::Change => "widths are changes",
    };
    let colors = "orange: more, blue: less, grey: no significant change";
    let parts = [asked, samples].into_iter().flatten();
    let parts = parts.chain([scaling, width, colors].map(Cow::Borrowed));
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
