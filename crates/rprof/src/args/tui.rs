//! The arguments of `rprof tui`.

use super::{AnnotateArgs, Args, Command, FdeArgs, InputArgs, ReportArgs, examples};
use clap::Parser;
use rprof_profile::view::{SortKey, Weighing};
use std::ffi::OsString;

#[derive(Debug, clap::Args)]
#[command(after_help = examples::of_tui())]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    /// What rows are grouped by, separated by commas: comm, dso, sym; o chooses others
    #[arg(short = 's', long, value_name = "KEYS", default_value = "comm,dso,sym", value_parser = parse_keys)]
    sort: SortKeys,

    /// A row also counts what it called (default where there are call chains)
    #[arg(long, overrides_with = "no_children")]
    children: bool,

    /// A row counts only its own samples
    #[arg(long, overrides_with = "children")]
    no_children: bool,

    /// Event to begin with, of a recording with several [default: the first]; Tab shows the others
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
}

/// Sort keys as one value, for clap.
#[derive(Clone, Debug, PartialEq)]
struct SortKeys(Vec<SortKey>);

fn parse_keys(text: &str) -> Result<SortKeys, String> {
    let mut keys: Vec<SortKey> = Vec::new();
    for name in text.split(',') {
        match SortKey::parse(name.trim()).filter(|key| SortKey::DEFAULT.contains(key)) {
            Some(key) if keys.contains(&key) => {}
            Some(key) => keys.push(key),
            None => {
                return Err(
                    "comm, dso and sym, separated by commas (rprof report has others)".to_owned(),
                );
            }
        }
    }
    Ok(SortKeys(keys))
}

impl Args {
    /// The arguments of `rprof tui` as those of `rprof report`, which shows all events.
    pub(crate) fn report_instead() -> anyhow::Result<ReportArgs> {
        let words = as_report(std::env::args_os());
        match Self::try_parse_from(words)?.command {
            Command::Report(args) => Ok(*args),
            _ => anyhow::bail!("rprof report shows the recording as text"),
        }
    }
}

fn as_report(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut report: Vec<OsString> = Vec::new();
    let mut words = words;
    let mut is_before = true;
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or_default();
        match text {
            "tui" if is_before => {
                is_before = false;
                report.push("report".into());
            }
            "-e" | "--event" => drop(words.next()),
            text if text.starts_with("-e") || text.starts_with("--event=") => {}
            _ => report.push(word),
        }
    }
    report
}

impl TuiArgs {
    /// How code is written: as `rprof annotate` does it by default, with the same files.
    pub(crate) fn listing(&self) -> anyhow::Result<AnnotateArgs> {
        // Whole lines without colours: they can be moved sideways, and are coloured on the screen.
        let words = [
            "rprof",
            "annotate",
            "--stdio-color=never",
            "--full-names",
            "-i",
        ];
        let mut words: Vec<OsString> = words.map(OsString::from).into();
        words.push(self.input.recording.path().into());
        if let Some(root) = self.input.samples.symfs() {
            words.extend(["--symfs".into(), root.into()]);
        }
        match Args::try_parse_from(words)?.command {
            Command::Annotate(args) => Ok(*args),
            _ => anyhow::bail!("rprof annotate shows code"),
        }
    }

    /// What rows are grouped by.
    pub(crate) fn keys(&self) -> Vec<SortKey> {
        self.sort.0.clone()
    }

    /// What rows count.
    pub(crate) fn weighing(&self, has_call_chains: bool) -> Weighing {
        match self.no_children || !has_call_chains {
            true => Weighing::Own,
            false => Weighing::WithChildren,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_the_same_arguments_but_for_the_event() {
        let words = "rprof tui -i tui -e cycles --event=x -ey -s sym -c tui";
        let report = as_report(words.split(' ').map(OsString::from));
        assert_eq!(
            report,
            "rprof report -i tui -s sym -c tui"
                .split(' ')
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn rows_are_grouped_by_what_the_samples_have() {
        assert_eq!(
            parse_keys("dso, symbol,dso"),
            Ok(SortKeys(vec![SortKey::Dso, SortKey::Symbol]))
        );
        assert!(parse_keys("cpu").is_err() && parse_keys("").is_err());
    }
}
