//! How much is written, into how many files, and what of what already runs.

use super::numbers;
use rprof_record::{RotateOn, Synthesis};
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Files")]
pub(crate) struct FileArgs {
    /// Compress the recording: level 1 (fastest; used if no LEVEL is given) to 22 (smallest). With --off-cpu, files are
    /// compressed at level 1 by default
    #[arg(
        short = 'z',
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = parse_level,
        overrides_with = "no_compression"
    )]
    compression_level: Option<i32>,

    /// Do not compress the recording, with --off-cpu either
    #[arg(long, overrides_with = "compression_level")]
    no_compression: bool,

    /// Keep only the latest samples, in overwritten rings (size: -m), and write them at the end, or at each
    /// --switch-output; callers come from frame pointers
    #[arg(long, conflicts_with = "post_unwind")]
    pub(crate) overwrite: bool,

    /// Flight recorder: keep only the SECONDS before and after each --trigger, in FILE.TIME; callers come from frame
    /// pointers
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = numbers::seconds,
        conflicts_with_all = ["overwrite", "switch_output", "switch_output_event", "post_unwind", "timestamp_filename"]
    )]
    pub(crate) flight: Option<Duration>,

    /// Keep the samples around this event (--flight): signal (SIGUSR2, always), 'exit!=0' (the command fails),
    /// 'span > 50ms' or 'NAME > 50ms' (a --span takes longer), or an event such as uprobe:/path:function; may be
    /// repeated
    #[arg(long, value_name = "WHEN", requires = "flight")]
    pub(crate) trigger: Vec<String>,

    /// Rotate the output file on SIGUSR2 (signal), at a size (100M) or after a time (30s, 5m); earlier files are named
    /// FILE.TIME
    #[arg(
        long,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "signal",
        value_parser = parse_switch
    )]
    pub(crate) switch_output: Option<RotateOn>,

    /// Rotate the output file when this event occurs, anywhere on the machine if permitted (implies
    /// --switch-output=signal)
    #[arg(long, value_name = "EVENT")]
    pub(crate) switch_output_event: Option<String>,

    /// With --switch-output, keep only the latest N files (0: all)
    #[arg(
        long,
        value_name = "N",
        value_parser = numbers::files,
        allow_negative_numbers = true
    )]
    pub(crate) switch_max_files: Option<usize>,

    /// Append the end time to the file's name: FILE.TIME
    #[arg(long)]
    pub(crate) timestamp_filename: bool,

    /// End the recording and the command when the file reaches this size, such as 100M
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_size,
        allow_negative_numbers = true
    )]
    pub(crate) max_size: Option<u64>,

    /// Do not collect build ids at the end (those in mmap records are kept)
    #[arg(short = 'B', long)]
    pub(crate) no_buildid: bool,

    /// Record what is already running: all, task (no mappings), mmap (same as all) or no
    #[arg(long, value_name = "WHAT", value_parser = parse_synthesis)]
    pub(crate) synth: Option<Synthesis>,

    /// Record what is running at the end of the recording instead of its beginning
    #[arg(long)]
    pub(crate) tail_synthesize: bool,
}

/// As perf: 0 is the default, and more than there is is the highest.
fn parse_level(text: &str) -> Result<i32, String> {
    match text.parse::<u32>() {
        Ok(0) => Ok(1),
        Ok(level) => Ok(i32::try_from(level).unwrap_or(MAX_LEVEL).min(MAX_LEVEL)),
        Err(_) => Err(format!("expected a level from 1 to {MAX_LEVEL}")),
    }
}

/// zstd's highest level.
const MAX_LEVEL: i32 = 22;

/// The level of files with context switches: it costs no more CPU time than writing what it saves.
const LEVEL_OF_SWITCHES: i32 = 1;

impl FileArgs {
    /// zstd's level, if records are compressed.
    pub(crate) fn compression(&self, has_switches: bool) -> Option<i32> {
        let by_default = has_switches && !self.no_compression;
        let level = self.compression_level;
        level.or(by_default.then_some(LEVEL_OF_SWITCHES))
    }

