//! Where to look for source files.

use rprof_annotate::SourceSettings;
use std::path::PathBuf;

/// The heading in `--help`.
const SOURCES: &str = "Source files";

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SourceFileArgs {
    /// Replace the prefix A of source paths with B; =B: prefix for relative paths
    #[arg(help_heading = SOURCES, long, value_name = "A=B", value_parser = parse_prefix)]
    source_prefix: Vec<(String, String)>,

    /// Look for source files below this directory: prepend it to absolute source paths
    #[arg(help_heading = SOURCES, long, value_name = "DIR")]
    prefix: Option<String>,

    /// Strip N leading directories before adding --prefix
    #[arg(help_heading = SOURCES, long, value_name = "N", default_value_t = 0, requires = "prefix")]
    prefix_strip: usize,
}

impl SourceFileArgs {
    /// With the folder of the recorded machine's files.
    pub(crate) fn settings(&self, symfs: Option<PathBuf>) -> SourceSettings {
        SourceSettings {
            symfs,
            replaced: self.source_prefix.clone(),
            prefix: self.prefix.clone(),
            strip: self.prefix_strip,
        }
    }

    /// Whether a place was given.
    pub(crate) fn is_asked(&self) -> bool {
        !self.source_prefix.is_empty() || self.prefix.is_some()
    }
}

fn parse_prefix(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((from, to)) if !(from.is_empty() && to.is_empty()) => {
            Ok((from.to_owned(), to.to_owned()))
        }
        _ => Err("expected two paths, A=B".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_beginning_is_that_of_relative_paths() {
        let pair = |one: &str, other: &str| Ok((one.to_owned(), other.to_owned()));
        assert_eq!(parse_prefix("=/src"), pair("", "/src"));
        assert_eq!(parse_prefix("/build/="), pair("/build/", ""));
        assert!(parse_prefix("=").is_err() && parse_prefix("/src").is_err());
    }
}
