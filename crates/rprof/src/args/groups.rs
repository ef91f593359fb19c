//! Which events share a table.

use anyhow::{Result, bail};
use rprof_base::Counted;
use rprof_perfdata::Reader;
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
    /// Refuses to order rows by an event that there is not.
    pub(crate) fn check(&self, reader: &Reader) -> Result<()> {
        let (asked, n_events) = (self.group_sort_idx, reader.events().len());
        if asked > 0 && asked >= n_events {
            let events = Counted::new(n_events as u64, "event", "events");
            bail!("--group-sort-idx {asked}: the recording has {events}, and numbers begin at 0");
        }
        Ok(())
    }

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