    /// When another file begins.
    pub(crate) fn rotate_on(&self) -> Option<RotateOn> {
        if self.flight.is_some() {
            return Some(RotateOn::Signal);
        }
        let by_event = self.switch_output_event.as_ref();
        self.switch_output.or(by_event.map(|_| RotateOn::Signal))
    }
}

/// A number with one of these units behind it.
fn with_unit(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let unit = text.chars().next_back()?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    number.checked_mul(*factor).filter(|&number| number > 0)
}

const SIZES: &[(char, u64)] = &[('B', 1), ('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
const TIMES: &[(char, u64)] = &[('s', 1), ('m', 60), ('h', 3600), ('d', 86400)];

/// A size in bytes, of a number with a unit behind it.
pub(crate) fn bytes_with_unit(text: &str) -> Option<u64> {
    with_unit(text, SIZES)
}

/// A time: seconds, or a number with a unit behind it.
pub(crate) fn time_with_unit(text: &str) -> Result<Duration, String> {
    numbers::seconds(text)
}

fn parse_size(text: &str) -> Result<u64, String> {
    let what = "expected a size with its unit (B, K, M or G), such as 100M";
    bytes_with_unit(text).ok_or_else(|| what.to_owned())
}

fn parse_switch(text: &str) -> Result<RotateOn, String> {
    let what = "expected signal, a size (B, K, M, G) or a time (s, m, h, d), such as 100M or 30s";
    if text == "signal" {
        return Ok(RotateOn::Signal);
    }
    let bytes = bytes_with_unit(text).map(RotateOn::Bytes);
    let time = || with_unit(text, TIMES).map(|secs| RotateOn::Time(Duration::from_secs(secs)));
    bytes.or_else(time).ok_or_else(|| what.to_owned())
}

/// perf's words, one or several. Control groups are described by no word here.
fn parse_synthesis(text: &str) -> Result<Synthesis, String> {
    let mut synthesis = Synthesis::Nothing;
    for word in text.split(',') {
        synthesis = match (word, synthesis) {
            ("no" | "none", _) => Synthesis::Nothing,
            ("all" | "mmap", _) => Synthesis::All,
            ("task", Synthesis::Nothing) => Synthesis::Tasks,
            ("task" | "cgroup", before) => before,
            _ => return Err("expected no, all, task, mmap or cgroup".to_owned()),
        };
    }
    Ok(synthesis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_switched_by_signal_size_or_time() {
        let seconds = |secs| Ok(RotateOn::Time(Duration::from_secs(secs)));
        for (text, expected) in [
            ("signal", Ok(RotateOn::Signal)),
            ("1B", Ok(RotateOn::Bytes(1))),
            ("2K", Ok(RotateOn::Bytes(2048))),
            ("3G", Ok(RotateOn::Bytes(3 << 30))),
            ("1s", seconds(1)),
            ("2m", seconds(120)),
            ("1h", seconds(3600)),
            ("1d", seconds(86400)),
        ] {
            assert_eq!(parse_switch(text), expected);
        }
        for bad in [
            "",
            "1",
            "0s",
            "0K",
            "-1s",
            "1.5s",
            "s",
            "1x",
            "99999999999G",
            "é",
        ] {
            assert!(parse_switch(bad).is_err(), "{bad}");
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn levels_of_compression_are_perfs() {
        for (text, level) in [
            ("0", 1),
            ("1", 1),
            ("22", 22),
            ("30", 22),
            ("4294967295", 22),
        ] {
            assert_eq!(parse_level(text), Ok(level));
        }
        for bad in ["", "-1", "x", "1.5", "99999999999"] {
            assert!(parse_level(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_described_is_said_by_perfs_words() {
        for (text, expected) in [
            ("no", Synthesis::Nothing),
            ("all", Synthesis::All),
            ("task", Synthesis::Tasks),
            ("mmap", Synthesis::All),
            ("task,mmap", Synthesis::All),
            ("mmap,task", Synthesis::All),
            ("cgroup", Synthesis::Nothing),
            ("cgroup,task", Synthesis::Tasks),
        ] {
            assert_eq!(parse_synthesis(text), Ok(expected));
        }
        assert!(parse_synthesis("maps").is_err());
    }
}
