//! The arguments of `record`: one file for each group of the help text.

mod call_chains;
mod call_graph;
mod cgroups;
mod compat;
mod cost;
mod events;
mod fields;
mod files;
mod filters;
pub(super) mod numbers;
mod output;
mod parts;
mod targets;
#[cfg(test)]
mod tests;
mod timing;

pub(crate) use call_chains::CallChainArgs;
pub(crate) use call_graph::CallGraph;
pub(crate) use cgroups::CgroupArgs;
use clap::ArgAction;
use compat::CompatArgs;
pub(crate) use events::EventArgs;
pub(crate) use fields::FieldArgs;
pub(crate) use files::{bytes_with_unit, time_with_unit};
pub(crate) use filters::FilterArgs;
pub(crate) use output::OutputArgs;
pub(crate) use parts::PartArgs;
use rprof_record::Cgroups;
use std::ffi::OsString;
pub(crate) use targets::TargetArgs;
use timing::TimingArgs;
pub(super) use timing::parse_control;

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof record -- make -j8                          a command and its children
  rprof record -F 999 -p 1234 -- sleep 10           a process, for ten seconds
  rprof record -a -- sleep 5                        the whole system
  rprof record -e page-faults -- ./server           what causes page faults
  rprof record -e sched:sched_process_exec -- make  a tracepoint";

fn after_help() -> String {
    let ptrace = "If no event can be opened at all, as in many containers, commands and your own processes are \
                  sampled with ptrace: at 99 Hz unless -F is given, user stacks only. rprof doctor says how to \
                  allow perf events.";
    format!("{ptrace}\n\n{EXAMPLES}")
}

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    after_help = after_help()
)]
pub(crate) struct RecordArgs {
    /// Print only warnings and errors
    #[arg(short = 'q', long, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more; -vv also prints the attr of each opened event
    #[arg(short = 'v', long, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    // Without `allow_hyphen_values`: an unknown flag is an error, not the command.
    /// Command to run, with its arguments: starts at the first word that is not a flag, or after --
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    // Each of these has a heading, which would be that of all that follows.
    // Before the events, which are taken out of what was matched.
    #[command(flatten)]
    pub(crate) filters: FilterArgs,

    #[command(flatten)]
    pub(crate) events: EventArgs,

    #[command(flatten)]
    pub(crate) call_chains: CallChainArgs,

    #[command(flatten)]
    pub(crate) fields: FieldArgs,

    #[command(flatten)]
    pub(crate) parts: PartArgs,

    #[command(flatten)]
    pub(crate) targets: TargetArgs,

    #[command(flatten)]
    pub(crate) cgroups: CgroupArgs,

    #[command(flatten)]
    pub(crate) timing: TimingArgs,

    #[command(flatten)]
    pub(crate) cost: cost::CostArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) files: files::FileArgs,

    #[command(flatten)]
    pub(crate) perfs: CompatArgs,
}

impl RecordArgs {
    /// Whether targets other than a command are given.
    pub(super) fn has_targets(&self) -> bool {
        let targets = &self.targets;
        let has_ids = !targets.pid.is_empty() || !targets.tid.is_empty();
        let has_names = targets.uid.is_some() || !targets.name.is_empty();
        let is_by_group = !matches!(self.cgroups.settings(), Cgroups::All);
        has_ids || has_names || is_by_group || targets.cpu.is_some()
    }
}
