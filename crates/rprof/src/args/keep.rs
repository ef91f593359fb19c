//! `--keep-stacks`: samples by any function of their stacks.

use super::filters::parse_names;
use rprof_profile::{NameList, Profile};

/// Which stacks count, by the functions in them.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "stacks/keep")]
pub(crate) struct KeepArgs {
    /// Keep samples with any of these functions anywhere in their stack: a comma-separated list of names and patterns
    /// ('std::*', '/regex/'); '!NAME' keeps the stacks without it
    #[arg(help_heading = "Filters", display_order = 2, long, value_name = "NAMES", value_parser = parse_names)]
    keep_stacks: Vec<NameList>,
}

impl KeepArgs {
    /// Whether it drops any stack.
    pub(crate) fn is_filter(&self) -> bool {
        !self.keep_stacks.is_empty()
    }

    /// Drops all other stacks; returns a warning if no sample is left.
    pub(crate) fn apply(&self, profile: &mut Profile) -> Option<String> {
        let has_samples = |profile: &Profile| {
            let mut events = profile.events.iter();
            events.any(|event| !event.tree.nodes().is_empty())
        };
        if !self.is_filter() || !has_samples(profile) {
            return None;
        }
        profile.keep_stacks(&self.names());
        (!has_samples(profile)).then(|| self.none_is_left())
    }

    /// The names, of all options together.
    pub(crate) fn names(&self) -> NameList {
        NameList::of_all(&self.keep_stacks)
    }

    /// Why nothing is shown, if it drops every stack.
    pub(crate) fn none_is_left(&self) -> String {
        format!("no stack is left: {}", self.words())
    }

    /// As it is typed.
    pub(crate) fn words(&self) -> String {
        format!("--keep-stacks {}", self.names().items().join(","))
    }
}
