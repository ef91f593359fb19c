//! Which events share a table.

use rprof_profile::view::EventSets;
use rprof_report::EventTables;

/// Where `--help` has them.
const HEADING: &str = "Groups of events";

/// Tables of groups, as perf has them.
#[derive(Debug, clap::Args)]
pub(crate) struct GroupArgs {
    /// Events side by side in one table: those of a group (the default), or all of a recording without groups
    #[arg(help_heading = HEADING, long, overrides_with = "no_group")]
    group: bool,

    /// A table for each event
    #[arg(help_heading = HEADING, long, overrides_with = "group")]
    no_group: bool,

    /// Order the rows of a group by its event with this number, from 0 on
    #[arg(help_heading = HEADING, long, value_name = "N", default_value_t = 0)]
    group_sort_idx: usize,

    /// No tables of events without samples (the default)
    #[arg(help_heading = HEADING, long, overrides_with = "no_skip_empty")]
    skip_empty: bool,

    /// Tables of events without samples, too
    #[arg(help_heading = HEADING, long, overrides_with = "skip_empty")]
    no_skip_empty: bool,
}

impl GroupArgs {
    /// Whether tables are to be others than the usual ones.
    pub(crate) fn is_asked(&self) -> bool {
        self.group || self.group_sort_idx > 0 || self.no_skip_empty
    }

    pub(crate) fn tables(&self) -> EventTables {
        EventTables {
            sets: match (self.group, self.no_group) {
                (true, _) => EventSets::All,
                (_, true) => EventSets::Single,
                _ => EventSets::Recorded,
            },
            sort_idx: self.group_sort_idx,
            with_empty: self.no_skip_empty,
        }
    }
}
