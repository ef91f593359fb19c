//! Which events share a table.

use anyhow::{Result, bail};
use rprof_base::Counted;
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use rprof_profile::view::EventSets;
use rprof_report::EventTables;

/// The heading in `--help`.
const HEADING: &str = "Groups of events";

/// Options for event groups, as in perf.
#[derive(Debug, clap::Args)]
#[group(id = "tables/groups")]
pub(crate) struct GroupArgs {
    /// Show events side by side in one table: those of a group (default), or all events if the recording has no groups
    #[arg(help_heading = HEADING, long, overrides_with = "no_group")]
    group: bool,

    /// Show a table for each event
    #[arg(help_heading = HEADING, long, overrides_with = "group")]
    no_group: bool,

    /// Sort a group's rows by its event number N, counted from 0
    #[arg(help_heading = HEADING, long, value_name = "N", default_value_t = 0)]
    group_sort_idx: usize,

    /// Do not show tables of events without samples (default)
    #[arg(help_heading = HEADING, long, overrides_with = "no_skip_empty")]
    skip_empty: bool,

    /// Also show tables of events without samples
    #[arg(help_heading = HEADING, long, overrides_with = "skip_empty")]
    no_skip_empty: bool,
}

impl GroupArgs {
    /// Refuses to sort rows by an event that does not exist.
    pub(crate) fn check(&self, reader: &Reader) -> Result<()> {
        let (asked, n_events) = (self.group_sort_idx, reader.events().len());
        if asked > 0 && asked >= n_events {
            let events = Counted::new(n_events as u64, "event", "events");
            bail!("--group-sort-idx {asked}: the recording has {events}, counted from 0");
        }
        Ok(())
    }

    /// The warning if no table has an event with this number: like perf, rows are sorted by the first one.
    pub(crate) fn unused(&self, profile: &Profile) -> Option<String> {
        let sets = self.tables().sets.of(profile);
        let most = sets.iter().map(|set| set.events().count()).max()?;
        let number = self.group_sort_idx;
        (number >= most).then(|| {
            format!("no table has an event number {number} (--group-sort-idx): sorting by the first event, number 0")
        })
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
