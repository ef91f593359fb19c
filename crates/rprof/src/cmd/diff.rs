//! `rprof diff`.

use super::diff_each;
use super::diff_load;
use super::diff_trees::DiffTrees;
use super::reading::open;
use super::speeds::usual_per;
use crate::args::{DiffArgs, DiffFormat};
use crate::say;
use crate::screen::PagerArgs;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::{CodeOptions, CodeRecording, GroupBy, Options, SortMode, WantedPositions};
use rprof_base::Counted;
use rprof_diff::{
    CompareOptions, Condition, DiffError, DiffLayout, GateOutcome, GateResult, NameMatching,
    OneSided, Per, Subject, compare, compare_each, workflow_commands, write_diff, write_diff_csv,
    write_diff_json, write_diff_markdown,
};
use rprof_perfdata::Reader;
use rprof_profile::difference::Side;
use rprof_profile::view::SortKey;
use rprof_profile::{EventChoice, Filter, NodeKey};
use rprof_untrusted::printable;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Time steps of the sort key `time`, nanoseconds: as long as those of `rprof report`.
const TIME_QUANTUM_NS: u64 = 100_000_000;

pub(crate) fn run(args: &DiffArgs, paging: PagerArgs) -> Result<ExitCode> {
    let (before, after) = args.sides(std::env::args_os()).map_err(usage)?;
    check_conditions(args)?;
    let trees = DiffTrees::load(args, &before, &after)?;
    let recordings = diff_load::load(args, &before, &after)?;
    let usual_per = match usual_per(args, &before, &after)? {
        // Times differ in their length.
        None if args.has_two_times() => Some(Per::Time),
        usual => usual,
    };
    let paths = before.iter().chain(&after);
    let layout = layout(args);
    if args.each {
        let each = |options: &CompareOptions| compare_each(&recordings, options);
        let compared = compared(args, usual_per, each, paths)?;
        return diff_each::write(args, &compared, &layout, paging);
    }
    let both = |options: &CompareOptions| compare(&recordings, options);
    let comparison = compared(args, usual_per, both, paths)?;
    let trees = trees.map(|trees| trees.texts(&comparison, &layout));
    let trees = trees.transpose()?.unwrap_or_default();
    let pager = args.paging.or(paging).pager();
    pager.write(|out| {
        let out = &mut &mut *out as &mut dyn Write;
        let written = match args.format {
            DiffFormat::Text => write_diff(&comparison, &layout, out),
            DiffFormat::Csv => write_diff_csv(&comparison, &layout, out),
            DiffFormat::Json => write_diff_json(&comparison, &layout, out),
            DiffFormat::Markdown | DiffFormat::Github => {
                write_diff_markdown(&comparison, &layout, out)
            }
        };
        let written = written.and_then(|()| out.write_all(&trees));
        written.context("writing the differences")
    })?;
    if args.format == DiffFormat::Github {
        say::block(&workflow_commands(&comparison));
    }
    Ok(code_of(&comparison.gates, args.format))
}

/// Conditions of what functions called need stacks.
fn check_conditions(args: &DiffArgs) -> Result<()> {
    let is_of_children = |condition: &&Condition| matches!(condition.subject, Subject::Children(_));
    match args.fail_if.iter().find(is_of_children) {
        Some(condition) if args.no_children => Err(usage(format_args!(
            "--fail-if '{}' needs callees, which --no-children omits: use sym:NAME for own samples",
            printable(&condition.text)
        ))),
        _ => Ok(()),
    }
}

/// Compares them. A condition may be of a function without samples: programs know whether there is one.
fn compared<'p, C>(
    args: &DiffArgs,
    usual_per: Option<Per>,
    compare: impl Fn(&CompareOptions) -> Result<C, DiffError>,
    paths: impl Iterator<Item = &'p PathBuf> + Clone,
) -> Result<C> {
    let mut options = options(args);
    options.per = options.per.or(usual_per);
    loop {
        match compare(&options) {
            Err(DiffError::UnknownName {
                name,
                is_function: true,
                ..
            }) if !options.known_functions.contains(&name)
                && paths.clone().any(|path| has_function(args, path, &name)) =>
            {
                options.known_functions.push(name);
            }
            comparison => return Ok(comparison?),
        }
    }
}

