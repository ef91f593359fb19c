//! A command that a reader records first.

use super::record::{CallGraph, RecordArgs};
use clap::{Args, Error, FromArgMatches};
use std::ffi::{OsStr, OsString};
use std::path::Path;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With a command")]
pub(crate) struct CommandArgs {
    /// Record this command (everything after --) first, then read that recording
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["plain", "input"])]
    command: Vec<OsString>,

    /// Samples per second, or "max" for the kernel's limit [default: 4000]
    #[arg(
        short = 'F',
        long = "freq",
        value_name = "HZ",
        requires = "command",
        conflicts_with_all = ["plain", "input"],
        allow_negative_numbers = true
    )]
    frequency: Option<String>,

    /// Record callers in this way: auto, dwarf[,BYTES], fp or lbr [default: auto]
    #[arg(long, value_name = "HOW", requires = "command", conflicts_with_all = ["plain", "input"], value_parser = CallGraph::parse)]
    call_graph: Option<CallGraph>,
}

impl CommandArgs {
    /// Whether a command was given.
    pub(crate) fn is_given(&self) -> bool {
        !self.command.is_empty()
    }

    /// The arguments for `rprof record`.
    pub(crate) fn record(&self, event: Option<&str>, output: &Path) -> Result<RecordArgs, Error> {
        let mut words: Vec<&OsStr> = ["record", "-o"].map(OsStr::new).into();
        words.push(output.as_os_str());
        for (flag, value) in [("-e", event), ("-F", self.frequency.as_deref())] {
            let words_of = value.into_iter().flat_map(|value| [flag, value]);
            words.extend(words_of.map(OsStr::new));
        }
        words.push(OsStr::new("--"));
        words.extend(self.command.iter().map(OsString::as_os_str));
        let record = RecordArgs::augment_args(clap::Command::new("record"));
        let mut record = RecordArgs::from_arg_matches(&record.try_get_matches_from(words)?)?;
        if let Some(how) = self.call_graph {
            record.call_chains.call_graph = how;
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{self, Command};
    use clap::Parser;

    fn flame(words: &[&str]) -> Result<CommandArgs, Error> {
        let args = args::Args::try_parse_from([&["rprof", "flame"], words].concat())?;
        match args.command {
            Command::Flame(args) => Ok(args.command),
            _ => panic!(),
        }
    }

    #[test]
    fn a_command_is_recorded_as_by_rprof_record() {
        let args = flame(&["-F", "99", "--call-graph", "fp", "--", "-x", "-F"]).unwrap();
        let record = args.record(Some("page-faults"), Path::new("here")).unwrap();
        assert_eq!(record.command, ["-x", "-F"]);
        assert_eq!(record.output.output, Path::new("here"));
        assert_eq!(record.events.events, ["page-faults"]);
        assert_eq!(record.events.frequency.as_deref(), Some("99"));
        assert_eq!(record.call_chains.call_graph, CallGraph::Fp);
    }

    #[test]
    fn a_recording_is_made_or_read_but_not_both() {
        assert!(!flame(&["file"]).unwrap().is_given());
        for bad in [
            &["file", "--", "true"][..],
            &["-i", "file", "--", "true"],
            &["-F", "99"],
        ] {
            assert_eq!(flame(bad).unwrap_err().exit_code(), 2, "{bad:?}");
        }
    }
}
