//! `--fold`: simplified stacks.

use crate::usage::usage;
use anyhow::Result;
use regex_lite::Regex;
use rprof_profile::{Account, Dimension, Fold, Profile};
use rprof_symbols::Demangling;

/// Shared by all commands that draw stacks.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "stacks/fold")]
pub(crate) struct FoldArgs {
    /// Simplify stacks. recursion: show functions that call themselves or each other once. generics: drop template
    /// arguments and merge functions that then have the same name. modules: merge consecutive frames of one binary.
    /// inlined: merge inlined functions into their callers. idle: with --off-cpu or --wall, show waits for work (in
    /// epoll, poll, select, io_uring, condition variables, semaphores, accept, for signals) as one frame, [idle]
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = parse_fold)]
    fold: Vec<Fold>,

    /// Remove callees of functions whose name matches this regular expression; their samples count for these functions
    #[arg(long, value_name = "REGEX", value_parser = Regex::new)]
    ignore_callees: Option<Regex>,
}

fn parse_fold(name: &str) -> std::result::Result<Fold, String> {
    let all = || format!("expected one of {}", Fold::ALL.map(Fold::name).join(", "));
    Fold::parse(name).ok_or_else(all)
}

impl FoldArgs {
    /// Whether stacks are changed at all.
    pub(crate) fn is_asked(&self) -> bool {
        !self.fold.is_empty() || self.ignore_callees.is_some()
    }

    /// Refuses what samples of an account do not have.
    pub(crate) fn check(&self, account: Account) -> Result<()> {
        if self.has(Fold::Idle) && account == Account::OnCpu {
            return Err(usage("--fold idle is for waits: add --off-cpu or --wall"));
        }
        Ok(())
    }

    /// What samples are told apart by: what is asked for, and what folding needs.
    pub(crate) fn dimensions(&self, mut asked: Vec<Dimension>) -> Vec<Dimension> {
        if self.has(Fold::Idle) && !asked.contains(&Dimension::Cause) {
            asked.push(Dimension::Cause);
        }
        asked
    }

    /// Whether stacks are simplified in this way.
    pub(crate) fn has(&self, fold: Fold) -> bool {
        self.fold.contains(&fold)
    }

    /// Simplifies a profile's stacks.
    pub(crate) fn apply(&self, profile: &mut Profile) {
        if let Some(names) = &self.ignore_callees {
            profile.ignore_callees(|name| names.is_match(name));
        }
        profile.fold(&self.fold);
    }

    /// How to show names: with `generics`, without template arguments, by which names of one function would differ.
    pub(crate) fn demangling(&self, asked: Demangling) -> Demangling {
        match asked {
            Demangling::Short | Demangling::Full if self.fold.contains(&Fold::Generics) => {
                Demangling::Folded
            }
            asked => asked,
        }
    }
}
