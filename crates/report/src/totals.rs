//! What percentages are of, and the lines of the heading that say so.

use super::table::TableOptions;
use rprof_base::Counted;
use rprof_profile::view::EventSet;
use rprof_profile::{EventKind, EventProfile, SampleCount};
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

/// The samples of an event that percentages are of.
pub(crate) fn of_event(event: &EventProfile, options: &TableOptions) -> SampleCount {
    match (options.is_filtered, options.percentage) {
        (true, Percentage::Relative) => shown(event),
        _ => all(event),
    }
}

/// Those of the events of a table together.
pub(crate) fn of_events(set: &EventSet<'_>, options: &TableOptions) -> SampleCount {
    sum(set, |event| of_event(event, options))
}

fn all(event: &EventProfile) -> SampleCount {
    SampleCount {
        samples: event.samples,
        weight: event.weight,
    }
}

/// As far as the filter lets them through.
fn shown(event: &EventProfile) -> SampleCount {
    let nodes = event.tree.nodes().iter().map(|node| SampleCount {
        samples: node.self_samples,
        weight: node.self_weight,
    });
    nodes.fold(SampleCount::default(), SampleCount::plus)
}

fn sum(set: &EventSet<'_>, of: impl Fn(&EventProfile) -> SampleCount) -> SampleCount {
    let events = set.events().map(of);
    events.fold(SampleCount::default(), SampleCount::plus)
}

/// perf's lines, and one of what else there is.
pub(crate) fn write_heading(
    set: &EventSet<'_>,
    options: &TableOptions,
    out: &mut impl Write,
) -> io::Result<()> {
    let SampleCount { samples, weight } = of_events(set, options);
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
    if options.time_slices.is_some() {
        writeln!(out, "# Time: totals count only samples in this range")?;
    }
    if set.leader.kind == EventKind::WallTime {
        writeln!(
            out,
            "# CPU time is measured by context switches; without --wall it is estimated from samples"
        )?;
    }
    if !options.is_filtered {
        return Ok(());
    }
    let (all, shown) = (sum(set, all), sum(set, shown));
    let other = match options.percentage {
        Percentage::Absolute if shown != all => (shown, "Shown:", "all"),
        Percentage::Relative if shown != all => (all, "All:", "the samples shown"),
        _ => return Ok(()),
    };
    let (SampleCount { samples, weight }, begins, whole) = other;
    let samples = Counted::new(samples, "sample", "samples");
    writeln!(
        out,
        "# {begins} {samples}, event count {weight} (percentages are of {whole})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{EventTables, Layout};
    use rprof_profile::testing;
    use rprof_profile::view::{Columns, EventSets, Weighing};

    fn heading(is_filtered: bool, percentage: Percentage) -> String {
        heading_of(is_filtered, percentage, None)
    }

    fn heading_of(
        is_filtered: bool,
        percentage: Percentage,
        time_slices: Option<String>,
    ) -> String {
        let mut profile = testing::profile(&[("a;b", 1), ("a", 2)]);
        let event = &mut profile.events[0];
        (event.samples, event.weight) = (5, 50);
        let options = options(is_filtered, percentage, time_slices);
        let mut out = Vec::new();
        let sets = EventSets::Recorded.of(&profile);
        write_heading(&sets[0], &options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn options(
        is_filtered: bool,
        percentage: Percentage,
        time_slices: Option<String>,
    ) -> TableOptions {
        TableOptions {
            columns: Columns::of(&[], Weighing::Own),
            hierarchy: false,
            spans: false,
            events: EventTables::default(),
            graph: None,
            percent_limit: 0.0,
            limits_trees: false,
            is_filtered,
            percentage,
            time_slices,
            colors: false,
            layout: Layout::default(),
        }
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

    #[test]
    fn time_on_cpus_is_said_to_be_measured_where_waits_count_too() {
        let said = "# CPU time is measured by context switches";
        let options = options(false, Percentage::Absolute, None);
        for (kind, is_said) in [(EventKind::WallTime, true), (EventKind::CpuTime, false)] {
            let mut profile = testing::profile(&[("a", 1)]);
            profile.events[0].kind = kind;
            let mut out = Vec::new();
            let sets = EventSets::Recorded.of(&profile);
            write_heading(&sets[0], &options, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap().contains(said), is_said);
        }
    }

    #[test]
    fn a_time_is_said_to_leave_samples_out_of_totals() {
        let said = "# Time: totals count only samples in this range\n";
        assert!(!heading(true, Percentage::Absolute).contains("# Time"));
        let of_time = heading_of(true, Percentage::Absolute, Some("+10,".to_owned()));
        assert!(
            of_time.contains("(time slices: +10,)\n") && of_time.contains(said),
            "{of_time}"
        );
    }
}
