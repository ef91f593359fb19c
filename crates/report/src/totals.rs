//! What percentages are of, and the lines of the heading that say so.

use super::table::TableOptions;
use rprof_base::Counted;
use rprof_profile::EventProfile;
use rprof_profile::view::EventSet;
use std::io::{self, Write};

/// What percentages are of, where a filter leaves samples out: perf's `--percentage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Percentage {
    /// Of all samples.
    #[default]
    Absolute,
    /// Of those that are shown.
    Relative,
}

/// The samples that percentages are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) samples: u64,
    pub(crate) weight: u64,
}

impl Totals {
    /// Those of an event.
    pub(crate) fn of(event: &EventProfile, options: &TableOptions) -> Self {
        match (options.is_filtered, options.percentage) {
            (true, Percentage::Relative) => Self::shown(event),
            _ => Self::all(event),
        }
    }

    fn all(event: &EventProfile) -> Self {
        Self {
            samples: event.samples,
            weight: event.weight,
        }
    }

    /// As far as the filter lets them through.
    fn shown(event: &EventProfile) -> Self {
        let mut shown = Self {
            samples: 0,
            weight: 0,
        };
        for node in event.tree.nodes() {
            shown.samples = shown.samples.saturating_add(node.self_samples);
            shown.weight = shown.weight.saturating_add(node.self_weight);
        }
        shown
    }

    /// Those of the events of a table together.
    pub(crate) fn all_of(set: &EventSet<'_>, options: &TableOptions) -> Self {
        Self::sum(set, |event| Self::of(event, options))
    }

    fn sum(set: &EventSet<'_>, of: impl Fn(&EventProfile) -> Self) -> Self {
        let none = Self {
            samples: 0,
            weight: 0,
        };
        set.events().map(of).fold(none, |sum, one| Self {
            samples: sum.samples.saturating_add(one.samples),
            weight: sum.weight.saturating_add(one.weight),
        })
    }

    /// perf's lines, and one of what else there is.
    pub(crate) fn write_heading(
        set: &EventSet<'_>,
        options: &TableOptions,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Self { samples, weight } = Self::all_of(set, options);
        let events = if set.others.is_empty() {
            "event"
        } else {
            "events"
        };
        write!(out, "# Samples: {samples} of {events} '{set}'")?;
        match &options.time_slices {
            Some(times) => writeln!(out, " (time slices: {times})")?,
            None => writeln!(out)?,
        }
        writeln!(out, "# Event count (approx.): {weight}")?;
        if !options.is_filtered {
            return Ok(());
        }
        let (all, shown) = (Self::sum(set, Self::all), Self::sum(set, Self::shown));
        let other = match options.percentage {
            Percentage::Absolute if shown != all => (shown, "Shown:", "all"),
            Percentage::Relative if shown != all => (all, "All:", "the samples shown"),
            _ => return Ok(()),
        };
        let (Self { samples, weight }, begins, whole) = other;
        let samples = Counted::new(samples, "sample", "samples");
        writeln!(
            out,
            "# {begins} {samples}, event count {weight} (percentages are of {whole})"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{EventTables, Layout};
    use rprof_profile::testing;
    use rprof_profile::view::{Columns, EventSets, Weighing};

    fn heading(is_filtered: bool, percentage: Percentage) -> String {
        let mut profile = testing::profile(&[("a;b", 1), ("a", 2)]);
        let event = &mut profile.events[0];
        (event.samples, event.weight) = (5, 50);
        let options = TableOptions {
            columns: Columns::of(&[], Weighing::Own),
            hierarchy: false,
            events: EventTables::default(),
            graph: None,
            percent_limit: 0.0,
            is_filtered,
            percentage,
            time_slices: None,
            colors: false,
            layout: Layout::default(),
        };
        let mut out = Vec::new();
        let sets = EventSets::Recorded.of(&profile);
        Totals::write_heading(&sets[0], &options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_heading_counts_what_percentages_are_of() {
        let all = heading(false, Percentage::Relative);
        assert_eq!(all.lines().count(), 2, "{all}");
        assert!(all.starts_with("# Samples: 5 of event "), "{all}");
        let absolute = heading(true, Percentage::Absolute);
        assert!(absolute.starts_with(&all), "{absolute}");
        assert!(
            absolute.contains("\n# Shown: 2 samples, event count 3 ("),
            "{absolute}"
        );
        let relative = heading(true, Percentage::Relative);
        assert!(relative.starts_with("# Samples: 2 of event "), "{relative}");
        let last = "\n# All: 5 samples, event count 50 (percentages are of the samples shown)\n";
        assert!(relative.ends_with(last), "{relative}");
    }
}
