//! The look of text: shared by all tables and listings.

use crate::screen::{self, Colors};
use rprof_profile::text::Fit;

/// The heading in `--help`.
const HEADING: &str = "Output";

/// For everything that is printed.
#[derive(Debug, clap::Args)]
#[group(id = "all/look")]
pub(crate) struct LookArgs {
    /// Print less: no header lines of tables, no warnings
    #[arg(help_heading = HEADING, short = 'q', long)]
    pub(crate) quiet: bool,

    /// Do not cut lines to the terminal's width
    #[arg(help_heading = HEADING, long)]
    pub(crate) full_names: bool,

    /// Use colours: always, never or auto (only on a terminal)
    #[arg(
        group = "layout/stdio_color",
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

impl LookArgs {
    /// Columns that lines must fit into; `None` if lines are not cut.
    pub(crate) fn fit(&self) -> Option<Fit> {
        (!self.full_names).then(screen::fit).flatten()
    }
}

/// For tables.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Put TEXT between columns; in cells, a dot replaces it
    #[arg(
        group = "layout/field_separator",
        help_heading = HEADING,
        short = 't',
        long,
        value_name = "TEXT",
        value_parser = parse_separator
    )]
    pub(crate) field_separator: Option<String>,

    #[command(flatten)]
    pub(crate) look: LookArgs,
}

impl TableArgs {
    /// Columns that lines must fit into; `None` if programs read the output.
    pub(crate) fn fit(&self) -> Option<Fit> {
        self.look.fit().filter(|_| self.field_separator.is_none())
    }
}

fn parse_separator(text: &str) -> Result<String, String> {
    match text {
        "" | "." => Err("expected a text that is neither empty nor a dot".to_owned()),
        text => Ok(text.to_owned()),
    }
}
