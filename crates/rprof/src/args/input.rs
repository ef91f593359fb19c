//! The recordings to read, and which samples of them.

use super::fde::FdeArgs;
use super::filters::FilterArgs;
use super::limits::LimitArgs;
use super::recording::Recordings;
use super::sources::SourceArgs;
use rprof_analysis::Options;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::Filter;
use rprof_symbols::Demangling;
use std::path::PathBuf;

/// The recordings to read, and which samples of them: shared by all commands that count by function.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    #[command(flatten)]
    pub(crate) recordings: Recordings,

    #[command(flatten)]
    pub(crate) samples: SampleArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,
}

/// Which samples of a recording to read, and how to show names.
#[derive(Debug, clap::Args)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    filters: FilterArgs,

    #[command(flatten)]
    sources: SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Show inlined functions as separate frames (default)
    #[arg(group = "samples/inline", long, overrides_with = "no_inline")]
    inline: bool,

    /// Do not show inlined functions as separate frames
    #[arg(group = "samples/no_inline", long, overrides_with = "inline")]
    pub(crate) no_inline: bool,

    /// Demangle names: short, full (with parameters), folded (without template arguments) or no
    #[arg(
        group = "samples/demangle",
        long,
        value_name = "FORM",
        num_args = 0..=1,
        default_missing_value = "short",
        default_value = "short",
        value_parser = parse_demangling,
        overrides_with = "no_demangle"
    )]
    demangle: Demangling,

    /// Do not demangle names: same as --demangle no
    #[arg(group = "samples/no_demangle", long, overrides_with = "demangle")]
    no_demangle: bool,
}

pub(super) fn parse_demangling(text: &str) -> Result<Demangling, String> {
    match text {
        "short" => Ok(Demangling::Short),
        "full" => Ok(Demangling::Full),
        "folded" => Ok(Demangling::Folded),
        "no" => Ok(Demangling::Off),
        _ => Err("expected short, full, folded or no".to_owned()),
    }
}

impl InputArgs {
    pub(crate) fn limits(&self) -> LimitArgs {
        self.samples.limits
    }

    /// How to read the recording.
    pub(crate) fn options(&self, reader: &Reader) -> Options {
        Options {
            fde: !self.fde.no_fde,
            ..self.samples.options(reader)
        }
    }

    pub(crate) fn demangling(&self) -> Demangling {
        self.samples.demangling()
    }

    pub(crate) fn filter(&self) -> Filter {
        self.samples.filter()
    }
}

impl SampleArgs {
    /// How to read a recording's samples.
    pub(crate) fn options(&self, reader: &Reader) -> Options {
        Options {
            filter: self.filter(),
            inlines: !self.no_inline,
            locator: self.locator(reader),
            demangling: self.demangling(),
            ..Options::default()
        }
    }

    /// The folder with the files of the recorded machine.
    pub(crate) fn symfs(&self) -> Option<PathBuf> {
        self.sources.symfs()
    }

    pub(crate) fn locator(&self, reader: &Reader) -> Locator {
        self.sources.locator(reader.budget())
    }

    pub(crate) fn demangling(&self) -> Demangling {
        if self.no_demangle {
            Demangling::Off
        } else {
            self.demangle
        }
    }

    pub(crate) fn filter(&self) -> Filter {
        self.filters.filter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;

    #[test]
    fn the_last_word_on_demangling_counts() {
        for (options, expected) in [
            (&[][..], Demangling::Short),
            (&["--no-demangle"], Demangling::Off),
            (&["--no-demangle", "--demangle"], Demangling::Short),
            (&["--demangle=full"], Demangling::Full),
            (&["--demangle", "folded"], Demangling::Folded),
            (&["--demangle", "full", "--no-demangle"], Demangling::Off),
            (&["--demangle", "no"], Demangling::Off),
        ] {
            let args = Args::parse_from([&["rprof", "report"], options].concat());
            let Command::Report(report) = args.command else {
                panic!()
            };
            assert_eq!(report.input.demangling(), expected, "{options:?}");
        }
        assert!(Args::try_parse_from(["rprof", "flame", "--demangle=maybe"]).is_err());
    }
}
