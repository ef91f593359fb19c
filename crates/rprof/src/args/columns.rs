//! Which columns a table has, and what its rows are.

use crate::usage::usage;
use anyhow::Result;
use rprof_events::Suggestions;
use rprof_profile::view::{Asked, Columns, Field, SortKey, Sum, WantedColumns, Weighing};

/// Columns, rows and their order.
#[derive(Debug, clap::Args)]
pub(crate) struct ColumnArgs {
    /// Columns to group and order rows by, separated by commas; with + before them, beside the usual ones
    #[arg(short = 's', long, value_name = "KEYS")]
    sort: Vec<String>,

    /// Columns to show, in this order; with + before them, beside the usual ones
    #[arg(short = 'F', long, value_name = "FIELDS")]
    fields: Vec<String>,

    /// Show the number of samples of each row
    #[arg(short = 'n', long)]
    show_nr_samples: bool,

    /// Show what the samples of each row count
    #[arg(long)]
    show_total_period: bool,

    /// Show the shares of the kernel and of processes
    #[arg(long)]
    show_cpu_utilization: bool,
}

impl ColumnArgs {
    /// The columns of a table.
    pub(crate) fn columns(&self, weighing: Weighing) -> Result<Columns> {
        let sums = [
            (self.show_cpu_utilization, Sum::OverheadSys),
            (self.show_cpu_utilization, Sum::OverheadUs),
            (self.show_nr_samples, Sum::Samples),
            (self.show_total_period, Sum::Period),
        ];
        let sums = sums.into_iter().filter(|(is_shown, _)| *is_shown);
        let wanted = WantedColumns {
            sort: asked(&self.sort, "sort key")?,
            fields: asked(&self.fields, "field")?,
            sums: sums.map(|(_, sum)| sum).collect(),
        };
        Ok(wanted.columns(SortKey::DEFAULT, weighing))
    }
}

/// What an option asks for; its values add up.
fn asked(values: &[String], what: &str) -> Result<Asked> {
    let mut fields = Vec::new();
    let is_more = values.first().is_some_and(|first| first.starts_with('+'));
    let names = values.iter().flat_map(|value| value.split(','));
    for name in names.map(|name| name.trim_start_matches('+').trim()) {
        if name.is_empty() {
            continue;
        }
        let Some(field) = Field::parse(name) else {
            let known = Field::all().map(|field| field.name().to_owned());
            let nearest = Suggestions::among(name, known);
            let all = match nearest.0.is_empty() {
                true => ": rprof report --help lists those that there are",
                false => "",
            };
            return Err(usage(format_args!("unknown {what} '{name}'{nearest}{all}")));
        };
        fields.push(field);
    }
    Ok(match (values, is_more) {
        ([], _) => Asked::Default,
        (_, true) => Asked::More(fields),
        (_, false) if fields.is_empty() => Asked::Default,
        (_, false) => Asked::Only(fields),
    })
}

/// All keys and fields, one a line.
pub(crate) fn help() -> String {
    let mut text = String::from("Keys and fields (-s, -F):\n");
    for field in Field::all() {
        text += &format!("  {:<20} {}\n", field.name(), field.about());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_add_up_and_a_plus_adds_to_the_usual() {
        let asked = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            asked(&values, "sort key")
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
        let error = asked(&["qqqqqq"]).unwrap_err().to_string();
        assert!(
            error.ends_with("--help lists those that there are"),
            "{error}"
        );
    }
}
