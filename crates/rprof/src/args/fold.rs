//! `--fold`: stacks made simpler.

use regex_lite::Regex;
use rprof_profile::{Fold, Profile};
use rprof_symbols::Demangling;

/// The same for all that draw stacks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FoldArgs {
    /// Make stacks simpler. recursion: functions that call themselves or each other are there once. generics:
    /// functions of one name are one, template arguments left out. modules: frames of one image that follow each
    /// other are one. inlined: inlined functions are their callers
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = parse_fold)]
    fold: Vec<Fold>,

    /// What functions with such names called counts as theirs: a regular expression
    #[arg(long, value_name = "REGEX", value_parser = Regex::new)]
    ignore_callees: Option<Regex>,
}

fn parse_fold(name: &str) -> Result<Fold, String> {
    let all = || format!("one of {}", Fold::ALL.map(Fold::name).join(", "));
    Fold::parse(name).ok_or_else(all)
}

impl FoldArgs {
    /// Whether stacks are to be other than they were recorded.
    pub(crate) fn is_asked(&self) -> bool {
        !self.fold.is_empty() || self.ignore_callees.is_some()
    }

    /// Whether stacks are made simpler in a way.
    pub(crate) fn has(&self, fold: Fold) -> bool {
        self.fold.contains(&fold)
    }

    /// Makes a profile's stacks simpler.
    pub(crate) fn apply(&self, profile: &mut Profile) {
        if let Some(names) = &self.ignore_callees {
            profile.ignore_callees(|name| names.is_match(name));
        }
        profile.fold(&self.fold);
    }

    /// How names are shown: names of one function would differ by template arguments.
    pub(crate) fn demangling(&self, asked: Demangling) -> Demangling {
        match asked {
            Demangling::Short | Demangling::Full if self.fold.contains(&Fold::Generics) => {
                Demangling::Folded
            }
            asked => asked,
        }
    }
}
