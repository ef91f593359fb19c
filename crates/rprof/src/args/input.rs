//! Which recording, and what of it.

use super::limits::LimitArgs;
use super::recording::Recording;
use super::sources::SourceArgs;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_profile::{Ancestor, Filter};
use rprof_symbols::Demangling;
use std::ops::RangeInclusive;

/// Which recording, and what of it: the same for all readers.
#[derive(Debug, clap::Args)]
pub(crate) struct InputArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    /// Only threads of these names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    comms: Vec<String>,

    /// Only samples in these binaries and libraries
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    dsos: Vec<String>,

    /// Only samples in these functions
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    symbols: Vec<String>,

    /// Only these processes
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pid: Vec<i32>,

    /// Only the recorded command and what it started; with =PID, that process and what it started
    #[arg(
        long,
        value_name = "PID",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "command",
        value_parser = parse_ancestor
    )]
    descendants: Option<Ancestor>,

    /// Only these threads
    #[arg(long, value_name = "TID", value_delimiter = ',')]
    tid: Vec<i32>,

    /// Only samples on these CPUs, such as 0-3,8
    #[arg(short = 'C', long, value_name = "CPUS", value_parser = parse_cpus)]
    cpu: Option<CpuList>,

    /// Only samples of this time: START,STOP in seconds, either may be left out
    #[arg(long, value_name = "START,STOP", value_parser = Filter::parse_time)]
    time: Option<RangeInclusive<u64>>,

    /// At most N frames of a stack, from the innermost on
    #[arg(long, value_name = "N", value_parser = parse_max_stack)]
    max_stack: Option<usize>,

    #[command(flatten)]
    sources: SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Do not show inlined functions as frames of their own
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// How names are shown: short, full (with parameters), folded (without template arguments) or no
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        default_missing_value = "short",
        default_value = "short",
        value_parser = parse_demangling,
        overrides_with = "no_demangle"
    )]
    demangle: Demangling,

    /// Names as they are in the file: the same as --demangle no
    #[arg(long, overrides_with = "demangle")]
    no_demangle: bool,
}

/// CPUs as one value, for clap.
#[derive(Clone, Debug)]
struct CpuList(Vec<u32>);

fn parse_cpus(text: &str) -> Result<CpuList, rprof_events::EventError> {
    rprof_events::parse_cpu_list(text).map(CpuList)
}

fn parse_ancestor(text: &str) -> Result<Ancestor, String> {
    match text {
        "command" => Ok(Ancestor::Command),
        pid => match pid.parse() {
            Ok(pid) if pid > 0 => Ok(Ancestor::Process(pid)),
            _ => Err("a process id".to_owned()),
        },
    }
}

fn parse_demangling(text: &str) -> Result<Demangling, String> {
    match text {
        "short" => Ok(Demangling::Short),
        "full" => Ok(Demangling::Full),
        "folded" => Ok(Demangling::Folded),
        "no" => Ok(Demangling::Off),
        _ => Err("short, full, folded or no".to_owned()),
    }
}

fn parse_max_stack(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number of frames, at least 1".to_owned()),
        Ok(n) => Ok(n),
    }
}

impl InputArgs {
    pub(crate) fn locator(&self, reader: &Reader) -> Locator {
        self.sources.locator(reader.budget())
    }

    pub(crate) fn demangling(&self) -> Demangling {
        match self.no_demangle {
            true => Demangling::Off,
            false => self.demangle,
        }
    }

    pub(crate) fn filter(&self) -> Filter {
        Filter {
            comms: self.comms.clone(),
            dsos: self.dsos.clone(),
            symbols: self.symbols.clone(),
            pids: self.pid.clone(),
            descendants_of: self.descendants,
            tids: self.tid.clone(),
            cpus: self.cpu.clone().map(|list| list.0).unwrap_or_default(),
            time_ns: self.time.clone(),
            max_stack: self.max_stack,
        }
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
