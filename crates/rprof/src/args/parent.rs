//! `--parent`: samples grouped by one of their callers.

use regex_lite::Regex;
use rprof_profile::view::{Order, SortKey};
use rprof_profile::{Dimension, Others, Profile};

/// The heading in `--help`.
const HEADING: &str = "Filters";

/// Options that define which functions are parents.
#[derive(Debug, clap::Args)]
#[group(id = "stacks/parents")]
pub(crate) struct ParentArgs {
    /// Group rows by the caller that matches this regular expression: of several, the outermost, or the innermost
    /// with --no-children or -g callee. Adds the sort key parent (`-s parent --no-children -p ^py::`: the time of each
    /// Python function with all C code that it runs)
    #[arg(
        group = "parent/parent",
        help_heading = HEADING,
        short = 'p',
        long,
        value_name = "REGEX",
        value_parser = Regex::new
    )]
    parent: Option<Regex>,

    /// Keep only samples with a caller that matches --parent
    #[arg(help_heading = HEADING, short = 'x', long)]
    exclude_other: bool,
}

impl ParentArgs {
    /// perf's default expression for the sort key.
    const DEFAULT: &str = "^sys_|^do_page_fault";

    /// The sort key that `--parent` adds.
    pub(crate) fn key(&self) -> Option<SortKey> {
        let key = SortKey::Dimension(Dimension::Parent);
        self.parent.is_some().then_some(key)
    }

    /// Whether samples without a parent are dropped.
    pub(crate) fn is_filter(&self) -> bool {
        self.exclude_other
    }

    /// Whether rows with these keys need parents.
    pub(crate) fn is_asked(&self, keys: &[SortKey]) -> bool {
        self.exclude_other || keys.contains(&SortKey::Dimension(Dimension::Parent))
    }

    /// Finds the parents of all samples; returns a warning if no sample is left.
    pub(crate) fn apply(&self, profile: &mut Profile, from: Order) -> Option<String> {
        let default = Regex::new(Self::DEFAULT).ok();
        let names = self.parent.as_ref().or(default.as_ref())?;
        let others = if self.exclude_other {
            Others::LeftOut
        } else {
            Others::Kept
        };
        let n_nodes = |profile: &Profile| -> usize {
            let events = profile.events.iter();
            events.map(|event| event.tree.nodes().len()).sum()
        };
        let had_nodes = n_nodes(profile) > 0;
        profile.find_parents(|name| names.is_match(name), from, others);
        (had_nodes && n_nodes(profile) == 0).then(|| {
            let name = names.as_str();
            format!("no caller matches '{name}' (--parent): --exclude-other drops all samples")
        })
    }
}
