//! Refuses what is asked of a recording, or of a mode, that has no answer.

use crate::args::ReportArgs;
use crate::usage::usage;
use anyhow::Result;
use rprof_analysis::SortMode;
use rprof_perfdata::Reader;
use rprof_profile::Dimension;
use rprof_profile::view::{Columns, SortKey};

/// Refuses columns, call trees and parents that would be empty, or of something else.
pub(super) fn check(
    args: &ReportArgs,
    reader: &Reader,
    mode: SortMode,
    columns: &Columns,
) -> Result<()> {
    let keys = columns.keys();
    let has_parents = keys.contains(&SortKey::Dimension(Dimension::Parent));
    if args.children && (mode != SortMode::Normal || args.columns.are_of_own_samples()) {
        return Err(usage(
            "--children needs callers: rows of branches, memory accesses, addr, dso_size, symbol_size, symbol_start \
             and symoff count only their own samples",
        ));
    }
    check_callers(args, reader, mode, has_parents)
}

/// Refuses what is of callers where none were recorded, or are not looked at.
fn check_callers(
    args: &ReportArgs,
    reader: &Reader,
    mode: SortMode,
    has_parents: bool,
) -> Result<()> {
    let has_trees = args.graph.is_some_and(|words| !words.is_none());
    let asked = [
        (args.parent.key().is_some(), "-p"),
        (args.parent.is_filter(), "-x"),
        (has_parents, "-s parent"),
        (has_trees, "-g"),
    ];
    let Some((_, flag)) = asked.into_iter().find(|(is_asked, _)| *is_asked) else {
        return Ok(());
    };
    match mode {
        _ if !reader.has_call_chains() => Err(usage(format_args!(
            "{flag} needs callers, but the recording has no call chains: record with rprof record -g"
        ))),
        SortMode::Branch => Err(usage(format_args!(
            "{flag} needs the callers of samples, but branches are counted: use --no-branch-stack to count samples"
        ))),
        SortMode::Normal | SortMode::Memory => Ok(()),
    }
}
