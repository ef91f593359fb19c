//! `rprof report`.

use crate::args::{InputArgs, LimitArgs, ReportArgs};
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::{Options, load};
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use rprof_profile::view::{Order, SortKey};
use rprof_report::{Graph, TableOptions, write_stats, write_table};
use rprof_untrusted::quoted;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// perf's default: branches below it are not drawn.
const GRAPH_THRESHOLD: f64 = 0.5;

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
        locator: args.input.locator(&reader),
        demangling: args.input.demangling(),
        group_by: SortKey::dimensions(&table.keys),
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

/// Loads the recording, and shows how far it is.
pub(crate) fn read(reader: &Reader, options: &Options) -> Result<Profile> {
    let mut progress = say::Progress::new();
    Ok(load(reader, options, &mut |share| {
        progress.show("reading", share)
    })?)
}

/// Opens the recording, with the way out for newcomers.
pub(crate) fn open(path: &Path, limits: LimitArgs) -> Result<Reader> {
    let reader = Reader::open_allowing(path, limits.allowed());
    match &reader {
        Err(rprof_perfdata::Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
            reader.context("no recording (rprof record -- COMMAND makes one; -i - reads a pipe)")
        }
        _ => Ok(reader?),
    }
}

/// Says what could not be used, and why a result may be empty.
pub(crate) fn warn(profile: &Profile, input: &InputArgs) {
    let mut trees = profile.events.iter().map(|event| &event.tree);
    let shown = trees.any(|tree| !tree.nodes().is_empty());
    warn_of(profile, input, shown);
}

/// The same of a profile of which something is shown, or nothing.
pub(crate) fn warn_of(profile: &Profile, input: &InputArgs, shown: bool) {
    profile.warnings.iter().for_each(say::warning);
    let samples: u64 = profile.events.iter().map(|event| event.samples).sum();
    if samples == 0 && input.filter().accepts_all() {
        let path = input.recording.path().display();
        say::warning(format_args!("no samples in {path}"));
    } else if !shown {
        say::warning("no samples match the filter");
    }
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
