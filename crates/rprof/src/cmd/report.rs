//! `rprof report`.

use super::reading::{open, read, warn};
use crate::args::ReportArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::Options;
use rprof_profile::view::SortKey;
use rprof_report::{Graph, TableOptions, write_stats, write_table};
use rprof_untrusted::quoted;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let mut table = table_options(args)?;
    let reader = open(args.input.recording.path(), args.input.limits)?;
    if !reader.has_call_chains() {
        // There is nothing to count beside a row's own samples.
        (table.children, table.graph) = (false, None);
    }
    let options = Options {
        filter: args.input.filter(),
        stacks: table.children || table.graph.is_some() || args.stats,
        inlines: !args.input.no_inline,
        fde: !args.fde.no_fde,
        locator: args.input.locator(&reader),
        demangling: args.fold.demangling(args.input.demangling()),
        group_by: SortKey::dimensions(&table.keys),
    };
    let mut profile = read(&reader, &options)?;
    profile.fold(&args.fold.fold);
    warn(&profile, &args.input);
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = match args.stats {
        true => write_stats(&profile, &mut out),
        false => write_table(&profile, &table, &mut out),
    };
    written
        .and_then(|()| out.flush())
        .context("writing the report")?;
    let recording = &args.input.recording;
    match recording.path().to_str() {
        _ if recording.is_default() => say::next("rprof flame > flame.svg"),
        // What came through a pipe is gone.
        Some("-") => {}
        _ => {
            let input = quoted(recording.path().as_os_str());
            say::next(format_args!("rprof flame -i {input} > flame.svg"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table_options(args: &ReportArgs) -> Result<TableOptions> {
    let children = !args.no_children;
    let words = args.graph.unwrap_or_default();
    let graph = words.graph(children, args.inverted).map(|graph| Graph {
        max_lines: args.max_tree_lines,
        ..graph
    });
    let mut keys = Vec::new();
    for name in &args.sort {
        let Some(key) = SortKey::parse(name) else {
            let known: Vec<&str> = SortKey::all().map(SortKey::name).collect();
            let known = known.join(", ");
            let why = format_args!("unknown sort key '{name}'; known are {known}");
            return Err(usage(why));
        };
        keys.push(key);
    }
    if keys.is_empty() {
        keys = SortKey::DEFAULT.to_vec();
    }
    Ok(TableOptions {
        keys,
        children,
        graph,
        percent_limit: args.percent_limit,
        is_filtered: !args.input.filter().accepts_all(),
        show_samples: args.show_nr_samples,
        colors: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    })
}
