//! The columns of a table, and how its rows are grouped.

use crate::usage::usage;
use anyhow::{Result, bail};
use rprof_analysis::{GroupBy, WantedPositions};
use rprof_events::suggest;
use rprof_perfdata::Reader;
use rprof_profile::view::{Asked, Columns, Field, SortKey, Sum, WantedColumns, Weighing};
use rprof_profile::{Dimension, DimensionValues};

/// Columns, rows and their order.
#[derive(Debug, clap::Args)]
#[group(id = "tables/columns")]
pub(crate) struct ColumnArgs {
    /// Group and sort rows by these columns, separated by commas; with a leading +, in addition to the defaults
    #[arg(short = 's', long, value_name = "KEYS")]
    sort: Vec<String>,

    /// Show one level per sort key: rows of the first key, below each its rows of the next key. Implies --no-children;
    /// not with --children, -F, -t, -w, overhead_children or latency_children
    #[arg(long, conflicts_with_all = ["fields", "field_separator", "column_widths"])]
    pub(crate) hierarchy: bool,

    /// Show spans of threads' time (record --span): a table of how many there are of each name and how long they took,
    /// then the functions in each: same as --hierarchy -s span,symbol
    #[arg(long, conflicts_with_all = ["hierarchy", "sort", "fields", "field_separator", "column_widths"])]
    pub(crate) by_span: bool,

    /// Show these columns, in this order; with a leading +, in addition to the defaults
    #[arg(short = 'F', long, value_name = "FIELDS")]
    fields: Vec<String>,

    /// Show the number of samples of each row
    #[arg(short = 'n', long)]
    show_nr_samples: bool,

    /// Show the total weight (period) of each row's samples
    #[arg(long)]
    show_total_period: bool,

    /// Show the share of each row in kernel and in user space
    #[arg(long)]
    show_cpu_utilization: bool,

    /// Show shares of wall-clock time first, instead of CPU time: each sample's weight is divided by the number of
    /// recorded threads running at that time (record --latency)
    #[arg(long)]
    latency: bool,

    /// Resolution of the sort key time: a number with ns, us, ms or s, such as 0.5ms
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = parse_quantum)]
    pub(crate) time_quantum: u64,

    /// Show full paths of source files (srcline, srcfile, -g srcline)
    #[arg(long)]
    full_source_path: bool,
}

impl ColumnArgs {
    /// The columns of a table: by default these keys, plus the key that another option adds; `recorded` resolves names
    /// of fields that only the recording knows.
    pub(crate) fn columns(
        &self,
        (default, added): (&[SortKey], Option<SortKey>),
        weighing: Weighing,
        recorded: &mut dyn FnMut(&str) -> Vec<Field>,
    ) -> Result<Columns> {
        let sums = [
            (self.show_cpu_utilization, Sum::OverheadSys),
            (self.show_cpu_utilization, Sum::OverheadUs),
            (self.show_nr_samples, Sum::Samples),
            (self.show_total_period, Sum::Period),
        ];
        let sums = sums.into_iter().filter(|(is_shown, _)| *is_shown);
        let of_spans = [SortKey::Dimension(Dimension::Span), SortKey::Symbol];
        let default = if self.by_span { &of_spans } else { default };
        let fields = asked(&self.fields, "field", recorded)?;
        let sort = asked(&self.sort, "sort key", recorded)?;
        let wanted = WantedColumns {
            sort: match added {
                Some(key) => sort.with(Field::Key(key), &fields),
                None => sort,
            },
            fields,
            sums: sums.map(|(_, sum)| sum).collect(),
            latency: self.latency,
        };
        let columns = wanted.columns(default, weighing);
        let n_values = columns.dimensions().len();
        if n_values > DimensionValues::MOST {
            let most = DimensionValues::MOST;
            return Err(usage(format_args!(
                "{n_values} sample keys (pid, cpu, tracepoint fields ..) at once: at most {most} are possible"
            )));
        }
        Ok(columns)
    }
}

impl ColumnArgs {
    /// Refuses shares of wall-clock time if context switches were not recorded.
    pub(crate) fn check(&self, reader: &Reader) -> Result<()> {
        if self.latency && !GroupBy::is_recorded(reader, Dimension::Parallelism) {
            bail!(
                "--latency needs context switches, but the recording has none: record with rprof record --latency"
            );
        }
        Ok(())
    }

    /// Whether each key is a level of rows.
    pub(crate) fn has_levels(&self) -> bool {
        self.hierarchy || self.by_span
    }

    /// Whether rows always count only their own samples: with `--hierarchy`, and with keys of the code itself.
    pub(crate) fn are_of_own_samples(&self) -> bool {
        let words = self.sort.iter().chain(&self.fields);
        let mut names = words.flat_map(|word| word.split(','));
        let is_of_own_code = |name: &str| {
            let key = SortKey::parse(name.trim_start_matches('+').trim());
            matches!(key, Some(SortKey::Dimension(one)) if one.is_of_own_code())
        };
        self.has_levels() || names.any(is_of_own_code)
    }

