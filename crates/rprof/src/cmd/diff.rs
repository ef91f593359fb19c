//! `rprof diff`.

use super::diff_trees::DiffTrees;
use super::reading::{open_file, progress};
use crate::args::{DiffArgs, DiffFormat, PercentageOf};
use crate::say;
use crate::screen::PagerArgs;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_analysis::{GroupBy, Options, SortMode, WantedPositions, load_run};
use rprof_base::Counted;
use rprof_diff::{
    CompareOptions, Comparison, Condition, DiffLayout, DiffShare, GateOutcome, GateResult,
    NameMatching, NamedRun, OneSided, Recordings, RowOrder, Subject, compare, workflow_commands,
    write_diff, write_diff_csv, write_diff_json, write_diff_markdown,
};
use rprof_perfdata::Reader;
use rprof_profile::NodeKey;
use rprof_profile::view::SortKey;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Blocks of time, where there is one recording a side.
const BLOCKS: u32 = 64;

/// Time steps of the sort key `time`, nanoseconds: as long as those of `rprof report`.
const TIME_QUANTUM_NS: u64 = 100_000_000;

pub(crate) fn run(args: &DiffArgs, paging: PagerArgs) -> Result<ExitCode> {
    let (before, after) = args.sides(std::env::args_os()).map_err(usage)?;
    let n_blocks = match (before.len(), after.len()) {
        (1, 1) => BLOCKS,
        _ => 1,
    };
    let trees = DiffTrees::load(args, (&before, &after))?;
    let load_all = |paths: &[PathBuf]| -> Result<Vec<NamedRun>> {
        let runs = paths.iter().map(|path| load(args, path, n_blocks));
        runs.collect()
    };
    let recordings = Recordings {
        before: load_all(&before)?,
        after: load_all(&after)?,
    };
    let comparison = compare(&recordings, &options(args))?;
    let layout = layout(args);
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
    Ok(code_of(&comparison, args.format))
}

/// Says which conditions are true: 1 if there is one. On a terminal their sentences are already there.
fn code_of(comparison: &Comparison, format: DiffFormat) -> ExitCode {
    let gates = comparison.gates.iter();
    let fired: Vec<&GateResult> = gates
        .filter(|gate| gate.outcome == GateOutcome::Fired)
        .collect();
    if fired.is_empty() {
        return ExitCode::SUCCESS;
    }
    match format == DiffFormat::Text && stdout().is_terminal() {
        true => say::line(format_args!(
            "error: --fail-if: {} of {} true",
            fired.len(),
            Counted::new(
                comparison.gates.len() as u64,
                "condition is",
                "conditions are"
            )
        )),
        false => fired
            .iter()
            .for_each(|gate| say::line(format_args!("error: --fail-if {}", gate.sentence()))),
    }
    ExitCode::FAILURE
}

/// Counts a recording.
fn load(args: &DiffArgs, path: &Path, n_blocks: u32) -> Result<NamedRun> {
    let reader = open_file(path, args.limits)?;
    let mut progress = progress(&reader);
    let name = path.display().to_string();
    let run = load_run(&reader, &reading(args, &reader), n_blocks, &mut |share| {
        progress.show(share);
    });
    let run = run.with_context(|| format!("reading {name}"))?;
    for warning in &run.warnings {
        say::warning(format_args!("{name}: {warning}"));
    }
    Ok(NamedRun { name, run })
}

/// How recordings are read.
pub(super) fn reading(args: &DiffArgs, reader: &Reader) -> Options {
    let keys = args.keys();
    Options {
        nodes: NodeKey::Function,
        filter: args.filter(),
        stacks: reader.has_call_chains(),
        inlines: !args.no_inline,
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
        matching: match args.exact_names {
            true => NameMatching::Exact,
            false => NameMatching::Similar,
        },
        compute: args.compute,
        order: match args.order {
            0 => RowOrder::Baseline,
            _ => RowOrder::Computed,
        },
        one_sided: match args.baseline_only {
            true => OneSided::Hidden,
            false => OneSided::Shown,
        },
        share: match args.percentage {
            PercentageOf::Absolute => DiffShare::Absolute,
            PercentageOf::Relative => DiffShare::Relative,
        },
        conditions: args.fail_if.clone(),
    }
}

fn layout(args: &DiffArgs) -> DiffLayout {
    DiffLayout {
        compute: args.compute,
        periods: args.period,
        formula: args.formula,
        separator: args.table.field_separator.clone(),
        quiet: args.table.look.quiet,
        colors: args.table.look.stdio_color.is_on(),
        fit: args.table.fit(),
        limit: args.limit,
    }
}
