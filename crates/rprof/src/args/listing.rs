//! How to list code.

use super::{LookArgs, SourceFileArgs};
use crate::screen::{Colors, has_boxes};
use crate::usage::usage;
use clap::ValueEnum;
use rprof_annotate::{By, Cells, Drawing, Folding, MarkdownOptions, SourceSettings, TextOptions};
use std::path::PathBuf;

/// The heading in `--help`.
const OUTPUT: &str = "Output";

#[derive(Debug, clap::Args)]
pub(crate) struct ListingArgs {
    /// Output format [default: text]
    #[arg(help_heading = OUTPUT, long, value_enum, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub(crate) format: ListingFormat,

    /// Show one row per instruction, with source lines between them, or one row per source line: instruction or line
    #[arg(help_heading = OUTPUT, long, value_enum, value_name = "ROWS", default_value = "instruction", hide_possible_values = true)]
    by: Rows,

    /// Show source lines between instructions (default)
    #[arg(help_heading = OUTPUT, long, overrides_with = "no_source")]
    source: bool,

    /// Show instructions only
    #[arg(help_heading = OUTPUT, long, overrides_with = "source")]
    no_source: bool,

    /// Also show the raw bytes of instructions
    #[arg(help_heading = OUTPUT, long, overrides_with = "no_asm_raw")]
    asm_raw: bool,

    /// Do not show the raw bytes of instructions (default)
    #[arg(help_heading = OUTPUT, long, overrides_with = "asm_raw")]
    no_asm_raw: bool,

    /// Show numbers of samples instead of percentages
    #[arg(help_heading = OUTPUT, short = 'n', long, overrides_with = "show_total_period")]
    show_nr_samples: bool,

    /// Show total weights (periods) instead of percentages
    #[arg(help_heading = OUTPUT, long, overrides_with = "show_nr_samples")]
    show_total_period: bool,

    /// Show at most N instructions before and after each one with samples [default: all; 10 in functions with more
    /// than 2000 instructions]
    #[arg(help_heading = OUTPUT, long, value_name = "N", conflicts_with = "full")]
    context: Option<usize>,

    /// Show all instructions, however many there are
    #[arg(help_heading = OUTPUT, long)]
    full: bool,

    /// Do not show the hottest lines and inlined functions above the code
    #[arg(help_heading = OUTPUT, long)]
    no_summary: bool,

    #[command(flatten)]
    pub(crate) look: LookArgs,

    #[command(flatten)]
    source_files: SourceFileArgs,
}

impl ListingArgs {
    /// Refuses flags without effect in the requested format.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let of_code = [
            (self.no_source, "--no-source"),
            (self.context.is_some(), "--context"),
            (self.full, "--full"),
            (self.asm_raw, "--asm-raw"),
        ];
        let of_text = [
            (self.asm_raw, "--asm-raw"),
            (self.show_nr_samples, "-n"),
            (self.show_total_period, "--show-total-period"),
            (self.no_summary, "--no-summary"),
        ];
        let of_screen = [
            (self.look.full_names, "--full-names"),
            (self.look.stdio_color != Colors::Auto, "--stdio-color"),
        ];
        let of_rows = [
            (self.by == Rows::Line, "--by line"),
            (self.no_source, "--no-source"),
            (self.context.is_some(), "--context"),
            (self.full, "--full"),
        ];
        let given = |flags: &[(bool, &'static str)]| {
            let found = flags.iter().find(|(is_given, _)| *is_given);
            found.map(|&(_, flag)| flag)
        };
        let refused = match self.format {
            ListingFormat::Json => {
                given(&[&of_rows, &of_text[..], &of_screen].concat()).map(|flag| {
                    format!(
                        "{flag} is for text: --format json contains all instructions, lines and numbers"
                    )
                })
            }
            ListingFormat::Markdown => given(&[&of_text[..], &of_screen].concat()).map(|flag| {
                format!(
                    "{flag} is for text: --format markdown shows tables and code with percentages"
                )
            }),
            ListingFormat::Text => None,
        };
        let by_line = given(&of_code).filter(|_| self.by == Rows::Line);
        let refused = refused.or_else(|| {
            by_line.map(|flag| format!("{flag} is for instructions: --by line shows none"))
        });
        refused.map_or(Ok(()), |refused| Err(usage(refused)))
    }

    fn by(&self) -> By {
        match (self.by, self.no_source) {
            (Rows::Line, _) => By::Lines,
            (Rows::Instruction, false) => By::Instructions,
            (Rows::Instruction, true) => By::InstructionsOnly,
        }
    }

    fn folding(&self) -> Folding {
        match (self.full, self.context) {
            (true, _) => Folding::Off,
            (false, Some(n)) => Folding::Around(n),
            (false, None) => Folding::Automatic,
        }
    }

    pub(crate) fn text(&self) -> TextOptions {
        TextOptions {
            by: self.by(),
            drawing: if has_boxes() {
                Drawing::Boxes
            } else {
                Drawing::Ascii
            },
            cells: match (self.show_nr_samples, self.show_total_period) {
                (true, _) => Cells::Samples,
                (false, true) => Cells::Weight,
                (false, false) => Cells::Percent,
            },
            folding: self.folding(),
            has_bytes: self.asm_raw,
            has_summary: !self.no_summary,
            colors: self.look.stdio_color.is_on(),
            fit: self.look.fit(),
        }
    }

    pub(crate) fn markdown(&self) -> MarkdownOptions {
        MarkdownOptions {
            by: self.by(),
            folding: self.folding(),
        }
    }

    /// Where to look for source files.
    pub(crate) fn sources(&self, symfs: Option<PathBuf>) -> SourceSettings {
        self.source_files.settings(symfs)
    }
}

/// The forms of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListingFormat {
    /// perf's columns, with arrows for jumps
    Text,
    /// Instructions, lines, functions and loops with counts (docs: crates/JSON.md)
    Json,
    /// Tables and code for issues and tickets
    Markdown,
}

/// The unit of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    Instruction,
    Line,
}

#[cfg(test)]
mod tests {
    use crate::args::{Args, Command};
    use clap::Parser;

    fn said(words: &[&str]) -> String {
        let args = Args::parse_from([&["rprof", "annotate"], words].concat());
        let Command::Annotate(annotate) = args.command else {
            panic!()
        };
        let checked = annotate.listing.check();
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_form_refuses_what_would_change_nothing_in_it() {
        for words in [
            &["--format", "json", "--context", "3"][..],
            &["--format", "json", "-n"],
            &["--format", "json", "--stdio-color"],
            &["--format", "markdown", "--stdio-color=never"],
            &["--format", "markdown", "--full-names"],
            &["--format", "markdown", "--asm-raw"],
            &["--by", "line", "--no-source"],
            &["--by", "line", "--full", "--format", "markdown"],
        ] {
            assert!(said(words).contains(" is for "), "{words:?}");
        }
        for words in [
            &["-n", "--asm-raw", "--context", "3"][..],
            &["--by", "line", "-n"],
            &["--format", "markdown", "--context", "3", "--no-source"],
        ] {
            assert_eq!(said(words), "", "{words:?}");
        }
    }
}
