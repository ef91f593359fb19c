//! `--fold`: stacks made simpler.

use rprof_profile::Fold;
use rprof_symbols::Demangling;

/// The same for all that draw stacks.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FoldArgs {
    /// Make stacks simpler. recursion: functions that call themselves or each other are there once. generics:
    /// functions of one name are one, template arguments left out. modules: frames of one image that follow each
    /// other are one. inlined: inlined functions are their callers
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = parse_fold)]
    pub(crate) fold: Vec<Fold>,
}

fn parse_fold(name: &str) -> Result<Fold, String> {
    Fold::parse(name).ok_or_else(|| Fold::ALL.map(Fold::name).join(", "))
}

impl FoldArgs {
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
