//! `rprof report`.

use super::reading::{open, read, warn};
use super::trace_fields::TraceFields;
use crate::args::ReportArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::{GroupBy, Options};
use rprof_profile::view::{Field, Order, SortKey, Sum, Weighing};
use rprof_report::{Graph, TableOptions, write_stats, write_table};
use rprof_untrusted::quoted;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// perf's default: branches below it are not drawn.
const GRAPH_THRESHOLD: f64 = 0.5;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let weighing = match args.no_children {
        true => Weighing::Own,
        false => Weighing::WithChildren,
    };
    let graph = graph(args.graph.as_deref().unwrap_or_default(), weighing)?;
    let reader = open(args.input.recording.path(), args.input.limits);
    let reader = reader.map_err(|error| {
        // Words that no recording could know are said first.
        let columns = args.columns.columns(weighing, &mut |_| Vec::new());
        columns.err().unwrap_or(error)
    })?;
    let (weighing, graph) = match reader.has_call_chains() {
        true => (weighing, graph),
        // There is nothing to count beside a row's own samples.
        false => (Weighing::Own, None),
    };
    let mut trace_fields = TraceFields::of(&reader);
    let table = table_options(args, weighing, graph, &mut trace_fields)?;
    let options = Options {
        filter: args.input.filter(),
        stacks: table.columns.weighing == Weighing::WithChildren
            || table.graph.is_some()
            || args.stats,
        inlines: !args.input.no_inline,
        fde: !args.fde.no_fde,
        locator: args.input.locator(&reader),
        demangling: args.input.demangling(),
        positions: args.columns.positions(&table.columns),
        group_by: GroupBy {
            dimensions: SortKey::dimensions(&table.columns.keys()),
            time_quantum_ns: args.columns.time_quantum,
            trace_fields: trace_fields.found,
        },
    };
    let profile = read(&reader, &options)?;
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

fn table_options(
    args: &ReportArgs,
    weighing: Weighing,
    graph: Option<Graph>,
    trace_fields: &mut TraceFields<'_>,
) -> Result<TableOptions> {
    let recorded = &mut |word: &str| trace_fields.fields(word);
    let mut columns = args.columns.columns(weighing, recorded)?;
    let names = trace_fields.found.iter().map(|field| field.name.clone());
    columns.trace_fields = names.collect();
    let has_children = columns.shown.contains(&Field::Sum(Sum::OverheadChildren));
    if has_children && args.no_children {
        return Err(usage(
            "overhead_children needs what --no-children leaves out",
        ));
    }
    Ok(TableOptions {
        columns,
        graph,
        percent_limit: args.percent_limit,
        is_filtered: !args.input.filter().accepts_all(),
        colors: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    })
}

/// perf's words, in any order: `none`, `graph`, `caller`, `callee`, a threshold.
fn graph(how: &str, weighing: Weighing) -> Result<Option<Graph>> {
    let mut graph = Graph {
        order: match weighing {
            Weighing::WithChildren => Order::Caller,
            Weighing::Own => Order::Callee,
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
        assert_eq!(
            graph("2,callee", Weighing::WithChildren).unwrap(),
            Some(callee)
        );
        assert_eq!(
            graph("graph,2,callee", Weighing::WithChildren).unwrap(),
            Some(callee)
        );
        assert_eq!(graph("none", Weighing::WithChildren).unwrap(), None);
        assert_eq!(
            graph("", Weighing::WithChildren).unwrap().unwrap().order,
            Order::Caller
        );
        assert_eq!(
            graph("", Weighing::Own).unwrap().unwrap().order,
            Order::Callee
        );
        for bad in ["upwards", "-1", "101", "NaN"] {
            assert!(graph(bad, Weighing::WithChildren).is_err(), "{bad}");
        }
    }
}
