//! Tables as text: what perf users know, trees below its rows.

use super::hierarchy::Levels;
use super::limit::{hidden, limited};
use super::{LAST_COLUMN, Layout, Table, TableOptions, separated, slots, spans};
use crate::quality::{quality_advice, quality_line, stacks_line};
use crate::text::{Gives, gap, shrunk, split_tree_line};
use crate::totals;
use crate::tree::{TreeLines, write_tree};
use crate::unnamed::{interpreter_line, unnamed_within};
use rprof_base::{Counted, Share, parallel};
use rprof_profile::Profile;
use rprof_profile::text::{Fit, at_right, colored, comment_lines, padded, start, width};
use rprof_profile::view::{EventSet, Field, FieldValue, JoinedRow, Row, SortKey, Sum};
use rprof_untrusted::printable;
use std::borrow::Cow;
use std::io::{self, Write};

/// Rows with trees whose text a thread makes at a time.
const ROWS_OF_THREAD: usize = 64;

/// Rows without trees, which are a line each.
const LINES_OF_THREAD: usize = 512;

/// Lines below the tables that say what could be better.
const MAX_NOTES: usize = 3;

/// Writes a table for each event, then how stacks ended that were unwound, and what could not be
/// named or used.
///
/// # Errors
/// The writer's.
pub fn write_table(
    profile: &Profile,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    if options.spans {
        spans::write(&profile.spans, &options.layout, out)?;
    }
    let (mut last_lines, mut tree_advice) = (Vec::new(), None);
    let sets = options.events.of(profile);
    let n_sets = sets.len();
    for set in sets {
        let limited = limited(profile, &set, options)?;
        let table = Table::of(profile, set, limited.as_ref().unwrap_or(options));
        let advice = write_events(&table, out)?;
        tree_advice = tree_advice.or(advice);
        if limited.is_some() {
            let of_event = match n_sets {
                1 => String::new(),
                _ => format!("{}: ", table.set.leader.name),
            };
            last_lines.push(format!("{of_event}{}", hidden(&table)));
        }
    }
    if options.layout.quiet {
        return Ok(());
    }
    let mut lines = footer(profile, tree_advice);
    lines.extend(last_lines);
    let fit = options.layout.fit;
    let mut lines = lines.iter().flat_map(|line| comment_lines(line, fit));
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// What a profile is worth.
///
/// What could be done about it takes [`MAX_NOTES`] lines: what makes the profile better comes first.
fn footer(profile: &Profile, tree_advice: Option<String>) -> Vec<String> {
    let (advice, interpreter) = (quality_advice(profile), interpreter_line(profile));
    let n_notes = usize::from(advice.is_some()) + usize::from(interpreter.is_some());
    let unnamed = unnamed_within(profile, MAX_NOTES - n_notes);
    let is_last = n_notes + unnamed.len() < MAX_NOTES;
    let mut lines = vec![format!("Quality: {}", quality_line(profile))];
    lines.extend(advice.map(|advice| format!("  {advice}")));
    lines.extend(stacks_line(profile).map(|line| format!("Stacks: {line}")));
    if let Some(coverage) = &profile.about.coverage {
        lines.push(format!("Coverage: {}", printable(&coverage.to_string())));
    }
    if !unnamed.is_empty() {
        lines.push("Without names:".to_owned());
    }
    lines.extend(unnamed.iter().map(|line| format!("  {line}")));
    lines.extend(interpreter.map(|line| format!("Interpreted: {line}")));
    lines.extend(
        tree_advice
            .filter(|_| is_last)
            .map(|line| format!("Trees: {line}")),
    );
    lines
}

/// What the recorder left out, if anything.
pub(crate) fn left_out(profile: &Profile) -> Option<String> {
    let samples = |n| Counted::new(n, "sample", "samples");
    let own = samples(profile.about.own_samples);
    let others = profile.about.others_samples;
    match (profile.about.own_samples, others) {
        (0, 0) => None,
        (0, _) => Some(format!("{} of others", samples(others))),
        (_, 0) => Some(format!(
            "{own} of rprof itself ({} --include-self keeps them)",
            profile.about.recorder_to_run()
        )),
        _ => Some(format!("{own} of rprof itself, {others} of others")),
    }
}

/// Samples that are missing.
fn write_losses(profile: &Profile, set: &EventSet<'_>, out: &mut impl Write) -> io::Result<()> {
    let losses = set.events().map(|event| event.loss.samples);
    let lost = losses.fold(0, u64::saturating_add);
    let at_least = set.events().any(|event| event.loss.at_least);
    let bound = match (at_least, left_out(profile)) {
        (true, _) => "at least ",
        // What was lost may be of those that were left out.
        (false, Some(_)) if lost > 0 => "at most ",
        (false, _) => "",
    };
    writeln!(out, "# Total Lost Samples: {bound}{lost}")?;
    if let Some(left_out) = left_out(profile) {
        writeln!(out, "# Left out: {left_out}")?;
    }
    for share in set.events().filter_map(|event| profile.idle_share(event)) {
        let share = share.percent();
        writeln!(
            out,
            "# Idle: {share:.2} % of the time is waiting for work, shown as [idle] (--fold idle)"
        )?;
    }
    if let Some(thinning) = &profile.about.thinning {
        writeln!(out, "# Thinned: {thinning}")?;
    }
    writeln!(out, "#")
}

/// Writes the table of some events. Returns what would make its trees shorter.
fn write_events(table: &Table<'_>, out: &mut impl Write) -> io::Result<Option<String>> {
    let options = table.options;
    let widths = widths_of(table);
    let levels = options.has_levels().then(|| Levels::of(table));
    if !options.layout.quiet {
        write_losses(table.profile, &table.set, out)?;
        totals::write_heading(&table.set, options, out)?;
        writeln!(out, "#")?;
        match &levels {
            Some(levels) => levels.write_heading(out)?,
            None => write_heading(table, &widths, out)?,
        }
    }
    let lines = TreeLines::default();
    let write_row = |at: usize, out: &mut Vec<u8>| -> io::Result<()> {
        let Some(shown) = table.shown.get(at) else {
            return Ok(());
        };
        let row = &shown.row;
        match (&levels, &options.layout.separator) {
            (Some(levels), _) => levels.write_row(shown, table.depth_after(at), out)?,
            (None, None) => write_row(table, row, &widths, out)?,
            (None, Some(separator)) => separated::write_row(table, row, separator, &widths, out)?,
        }
        if shown.is_innermost {
            write_tree_of(table, &row.leader, &lines, out)
        } else {
            Ok(())
        }
    };
    let n_rows = table.shown.len();
    let n_threads = parallel::n_cpus();
    let step = n_threads
        * match options.graph {
            Some(_) => ROWS_OF_THREAD,
            None => LINES_OF_THREAD,
        };
    for start in (0..n_rows).step_by(step) {
        let rows = start..n_rows.min(start + step);
        for text in parallel::in_parts(rows, n_threads, |mut rows| {
            let mut text = Vec::new();
            rows.try_for_each(|at| write_row(at, &mut text))?;
            io::Result::Ok(text)
        }) {
            out.write_all(&text?)?;
        }
    }
    let has_last_line = options.percent_limit > 0.0 && options.limits_trees;
    if table.left_out.rows > 0 && !options.layout.quiet && !has_last_line {
        let rows = table.left_out.counted(options);
        let share = Share::of(table.left_out.weight, table.totals.weight);
        writeln!(out, "#\n# {rows}, {share}%")?;
    }
    if !options.layout.quiet {
        write_slots(table, out)?;
    }
    writeln!(out)?;
    writeln!(out)?;
    Ok(lines.advice())
}

/// Writes which slots of time have no rows, if rows are by time.
fn write_slots(table: &Table<'_>, out: &mut impl Write) -> io::Result<()> {
    let lines = slots::lines(table);
    if !lines.is_empty() {
        writeln!(out, "#")?;
    }
    let fit = table.options.layout.fit;
    let mut lines = lines.iter().flat_map(|line| comment_lines(line, fit));
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// Writes the tree below a row, if there are trees.
fn write_tree_of(
    table: &Table<'_>,
    row: &Row,
    lines: &TreeLines,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(graph) = table.options.graph else {
        return Ok(());
    };
    match table.options.layout.fit {
        None => write_tree(table, row, graph, lines, out),
        Some(fit) => {
            let mut tree = Vec::new();
            write_tree(table, row, graph, lines, &mut tree)?;
            write_fitted(&tree, fit, out)
        }
    }
}

/// Writes a tree whose names are cut to fit.
fn write_fitted(tree: &[u8], fit: Fit, out: &mut impl Write) -> io::Result<()> {
    // A drawing is made of strings.
    let tree = std::str::from_utf8(tree).map_err(io::Error::other)?;
    for line in tree.lines() {
        let (drawing, name) = split_tree_line(line);
        writeln!(out, "{drawing}{}", fit.name(name, width(drawing)))?;
    }
    Ok(())
}

/// How wide each column is.
fn widths_of(table: &Table<'_>) -> Vec<usize> {
    let columns = table.columns();
    let layout = &table.options.layout;
    let is_narrow = gap(layout.fit).len() == 1 && table.set.others.is_empty();
    let widths = columns.iter().enumerate().map(|(at, &field)| {
        let is_last = at + 1 == columns.len();
        if let Some(&fixed) = layout.widths.get(at).filter(|&&fixed| fixed > 0) {
            // Numbers are never cut.
            let least = match field {
                Field::Sum(_) => width(table.heading(field)).max(others_width(table, field)),
                Field::Key(_) => 0,
            };
            return (fixed.max(least), Gives::Nothing);
        }
        let widest = match field {
            Field::Sum(_) => {
                let least = field.min_width() + others_width(table, field);
                // A share takes a column less than its heading's usual width.
                least.saturating_sub(usize::from(is_narrow))
            }
            Field::Key(_) if is_last && layout.is_open() => LAST_COLUMN,
            Field::Key(_) => {
                let cells = table
                    .shown
                    .iter()
                    .map(|shown| width(&table.cell(field, &shown.row, 0)));
                cells.max().unwrap_or(0)
            }
        };
        (
            widest.max(width(table.heading(field))),
            match field {
                Field::Sum(Sum::Samples | Sum::Period) => Gives::Whole,
                Field::Sum(_) => Gives::Nothing,
                Field::Key(SortKey::Symbol) => Gives::Name,
                Field::Key(_) => Gives::All,
            },
        )
    });
    let mut widths: Vec<(usize, Gives)> = widths.collect();
    if let Some(fit) = layout.fit {
        shrunk(&mut widths, fit);
    }
    widths.into_iter().map(|(columns, _)| columns).collect()
}

/// What the sums of a group take beside those of its leader.
pub(super) fn others_width(table: &Table<'_>, field: Field) -> usize {
    field.min_width() * table.set.others.len()
}

/// Headings and dots.
fn write_heading(table: &Table<'_>, widths: &[usize], out: &mut impl Write) -> io::Result<()> {
    if let Some(separator) = &table.options.layout.separator {
        return separated::write_heading(table, separator, widths, out);
    }
    let layout = &table.options.layout;
    let is_hidden = |columns: usize| columns == 0 && layout.fit.is_some();
    let headings = table.columns().iter().zip(widths);
    let (hidden, headings): (Vec<_>, Vec<_>) = headings.partition(|&(_, &width)| is_hidden(width));
    if !hidden.is_empty() {
        let hidden = hidden
            .iter()
            .map(|&(&field, _)| table.heading(field).trim());
        let hidden = hidden.collect::<Vec<_>>().join(", ");
        for line in comment_lines(&format!("No room for: {hidden}"), layout.fit) {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "# (--full-names shows all)\n#")?;
    }
    let gap = gap(layout.fit);
    let headings = headings.into_iter();
    let titles = headings
        .clone()
        .map(|(&field, &columns)| placed(&start(table.heading(field), columns), columns, field));
    let titles: Vec<String> = titles.collect();
    let dots: Vec<String> = headings.map(|(_, &columns)| ".".repeat(columns)).collect();
    writeln!(out, "# {}", titles.join(gap).trim_end())?;
    writeln!(out, "# {}", dots.join(gap))?;
    writeln!(out, "#")
}

fn write_row(
    table: &Table<'_>,
    row: &JoinedRow,
    widths: &[usize],
    out: &mut impl Write,
) -> io::Result<()> {
    let columns = table.columns();
    let mut line = String::with_capacity(128);
    let layout = &table.options.layout;
    let gap = gap(layout.fit);
    let is_hidden = |columns: usize| columns == 0 && layout.fit.is_some();
    let last = widths.iter().rposition(|&columns| !is_hidden(columns));
    for (at, (&field, &columns_of)) in columns.iter().zip(widths).enumerate() {
        let is_last = Some(at) == last;
        if is_hidden(columns_of) {
            continue;
        }
        let gap = if line.is_empty() { "  " } else { gap };
        line += gap;
        if let Field::Sum(_) = field {
            push_sums(table, field, row, columns_of, &mut line);
            continue;
        }
        let cell = table.cell(field, row, 0);
        let cell = cut(&cell, layout, at, columns_of);
        let cell = if is_last {
            cell.into_owned()
        } else {
            placed(&cell, columns_of, field)
        };
        line += &cell;
    }
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// Appends what a column says of each event.
pub(super) fn push_sums(
    table: &Table<'_>,
    field: Field,
    row: &JoinedRow,
    columns: usize,
    line: &mut String,
) {
    let first = columns.saturating_sub(others_width(table, field));
    for event in table.events_of(field) {
        let columns = if event == 0 { first } else { field.min_width() };
        let cell = placed(&table.cell(field, row, event), columns, field);
        match table.value(field, row, event) {
            FieldValue::Share(share) if table.options.colors => *line += &colored(&cell, share),
            _ => *line += &cell,
        }
    }
}

/// A cell that fits: into the width that was asked for, or into what the screen has.
fn cut<'t>(cell: &'t str, layout: &Layout, at: usize, columns: usize) -> Cow<'t, str> {
    match (layout.widths.get(at), layout.fit) {
        (Some(&fixed), _) if fixed > 0 => start(cell, fixed),
        (_, Some(fit)) => fit.cut(cell, columns),
        (_, None) => cell.into(),
    }
}

/// A text in its column, at the side where its field's cells stand.
pub(super) fn placed(text: &str, columns: usize, field: Field) -> String {
    if field.is_right() {
        at_right(text, columns)
    } else {
        padded(text, columns)
    }
}
