//! The code in an HTML page.

use super::SourceFileArgs;
use rprof_annotate::SourceSettings;
use std::path::PathBuf;

/// The heading in `--help`.
const CODE: &str = "Code in HTML pages";

#[derive(Debug, clap::Args)]
pub(crate) struct PageCodeArgs {
    /// Leave out code: a page has the instructions and source lines of the hottest functions (at most 100) as text, for
    /// everybody who gets the file
    #[arg(help_heading = CODE, long)]
    pub(crate) no_code: bool,

    /// Leave out the text of source lines: instructions and numbers of lines only
    #[arg(help_heading = CODE, long, conflicts_with = "no_code")]
    pub(crate) no_source: bool,

    #[command(flatten)]
    files: SourceFileArgs,
}

impl PageCodeArgs {
    /// The flag that was given, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.no_code, "--no-code"),
            (self.no_source, "--no-source"),
            (self.files.is_asked(), "--source-prefix and --prefix"),
        ];
        let found = given.into_iter().find(|(is_given, _)| *is_given);
        found.map(|(_, flag)| flag)
    }

    /// Where to look for source files.
    pub(crate) fn sources(&self, symfs: Option<PathBuf>) -> SourceSettings {
        self.files.settings(symfs)
    }
}
