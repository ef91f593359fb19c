//! `rprof report`.

use super::answerable;
use super::event::{self, choose, say_which};
use super::header;
use super::idle;
use super::next::{self, Seen};
use super::reading::{ending, warn};
use super::several::OpenedRecordings;
use super::tasks;
use super::trace_fields::TraceFields;
use crate::args::{Form, ModeArgs, Recordings, ReportArgs, ReportFormat};
use crate::say;
use crate::screen::{self, PagerArgs};
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::{GroupBy, Options, SortMode};
use rprof_export::{Folded, Format};
use rprof_perfdata::Reader;
use rprof_profile::view::{Columns, Field, SortKey, Weighing};
use rprof_profile::{Account, Dimension, EventChoice, Profile};
use rprof_report::{
    Graph, Layout, PrintType, TableOptions, write_csv, write_json, write_markdown, write_stats,
    write_table,
};
use std::io;
use std::process::ExitCode;

pub(crate) fn run(args: &ReportArgs, paging: PagerArgs) -> Result<ExitCode> {
    check_form(args)?;
    let folded = args.layout.format == ReportFormat::Folded;
    let weighing = if args.no_children || args.columns.are_of_own_samples() {
        Weighing::Own
    } else {
        Weighing::WithChildren
    };
    let words = args.graph.unwrap_or_default();
    let order = words.order(!args.no_children, args.inverted);
    let graph = words.graph(!args.no_children, args.inverted);
    // Of spans, functions are enough, unless trees are asked for.
    let has_trees = !args.columns.by_span || args.graph.is_some();
    let graph = graph.filter(|_| has_trees && args.layout.format.has_trees());
    let graph = graph.map(|graph| Graph {
        max_lines: args.max_tree_lines,
        // As in perf, one limit for rows and branches, unless -g says another.
        min_percent: match args.percent_limit {
            Some(percent) if !words.has_threshold() => percent,
            _ => graph.min_percent,
        },
        ..graph
    });
    let opened = opened(args, weighing)?;
    check_several(args, &opened.paths)?;
    let reader = &opened.first;
    let pager = args.paging.or(paging).pager();
    let header = header::text(&args.header, reader);
    if args.header.header_only {
        return header::only(&header, &pager);
    }
    if let Some(detail) = args.tasks() {
        return tasks::show(reader, detail, &header, &pager);
    }
    args.fold.check(args.input.filter().account)?;
    args.groups.check(reader)?;
    args.columns.check(reader)?;
    let is_derived = args.input.filter().account != Account::OnCpu;
    let mode = if folded || args.stats || is_derived {
        // Stacks are of samples, and so is time.
        SortMode::Normal
    } else {
        args.mode.mode(reader)?
    };
    let (weighing, graph) = match (mode, reader.has_call_chains()) {
        (SortMode::Normal, true) => (weighing, graph),
        (SortMode::Memory, true) => (Weighing::Own, graph),
        // There is nothing to count beside a row's own samples.
        (_, false) | (SortMode::Branch, true) => (Weighing::Own, None),
    };
    let mut trace_fields = TraceFields::of(reader);
    let table = table_options(args, (mode, weighing), graph, &mut trace_fields)?;
    answerable::check(args, reader, mode, &table.columns)?;
    let has_parents = args.parent.is_asked(&table.columns.keys());
    let mut options = Options {
        nodes: words.nodes(),
        stacks: table.columns.weighing == Weighing::WithChildren
            || table.graph.is_some()
            || has_parents
            || args.fold.is_asked()
            || args.keep.is_filter()
            || args.stats
            || folded,
        callers_from: callers_from(args, &table)
            .filter(|_| mode == SortMode::Normal && !has_parents),
        self_time: args.self_time.self_time(),
        demangling: args.fold.demangling(args.input.demangling()),
        mode,
        positions: args.columns.positions(&table.columns),
        group_by: GroupBy {
            dimensions: args.fold.dimensions(table.columns.dimensions()),
            time_quantum_ns: args.columns.time_quantum,
            trace_fields: trace_fields.found,
            ..GroupBy::default()
        },
        ..args.input.options(reader)
    };
    options.filter.events = events_shown(args, reader);
    let mut profile: Profile = opened.read(&options)?;
    let separates = |key: &Dimension| matches!(key, Dimension::Recording | Dimension::Machine);
    if opened.count() > 1 && !args.stats && !options.group_by.dimensions.iter().any(separates) {
        say::line(format_args!(
            "{} recordings as one profile: -s recording or -s machine separates them",
            opened.count()
        ));
    }
    warn(&profile, reader, &args.input);
    let unused = args.groups.unused(&profile);
    unused.into_iter().for_each(say::warning);
    if has_parents {
        let nothing = args.parent.apply(&mut profile, order);
        nothing.into_iter().for_each(say::warning);
    }
    args.keep.apply(&mut profile).iter().for_each(say::warning);
    args.fold.apply(&mut profile);
    pager.write(|mut out| {
        let written = out.write_all(header.as_bytes());
        let written = written.and_then(|()| match args.layout.format {
            _ if args.stats => write_stats(&profile, &mut out),
            ReportFormat::Text => write_table(&profile, &table, &mut out),
            ReportFormat::Csv => write_csv(&profile, &table, &mut out),
            ReportFormat::Json => write_json(&profile, &table, &mut out),
            ReportFormat::Markdown => write_markdown(&profile, &table, &mut out),
            ReportFormat::Folded => write_folded(&profile, &mut out),
        });
        written.context("writing the report")
    })?;
    // Rows of groups alone may have been counted without functions.
    let is_of_functions = table.columns.weighing == Weighing::Own
        && mode == SortMode::Normal
        && options.callers_from.is_none();
    let is_text = args.layout.format == ReportFormat::Text;
    let seen = if is_derived && is_text && !args.stats && !says_waits(&table.columns) {
        Seen::Waits(options.filter.account)
    } else if is_of_functions && is_text && !args.stats {
        Seen::OwnSamples
    } else if is_text && screen::has_interface() {
        Seen::Screen
    } else {
        Seen::Report
    };
    match idle::hint(&profile).filter(|_| !table.is_filtered) {
        Some(hint) => say::line(hint),
        None => next::suggest(seen, &profile, &opened.paths, table.is_filtered),
    }
    Ok(ending(args.strict, &profile))
}