/// Whether a program of a recording has a function.
fn has_function(args: &DiffArgs, path: &Path, name: &str) -> bool {
    let Ok(reader) = open(path, args.limits) else {
        return false;
    };
    let locator = args.sources.locator(reader.budget());
    let options = CodeOptions {
        demangling: args.demangle,
        ..CodeOptions::default()
    };
    let recording = CodeRecording::open(&reader, &locator, options, &mut |_| {});
    recording.is_ok_and(|recording| recording.has_function(name))
}

/// Says which conditions are true: 1 if there is one. On a terminal their sentences are already there.
pub(super) fn code_of(gates: &[GateResult], format: DiffFormat) -> ExitCode {
    let fired: Vec<&GateResult> = gates
        .iter()
        .filter(|gate| gate.outcome == GateOutcome::Fired)
        .collect();
    if fired.is_empty() {
        return ExitCode::SUCCESS;
    }
    if format == DiffFormat::Text && stdout().is_terminal() {
        say::line(format_args!(
            "error: --fail-if: {} of {} true",
            fired.len(),
            Counted::new(gates.len() as u64, "condition is", "conditions are")
        ))
    } else {
        fired
            .iter()
            .for_each(|gate| say::line(format_args!("error: --fail-if {}", gate.sentence())))
    }
    ExitCode::FAILURE
}

/// How recordings of a side are read.
pub(super) fn reading(args: &DiffArgs, reader: &Reader, side: Side) -> Options {
    let keys = args.keys();
    Options {
        nodes: NodeKey::Function,
        filter: Filter {
            events: EventChoice::Asked,
            ..args.filter_of(side)
        },
        stacks: reader.has_call_chains() && !args.no_children,
        inlines: !args.no_inline,
        self_time: args.self_time.self_time(),
        fde: !args.fde.no_fde,
        locator: args.sources.locator(reader.budget()),
        demangling: args.demangle,
        mode: SortMode::Normal,
        positions: WantedPositions {
            in_rows: keys.iter().any(|key| key.is_of_lines()),
            ..WantedPositions::default()
        },
        group_by: GroupBy {
            names: keys.contains(&SortKey::Comm) || args.fail_if.iter().any(is_of_comms),
            dimensions: SortKey::dimensions(&keys),
            time_quantum_ns: TIME_QUANTUM_NS,
            trace_fields: Vec::new(),
        },
        ..Options::default()
    }
}

fn is_of_comms(condition: &Condition) -> bool {
    matches!(condition.subject, Subject::Row(SortKey::Comm, _))
}

fn options(args: &DiffArgs) -> CompareOptions {
    CompareOptions {
        keys: args.keys(),
        per: args.per.clone(),
        alpha: args.alpha,
        matching: if args.exact_names {
            NameMatching::Exact
        } else {
            NameMatching::Similar
        },
        compute: args.compute(),
        order: args.order(),
        one_sided: if args.baseline_only {
            OneSided::Hidden
        } else {
            OneSided::Shown
        },
        share: args.percentage,
        conditions: args.fail_if.clone(),
        known_functions: Vec::new(),
        n_comparisons: 1,
    }
}

fn layout(args: &DiffArgs) -> DiffLayout {
    DiffLayout {
        compute: args.compute(),
        periods: args.period,
        formula: args.formula,
        separator: args.table.field_separator.clone(),
        quiet: args.table.look.quiet,
        colors: args.table.look.stdio_color.is_on(),
        is_interactive: false,
        fit: args.table.fit(),
        limit: args.limit,
        least: args.least_share(),
    }
}
