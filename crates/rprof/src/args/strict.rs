//! `--strict`: the exit status reports a poor profile.

use rprof_base::Share;
use rprof_profile::Quality;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(id = "samples/strict")]
pub(crate) struct StrictArgs {
    #[arg(long, help = help())]
    pub(crate) strict: bool,
}

fn help() -> String {
    let [lost, truncated, unnamed] = [
        Quality::MAX_LOST,
        Quality::MAX_TRUNCATED,
        Quality::MAX_UNNAMED,
    ]
    .map(Share::percent);
    format!(
        "Exit with status 1 after the output if the profile is poor: more than {lost} % of the samples lost, \
         {truncated} % of the stacks truncated or {unnamed} % without names, or sampling throttled"
    )
}
