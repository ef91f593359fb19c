//! The arguments of `rprof tui`.

use super::{Args, Command, InputArgs, ReportArgs, SelfTimeArgs};
use clap::Parser;
use rprof_profile::view::{SortKey, Weighing};
use rprof_profile::{Account, WAIT_DIMENSIONS};

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof tui                               browse perf.data
  rprof tui work.data -s sym              by function only
  rprof tui --no-children --time 10%-20%  self time in a time range";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) self_time: SelfTimeArgs,

    /// Group rows by these keys, separated by commas: comm, dso, sym, pid, tid, cpu; with --off-cpu or --wall also
    /// cause, state, waker; press o to change
    #[arg(short = 's', long, value_name = "KEYS", default_value = "comm,dso,sym", value_parser = parse_keys)]
    sort: SortKeys,

    /// Count callees' samples in each row (default if call chains were recorded)
    #[arg(long, overrides_with = "no_children")]
    children: bool,

    /// Count only each row's own samples (self)
    #[arg(long, overrides_with = "children")]
    no_children: bool,

    /// Event to show first, if the recording has several [default: the first]; Tab switches events
    #[arg(short = 'e', long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
}

/// Sort keys as one value, for clap.
#[derive(Clone, Debug, PartialEq)]
struct SortKeys(Vec<SortKey>);

fn parse_keys(text: &str) -> Result<SortKeys, String> {
    let mut keys: Vec<SortKey> = Vec::new();
    for name in text.split(',') {
        match SortKey::parse(name.trim()) {
            Some(key) if keys.contains(&key) => {}
            Some(key) if is_shown(key) => keys.push(key),
            Some(key) if key.is_of_lines() => {
                let name = key.name();
                return Err(format!(
                    "rprof tui cannot group by source line; use rprof report -s {name}, or press a on a function"
                ));
            }
            _ => {
                return Err(
                    "expected comm, dso, sym, pid, tid, cpu, cause, state and waker, separated by commas (rprof \
                     report supports more keys)"
                        .to_owned(),
                );
            }
        }
    }
    Ok(SortKeys(keys))
}

/// Whether rows can be grouped by a key.
fn is_shown(key: SortKey) -> bool {
    SortKey::BROWSED.contains(&key) || is_of_waits(&key)
}

/// Whether only waits have values in a key.
fn is_of_waits(key: &SortKey) -> bool {
    matches!(key, SortKey::Dimension(one) if WAIT_DIMENSIONS.contains(one))
}

impl TuiArgs {
    /// Refuses keys that no sample has a value in.
    pub(crate) fn check_keys(&self) -> Result<(), String> {
        let SortKeys(keys) = &self.sort;
        match keys.iter().find(|key| is_of_waits(key)) {
            Some(key) if self.input.filter().account == Account::OnCpu => {
                Err(format!("-s {} needs --off-cpu or --wall", key.name()))
            }
            _ => Ok(()),
        }
    }

    /// The same as arguments of `rprof report`, which shows all events.
    pub(crate) fn into_report(self) -> anyhow::Result<ReportArgs> {
        let mut words = vec!["rprof".to_owned(), "report".to_owned()];
        let SortKeys(keys) = self.sort;
        if keys != SortKey::DEFAULT {
            let names: Vec<&str> = keys.iter().map(|key| key.name()).collect();
            words.push(format!("--sort={}", names.join(",")));
        }
        match Args::try_parse_from(words)?.command {
            Command::Report(report) => {
                let mut report = *report;
                (report.input, report.event) = (self.input, self.event);
                (report.children, report.no_children) = (self.children, self.no_children);
                report.self_time = self.self_time;
                Ok(report)
            }
            _ => anyhow::bail!("rprof report shows the recording as text"),
        }
    }

    /// The sort keys that group rows.
    pub(crate) fn keys(&self) -> Vec<SortKey> {
        self.sort.0.clone()
    }

    /// Whether rows count total or self.
    pub(crate) fn weighing(&self, has_call_chains: bool) -> Weighing {
        if self.no_children || !has_call_chains {
            Weighing::Own
        } else {
            Weighing::WithChildren
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_the_same_arguments() {
        let report = |words: &str| {
            let words = words.split(' ');
            let Command::Tui(args) = Args::parse_from(words).command else {
                panic!()
            };
            args.into_report().unwrap()
        };
        let args = report("rprof tui -Ue tui -s sym -c web --no-children --no-fde -i x");
        assert_eq!(args.event.as_deref(), Some("tui"));
        assert!(args.no_children && args.input.fde.no_fde);
        assert_eq!(
            args.input.recordings.first().path(),
            std::path::Path::new("x")
        );
        let same = "rprof report --no-fde -U -s sym -c web -i x";
        let Command::Report(same) = Args::parse_from(same.split(' ')).command else {
            panic!()
        };
        assert_eq!(format!("{:?}", args.columns), format!("{:?}", same.columns));
        assert_eq!(format!("{:?}", args.input), format!("{:?}", same.input));
    }

    #[test]
    fn rows_are_grouped_by_what_the_samples_have() {
        assert_eq!(
            parse_keys("dso, symbol,dso"),
            Ok(SortKeys(vec![SortKey::Dso, SortKey::Symbol]))
        );
        assert!(parse_keys("cause,waker").is_ok());
        assert!(parse_keys("pid,cpu").is_ok());
        let unknown = parse_keys("x").unwrap_err();
        assert_eq!(
            (parse_keys("dso,"), parse_keys("mem")),
            (Err(unknown.clone()), Err(unknown))
        );
        let said = parse_keys("sym,srcline").unwrap_err();
        assert!(
            said.contains("use rprof report -s srcline, or press a"),
            "{said}"
        );
    }
}
