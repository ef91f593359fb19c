//! `rprof report`.

use super::header;
use super::reading::{open, read, warn};
use crate::args::ReportArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::Options;
use rprof_profile::view::{Order, SortKey};
use rprof_report::{Graph, TableOptions, write_stats, write_table};
use rprof_untrusted::quoted;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// perf's default: branches below it are not drawn.
const GRAPH_THRESHOLD: f64 = 0.5;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let mut table = table_options(args)?;
    let reader = open(args.input.recording.path(), args.input.limits)?;
    let header = header::text(&args.header, &reader);
    if args.header.header_only {
        return header::only(&header);
    }
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
        demangling: args.input.demangling(),
        group_by: SortKey::dimensions(&table.keys),
    };
    let profile = read(&reader, &options)?;
    warn(&profile, &args.input);
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = out
        .write_all(header.as_bytes())
        .and_then(|()| match args.stats {
            true => write_stats(&profile, &mut out),
            false => write_table(&profile, &table, &mut out),
        });
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
    let graph = match &args.graph {
        Some(how) => graph(how, children)?,
        None => graph("", children)?,
    };
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

/// perf's words, in any order: `none`, `graph`, `caller`, `callee`, a threshold.
fn graph(how: &str, children: bool) -> Result<Option<Graph>> {
    let mut graph = Graph {
        order: if children {
            Order::Caller
        } else {
            Order::Callee
        },
        min_percent: GRAPH_THRESHOLD,
    };
    for word in how.split(',').filter(|word| !word.is_empty()) {
        match word {
            "none" => return Ok(None),
            "graph" => {}
            "caller" => graph.order = Order::Caller,
            "callee" => graph.order = Order::Callee,
            number => match number.parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => graph.min_percent = percent,
                _ => {
                    return Err(usage(format_args!(
                        "-g takes none, caller, callee and a threshold in percent, not '{word}'"
                    )));
                }
            },
        }
    }
    Ok(Some(graph))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graph_words_come_in_any_order() {
        let callee = Graph {
            order: Order::Callee,
            min_percent: 2.0,
        };
        assert_eq!(graph("2,callee", true).unwrap(), Some(callee));
        assert_eq!(graph("graph,2,callee", true).unwrap(), Some(callee));
        assert_eq!(graph("none", true).unwrap(), None);
        assert_eq!(graph("", true).unwrap().unwrap().order, Order::Caller);
        assert_eq!(graph("", false).unwrap().unwrap().order, Order::Callee);
        for bad in ["upwards", "-1", "101", "NaN"] {
            assert!(graph(bad, true).is_err(), "{bad}");
        }
    }
}
