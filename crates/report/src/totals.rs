//! What percentages are of, and the lines of the heading that say so.

use super::table::TableOptions;
use rprof_base::Counted;
use rprof_profile::EventProfile;
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

    /// perf's lines, and one of what else there is.
    pub(crate) fn write_heading(
        self,
        event: &EventProfile,
        options: &TableOptions,
        out: &mut impl Write,
    ) -> io::Result<()> {
        write!(out, "# Samples: {} of event '{}'", self.samples, event.name)?;
        match &options.time_slices {
            Some(times) => writeln!(out, " (time slices: {times})")?,
            None => writeln!(out)?,
        }
        writeln!(out, "# Event count (approx.): {}", self.weight)?;
        if !options.is_filtered {
            return Ok(());
        }
        let (all, shown) = (Self::all(event), Self::shown(event));
        let other = match options.percentage {
            Percentage::Absolute if shown != all => (shown, "Shown:", "all"),
            Percentage::Relative if shown != all => (all, "Of all", "what is shown"),
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
    use crate::table::Layout;
    use rprof_profile::testing;
    use rprof_profile::view::{Columns, Weighing};

    fn heading(is_filtered: bool, percentage: Percentage) -> String {
        let mut event = testing::profile(&[("a;b", 1), ("a", 2)]).events.remove(0);
        (event.samples, event.weight) = (5, 50);
        let options = TableOptions {
            columns: Columns::of(&[], Weighing::Own),
            hierarchy: false,
            graph: None,
            percent_limit: 0.0,
            is_filtered,
            percentage,
            time_slices: None,
            colors: false,
            layout: Layout::default(),
        };
        let mut out = Vec::new();
        let totals = Totals::of(&event, &options);
        totals.write_heading(&event, &options, &mut out).unwrap();
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
        let last = "\n# Of all 5 samples, event count 50 (percentages are of what is shown)\n";
        assert!(relative.ends_with(last), "{relative}");
    }
}
