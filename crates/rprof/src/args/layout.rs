//! How much of a table to print, and its layout.

use super::TableArgs;
use clap::ValueEnum;

/// The forms of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// perf's columns, with call trees below the rows
    Text,
    /// Comma-separated values: a line of perf's column names, then the rows
    Csv,
    /// Rows, call trees and profile quality (docs: crates/JSON.md)
    Json,
    /// A table for issues and tickets; 20 rows, unless --limit is given
    Markdown,
    /// One line per stack with its sample count, as rprof flame --folded
    Folded,
}

impl ReportFormat {
    /// The format's name on the command line.
    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether it has trees below its rows.
    pub(crate) fn has_trees(self) -> bool {
        matches!(self, Self::Text | Self::Json)
    }
}

/// The heading in `--help`.
const HEADING: &str = "Output";

#[derive(Debug, clap::Args)]
pub(crate) struct LayoutArgs {
    /// Output format [default: text]
    #[arg(
        group = "all/format",
        help_heading = HEADING,
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true
    )]
    pub(crate) format: ReportFormat,

    /// Show at most this many rows of each table
    #[arg(group = "tables/limit", help_heading = HEADING, long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Set column widths, starting with the first; longer text is cut; 0: as wide as needed
    #[arg(
        group = "layout/column_widths",
        help_heading = HEADING,
        short = 'w',
        long,
        value_name = "WIDTHS",
        value_delimiter = ',',
        value_parser = parse_width
    )]
    pub(crate) column_widths: Vec<usize>,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}

fn parse_width(text: &str) -> Result<usize, String> {
    let width = text.parse().ok().filter(|width| *width <= 4096);
    width.ok_or_else(|| "expected a number of columns, at most 4096".to_owned())
}

impl LayoutArgs {
    /// Default number of rows in Markdown.
    const MARKDOWN_ROWS: usize = 20;

    /// Maximum number of rows of each table.
    pub(crate) fn limit(&self) -> Option<usize> {
        let usual = (self.format == ReportFormat::Markdown).then_some(Self::MARKDOWN_ROWS);
        self.limit.or(usual)
    }
}
