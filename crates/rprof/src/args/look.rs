//! How text looks: what all tables and listings have.

use crate::screen::{self, Colors};
use rprof_profile::text::Fit;

/// Where `--help` has them.
const HEADING: &str = "Output";

/// Of everything that is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct LookArgs {
    /// Print only rows, trees and code, no header lines
    #[arg(help_heading = HEADING, short = 'q', long)]
    pub(crate) quiet: bool,

    /// Do not cut lines to the terminal's width
    #[arg(help_heading = HEADING, long)]
    pub(crate) full_names: bool,

    /// Use colours: always, never or auto (only on a terminal)
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

impl LookArgs {
    /// Columns to fit lines into; `None` where nothing is to be cut.
    pub(crate) fn fit(&self) -> Option<Fit> {
        (!self.full_names).then(screen::fit).flatten()
    }
}

/// Of tables.
#[derive(Debug, clap::Args)]
pub(crate) struct TableArgs {
    /// Separate columns with TEXT instead of aligning them; in cells, a dot replaces it
    #[arg(help_heading = HEADING, short = 't', long, value_name = "TEXT", value_parser = parse_separator)]
    pub(crate) field_separator: Option<String>,

    #[command(flatten)]
    pub(crate) look: LookArgs,
}

impl TableArgs {
    /// Columns to fit lines into: none where programs read them.
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
