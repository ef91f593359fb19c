//! A flame graph of what changed: each box has the colour of its own change, and says both numbers.

mod change;

use crate::Error;
use crate::flame::{Drawn, FlameOptions, date_of, shown_title, unit, with_command};
use crate::legend::{POOLED, POOLED_NOTE, broken};
use crate::picture::{Extent, Picture, PictureBox};
use change::{Change, Divisors};
use rprof_base::{Counted, Share};
use rprof_profile::Profile;
use rprof_profile::difference::{
    BothCounts, DifferentialTree, Directions, ScaledPair, Scaling, SureChanges,
};
use rprof_profile::view::{Count, FirstFrame};
use rprof_untrusted::printable;
use std::borrow::Cow;
use std::io::Write;

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
pub struct DifferentialOptions<'p> {
    /// What all flame graphs have; the palette is another.
    pub flame: FlameOptions,
    /// The profiles before and after: the title has the command of the second, the subtitle when both were recorded.
    pub profiles: Option<[&'p Profile; 2]>,
    /// Widths.
    pub width_by: WidthBy,
    /// What is compared.
    pub scaling: Scaling,
    /// What changed beyond noise: all else is grey.
    pub sure: SureChanges,
}

/// Draws what changed in an event, which has a name, as SVG.
///
/// # Errors
/// [`Error::NothingToDraw`], [`Error::NothingChanged`], or [`Error::Draw`] with the writer's error.
pub fn write_differential(
    tree: &DifferentialTree,
    event: &str,
    options: &DifferentialOptions<'_>,
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
    let compared = compared(event, &tree.sum());
    let extents = extents(tree, &widths, drawn.least_width);
    let deepest = extents.iter().flatten().max_by_key(|extent| extent.depth);
    let (subtitle, legend) = texts(options, &compared, tree);
    let title = match options.profiles {
        Some([_, after]) => with_command(after, compared, &options.flame),
        None => compared,
    };
    let picture = Picture {
        subtitle,
        legend,
        title: shown_title(&options.flame, title),
        width: options.flame.width,
        inverted: options.flame.inverted,
        whole: whole(&widths),
        n_levels: 1 + deepest.map_or(0, |extent| extent.depth),
    };
    let boxes = boxes(tree, &extents, picture.whole, event, options);
    picture.write(boxes.into_iter(), out).map_err(Error::Draw)?;
    Ok(drawn)
}

/// The box of everything, then those of nodes.
fn boxes<'t>(
    tree: &'t DifferentialTree,
    extents: &[Option<Extent>],
    whole: u64,
    event: &str,
    options: &DifferentialOptions<'_>,
) -> Vec<PictureBox<'t>> {
    let (unit, sum) = (unit(event), tree.sum());
    let first = if options.flame.reverse {
        FirstFrame::Innermost
    } else {
        FirstFrame::Outermost
    };
    let directions = tree.directions(&options.sure, first);
    let totals = tree.totals();
    let drawn = |label: &'t str, extent: Extent, counts: BothCounts, sure: Directions| {
        let change = Change {
            counts,
            divisors: Divisors::of(&sum, options.scaling),
            scaling: options.scaling,
            sure,
        };
        PictureBox {
            label,
            said: change.text(unit),
            color: change.color(),
            extent,
        }
    };
    let all = Extent {
        depth: 0,
        start: 0,
        width: whole,
    };
    let all = drawn("all", all, sum, options.sure.total);
    let nodes = tree.nodes().iter().zip(extents).enumerate();
    let boxes = nodes.filter_map(|(at, (node, extent))| {
        let label = tree.label(node);
        extent.map(|extent| drawn(label, extent, totals[at], directions[at]))
    });
    std::iter::once(all).chain(boxes).collect()
}

/// Where the box of each node is: below everything, siblings beside each other; `None` for those that are not drawn.
fn extents(
    tree: &DifferentialTree,
    widths: &[Option<u64>],
    least_width: Share,
) -> Vec<Option<Extent>> {
    let whole = whole(widths);
    let totals = widths_with_callees(tree, widths);
    let mut depths = Vec::with_capacity(widths.len());
    let mut start = 0u64;
    let mut extents = Vec::with_capacity(widths.len());
    for (at, node) in tree.nodes().iter().enumerate() {
        let depth = 1 + node.parent.map_or(0, |parent| depths[parent as usize]);
        depths.push(depth);
        let width = totals[at];
        // Narrow threads keep their width, for no other box has it.
        let is_drawn = widths[at].is_some() && width > 0 && Share::of(width, whole) >= least_width;
        extents.push(is_drawn.then_some(Extent {
            depth,
            start,
            width,
        }));
        start = start.saturating_add(widths[at].unwrap_or(0));
    }
    extents
}

/// How wide everything is.
fn whole(widths: &[Option<u64>]) -> u64 {
    widths
        .iter()
        .flatten()
        .fold(0, |sum, &width| sum.saturating_add(width))
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
    let all = whole(widths);
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

/// The subtitle, and the legend below the picture: what was asked for, and how the picture is to be read. What the
/// subtitle has no room for is in the legend.
fn texts(
    options: &DifferentialOptions<'_>,
    compared: &str,
    tree: &DifferentialTree,
) -> (String, Vec<String>) {
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
    let dates = options.profiles.map(|sides| sides.map(date_of));
    let dates = match dates {
        Some([Some(before), Some(after)]) => {
            Some(format!("before: {before}, after: {after}").into())
        }
        _ => None,
    };
    let has_pools = tree
        .nodes()
        .iter()
        .any(|node| tree.label(node).contains(POOLED));
    let colors = "orange: more, blue: less, grey: no significant change".into();
    let pools = has_pools.then_some(Cow::Borrowed(POOLED_NOTE));
    let mut legend = Vec::from_iter([colors].into_iter().chain(pools));
    let parts = [
        asked,
        samples,
        dates,
        Some(format!("{scaling}; {width}").into()),
    ];
    let (mut subtitle, room) = (String::new(), Picture::letters(options.flame.width));
    for part in parts.into_iter().flatten() {
        let is_first = subtitle.is_empty();
        if subtitle.chars().count() + part.chars().count() + 2 > room {
            legend.push(part);
            continue;
        }
        subtitle += if is_first { "" } else { "; " };
        subtitle += &part;
    }
    let lines = legend.iter().flat_map(|text| broken(text, room));
    (subtitle, lines.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
