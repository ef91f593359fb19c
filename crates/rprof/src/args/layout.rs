//! How much of a table is shown, and how it looks.

use crate::screen::Colors;

/// Where `--help` has them.
const HEADING: &str = "Output";

#[derive(Debug, clap::Args)]
pub(crate) struct LayoutArgs {
    /// Show at most this many rows of each table
    #[arg(help_heading = HEADING, long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Widths of columns, from the first on: what is longer is cut; 0 is as wide as need be
    #[arg(help_heading = HEADING, short = 'w', long, value_name = "WIDTHS", value_delimiter = ',')]
    pub(crate) column_widths: Vec<usize>,

    /// Do not cut names that are too long for the terminal
    #[arg(help_heading = HEADING, long)]
    pub(crate) full_names: bool,

    /// Colours of percentages: always, never, or auto: on a terminal
    #[arg(
        help_heading = HEADING,
        long,
        value_enum,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_value = "auto",
        default_missing_value = "always",
        hide_possible_values = true
    )]
    pub(crate) stdio_color: Colors,
}
