//! How many spans of threads' time there are of each name, and how long they took.

use super::Layout;
use rprof_base::Millis;
use rprof_profile::SpanTimes;
use rprof_untrusted::JsonWriter;
use std::io::{self, Write};

/// The columns of times, as text and in JSON.
type TimeColumn = (&'static str, &'static str, fn(&SpanTimes) -> u64);

const COLUMNS: [TimeColumn; 5] = [
    ("Total ms", "total_ns", SpanTimes::total_ns),
    ("Avg ms", "avg_ns", SpanTimes::mean_ns),
    ("p50 ms", "p50_ns", |times| times.percentile_ns(50.0)),
    ("p99 ms", "p99_ns", |times| times.percentile_ns(99.0)),
    ("Max ms", "max_ns", SpanTimes::max_ns),
];

/// Those that took most time in all come first.
fn sorted(spans: &[SpanTimes]) -> Vec<&SpanTimes> {
    let mut sorted: Vec<&SpanTimes> = spans.iter().collect();
    sorted.sort_by(|a, b| {
        let by_total = b.total_ns().cmp(&a.total_ns());
        by_total.then_with(|| a.name.raw().cmp(b.name.raw()))
    });
    sorted
}

/// Writes the table as text.
pub(super) fn write(spans: &[SpanTimes], layout: &Layout, out: &mut impl Write) -> io::Result<()> {
    if !layout.quiet {
        write!(out, "# {:>8}", "Count")?;
        for (heading, ..) in COLUMNS {
            write!(out, "  {heading:>12}")?;
        }
        writeln!(out, "  Span")?;
        writeln!(
            out,
            "# {:.>8}{}  {:.>20}",
            "",
            "  ............".repeat(COLUMNS.len()),
            ""
        )?;
    }
    for times in sorted(spans) {
        write!(out, "  {:>8}", times.n())?;
        for (_, _, ns) in COLUMNS {
            write!(out, "  {:>12}", Millis(ns(times)))?;
        }
        write!(out, "  {}", times.name)?;
        match times.n_open {
            0 => writeln!(out)?,
            n => writeln!(out, " (and {n} that did not end)")?,
        }
    }
    writeln!(out, "{}", if layout.quiet { "" } else { "#" })
}

/// Writes it as a list of objects.
pub(super) fn write_json(spans: &[SpanTimes], json: &mut JsonWriter<'_>) {
    json.column("spans", sorted(spans), |json, times| {
        json.object(|json| {
            for (_, name, ns) in COLUMNS {
                json.field(name, ns(times));
            }
            json.field("count", times.n());
            json.field("name", times.name.to_string());
            json.field("not_ended", times.n_open);
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rprof_untrusted::Untrusted;

    #[test]
    fn names_are_in_the_order_of_their_time() {
        let times = |name: &str, ns: &[u64], n_open| {
            SpanTimes::new(Untrusted::new(name.to_owned()), ns.to_vec(), n_open)
        };
        let spans = [
            times("quick", &[1_000; 4], 0),
            times("slow\x1b", &[2_500_000, 7_000_000], 1),
        ];
        let mut out = Vec::new();
        write(&spans, &Layout::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let slow = [
            "2",
            "9.500",
            "4.750",
            "2.500",
            "7.000",
            "7.000",
            "slow\\x1b",
        ];
        assert_eq!(lines[2][..7], slow);
        assert!(text.contains("(and 1 that did not end)"), "{text}");
        assert_eq!(
            lines[3],
            ["4", "0.004", "0.001", "0.001", "0.001", "0.001", "quick"]
        );
    }
}