/// Whether rows say what threads do or wait for.
fn says_waits(columns: &Columns) -> bool {
    let mut dimensions = columns.dimensions().into_iter();
    dimensions.any(Dimension::is_of_account)
}

/// The events that are shown. Says which ones are not, though users did not choose. Programs that read output get all.
fn events_shown(args: &ReportArgs, reader: &Reader) -> EventChoice {
    let is_for_people = matches!(
        args.layout.format,
        ReportFormat::Text | ReportFormat::Markdown | ReportFormat::Folded
    );
    match &args.event {
        Some(name) => EventChoice::Named(name.clone()),
        None if args.stats || !is_for_people => EventChoice::All,
        None => {
            if args.input.filter().account == Account::OnCpu {
                event::say_bookkeeping(reader);
            }
            EventChoice::Asked
        }
    }
}

/// From which percentage on a row shows callers, if rows are those of groups, whatever their functions, and are many.
fn callers_from(args: &ReportArgs, table: &TableOptions) -> Option<f64> {
    let columns = &table.columns;
    let is_of_group = |key: &SortKey| {
        use Dimension::{Cpu, Pid, Socket, Tid, Time};
        matches!(
            key,
            SortKey::Comm | SortKey::Dimension(Cpu | Pid | Socket | Tid | Time)
        )
    };
    let has_levels = table.hierarchy || table.spans || columns.has_latency();
    let filter = args.input.filter();
    let is_of_functions = filter.has_functions() || filter.hide_unresolved;
    let is_other_form = args.stats || args.fold.is_asked() || args.keep.is_filter();
    if has_levels || is_of_functions || is_other_form || !columns.keys().iter().all(is_of_group) {
        return None;
    }
    let has_times = columns.dimensions().contains(&Dimension::Time);
    match (args.layout.format, table.graph) {
        _ if !has_times => None,
        (ReportFormat::Json | ReportFormat::Folded, _) => None,
        (_, None) => Some(f64::INFINITY),
        (_, Some(graph)) if graph.print == PrintType::Fractal => None,
        (_, Some(graph)) => Some(graph.min_percent),
    }
}

/// Opens the recordings.
fn opened(args: &ReportArgs, weighing: Weighing) -> Result<OpenedRecordings<'_>> {
    let opened =
        OpenedRecordings::open(&args.input.recordings, &args.input.samples).map_err(|error| {
            // Words that no recording could know are said first.
            let columns =
                args.columns
                    .columns((SortKey::DEFAULT, args.parent.key()), weighing, &mut |_| {
                        Vec::new()
                    });
            columns.err().unwrap_or(error)
        })?;
    if let Some(event) = &args.event
        && opened.count() == 1
    {
        let account = args.input.filter().account;
        event::check(&opened.first, account, event)?;
    }
    Ok(opened)
}