    /// How columns show source locations.
    pub(crate) fn positions(&self, columns: &Columns) -> WantedPositions {
        let keys = columns.keys();
        WantedPositions {
            in_rows: keys.iter().any(|key| key.is_of_lines()),
            full_paths: self.full_source_path,
        }
    }
}

/// The columns requested by an option; repeated values accumulate.
fn asked(
    values: &[String],
    what: &str,
    recorded: &mut dyn FnMut(&str) -> Vec<Field>,
) -> Result<Asked> {
    let mut fields = Vec::new();
    let is_more = values.first().is_some_and(|first| first.starts_with('+'));
    let names = values.iter().flat_map(|value| value.split(','));
    for name in names.map(|name| name.trim_start_matches('+').trim()) {
        if name.is_empty() {
            continue;
        }
        let found = match Field::parse(name) {
            Some(field) => vec![field],
            None => recorded(name),
        };
        if found.is_empty() {
            return Err(unknown(name, what));
        }
        fields.extend(found);
    }
    Ok(match (values, is_more) {
        ([], _) => Asked::Default,
        (_, true) => Asked::More(fields),
        (_, false) if fields.is_empty() => Asked::Default,
        (_, false) => Asked::Only(fields),
    })
}

fn unknown(name: &str, what: &str) -> anyhow::Error {
    let nearest = suggest(name, Field::words().map(str::to_owned));
    let all = if nearest.0.is_empty() {
        let known: Vec<&str> = Field::all().map(Field::name).collect();
        let known = known.join(", ");
        format!("; known are {known} and the fields of recorded tracepoints")
    } else {
        String::new()
    };
    usage(format_args!("unknown {what} '{name}'{nearest}{all}"))
}

fn parse_quantum(text: &str) -> Result<u64, String> {
    let units = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
    ];
    let parsed = units.iter().find_map(|&(unit, ns)| {
        let number = text.strip_suffix(unit)?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let whole: u64 = whole.parse().ok()?;
        let part_ns = part_of(part, ns)?;
        let sum = whole.checked_mul(ns)?.checked_add(part_ns)?;
        Some(sum).filter(|&ns| ns > 0)
    });
    parsed.ok_or_else(|| "expected a number with ns, us, ms or s, such as 100ms".to_owned())
}

/// Nanoseconds of the digits after the decimal point, truncated.
fn part_of(digits: &str, unit_ns: u64) -> Option<u64> {
    let mut place = unit_ns;
    digits.bytes().try_fold(0, |sum, byte| {
        place /= 10;
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        Some(sum + digit * place)
    })
}

/// All keys and fields, one per line.
pub(crate) fn help() -> String {
    let mut text = String::from("Keys and fields (-s, -F):\n");
    for field in Field::all() {
        let needs = match field {
            Field::Key(SortKey::Dimension(one)) if one.is_of_account() => " (--off-cpu, --wall)",
            _ => "",
        };
        text += &format!("  {:<20} {}{needs}\n", field.name(), field.about());
    }
    text + "  FIELD, EVENT.FIELD    tracepoint field; EVENT.*, trace_fields: all fields"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quanta_have_units() {
        assert_eq!(parse_quantum("100ms"), Ok(100_000_000));
        assert_eq!(parse_quantum("7ns"), Ok(7));
        assert_eq!(parse_quantum("0.5ms"), Ok(500_000));
        assert_eq!(parse_quantum("1.25s"), Ok(1_250_000_000));
        for bad in [
            "",
            "5",
            "0s",
            "-1s",
            "1m",
            "99999999999999999s",
            "0.1ns",
            ".5s",
            "1.x5s",
            "1.5.5s",
        ] {
            assert!(parse_quantum(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_add_up_and_a_plus_adds_to_the_usual() {
        let asked = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            asked(&values, "sort key", &mut |_| Vec::new())
        };
        let fields = |names: &[&str]| names.iter().filter_map(|name| Field::parse(name)).collect();
        assert_eq!(asked(&[]).unwrap(), Asked::Default);
        assert_eq!(
            asked(&["comm,dso", "symbol"]).unwrap(),
            Asked::Only(fields(&["comm", "dso", "sym"]))
        );
        assert_eq!(
            asked(&["+cpu", "pid"]).unwrap(),
            Asked::More(fields(&["cpu", "pid"]))
        );
        let error = asked(&["com"]).unwrap_err().to_string();
        assert!(
            error.contains("unknown sort key 'com': did you mean"),
            "{error}"
        );
        let error = asked(&["symbl"]).unwrap_err().to_string();
        assert!(
            error.ends_with("unknown sort key 'symbl': did you mean 'symbol'?"),
            "{error}"
        );
        let error = asked(&["qqqqqq"]).unwrap_err().to_string();
        assert!(error.contains("; known are overhead, "), "{error}");
    }
}