/// Refuses several recordings where one is described.
fn check_several(args: &ReportArgs, paths: &Recordings) -> Result<()> {
    let what = match args.tasks() {
        Some(_) => "--tasks or --mmaps",
        None if args.header.is_shown() => "--header",
        None => return Ok(()),
    };
    paths.only(what).map(drop)
}

/// Refuses what a form does not have.
fn check_form(args: &ReportArgs) -> Result<()> {
    let format = args.layout.format;
    let form = match (args.stats, args.tasks()) {
        (_, Some(_)) if !args.input.filter().accepts_all() => {
            return Err(usage(
                "filters apply to samples: --tasks and --mmaps show all tasks",
            ));
        }
        (_, Some(_)) => Form::Tasks,
        (true, None) if format != ReportFormat::Text => {
            return Err(usage(
                "--stats prints text: leave out --format, or use rprof info --json",
            ));
        }
        (true, None) => Form::Stats,
        (false, None) => Form::Format(format),
    };
    args.given.check(form)
}

/// The same lines as `rprof flame --folded`.
fn write_folded(profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
    let event = choose(profile, None).ok().flatten().unwrap_or(0);
    if let Some(shown) = profile.events.get(event) {
        say_which(profile, shown, "rprof flame --folded -e prints another");
    }
    Folded { event }.write(profile, out)
}

/// Refuses sums of what rows called where that is not counted.
fn check_children(args: &ReportArgs, fields: &[Field]) -> Result<()> {
    let is_of_own_code = |field: &&Field| match field {
        Field::Key(SortKey::Dimension(one)) => one.is_of_own_code(),
        _ => false,
    };
    let of_own_code = fields.iter().find(is_of_own_code);
    let flag = match of_own_code {
        _ if args.no_children => Some("--no-children"),
        _ if args.columns.by_span => Some("--by-span"),
        _ if args.columns.hierarchy => Some("--hierarchy"),
        key => key.map(|key| key.name()),
    };
    let is_of_children = |field: &&Field| matches!(field, Field::Sum(sum) if sum.is_of_children());
    match (fields.iter().find(is_of_children), flag) {
        (Some(sum), Some(flag)) => {
            let name = sum.name();
            Err(usage(format_args!(
                "{name} includes callees, but {flag} counts only own samples: leave out {flag} or {name}"
            )))
        }
        _ => Ok(()),
    }
}

/// Whether long text with trees is limited: not what programs read, and not what users have limited.
fn limits_trees(args: &ReportArgs) -> bool {
    let table = &args.layout.table;
    let is_text = args.layout.format == ReportFormat::Text && table.field_separator.is_none();
    let is_limited = args.percent_limit.is_some()
        || args.layout.limit.is_some()
        || args.max_tree_lines != Graph::DEFAULT.max_lines
        || args.graph.unwrap_or_default().has_threshold();
    is_text && !is_limited && !table.look.quiet
}

fn table_options(
    args: &ReportArgs,
    (mode, weighing): (SortMode, Weighing),
    graph: Option<Graph>,
    trace_fields: &mut TraceFields<'_>,
) -> Result<TableOptions> {
    let reader = trace_fields.reader();
    let default = ModeArgs::default_keys(reader, mode);
    let recorded = &mut |word: &str| trace_fields.fields(word);
    let mut columns = args
        .columns
        .columns((&default, args.parent.key()), weighing, recorded)?;
    ModeArgs::check(reader, mode, &columns)?;
    columns.trace_fields = match args.layout.format {
        // Headings as perf's.
        ReportFormat::Text => trace_fields
            .found
            .iter()
            .map(|field| field.name.clone())
            .collect(),
        _ => trace_fields.names(),
    };
    let filter = args.input.filter();
    check_children(args, &columns.order)?;
    Ok(TableOptions {
        columns,
        hierarchy: args.columns.has_levels(),
        spans: args.columns.by_span,
        events: args.groups.tables(),
        graph,
        percent_limit: args.percent_limit.unwrap_or(0.0),
        limits_trees: limits_trees(args),
        is_filtered: !filter.accepts_all() || args.parent.is_filter() || args.keep.is_filter(),
        percentage: args.percentage,
        time_slices: filter.times.map(|times| times.text().to_owned()),
        colors: args.layout.table.look.stdio_color.is_on(),
        layout: Layout {
            limit: args.layout.limit(),
            fit: args.layout.table.fit(),
            widths: args.layout.column_widths.clone(),
            separator: args.layout.table.field_separator.clone(),
            quiet: args.layout.table.look.quiet,
        },
    })
}
