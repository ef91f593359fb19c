//! The arguments of `rprof diff`.

use super::TableArgs;
use super::choice::{Choice, one_of};
use super::fde::FdeArgs;
use super::filters::CommonFilterArgs;
use super::input::parse_demangling;
use super::limits::LimitArgs;
use super::self_time::SelfTimeArgs;
use super::sources::SourceArgs;
use crate::screen::PagerArgs;
use clap::ValueEnum;
use rprof_base::Share;
use rprof_diff::{CompareOptions, Compute, Condition, DiffShare, Per, RowOrder};
use rprof_profile::difference::Side;
use rprof_profile::view::SortKey;
use rprof_profile::{Dimension, Filter, TimeSlices};
use rprof_symbols::Demangling;
use rprof_untrusted::printable;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The heading of output options in `--help`.
const OUTPUT: &str = "Output";
/// Default limit in percent: smaller unmarked rows are of no interest to people.
const LEAST_SHARE: Share = Share::from_percent(0.1);

/// Shown at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  rprof diff                                        perf.data.old and perf.data
  rprof diff a1 a2 a3 a4 a5 -- b1 b2 b3 b4 b5       five runs per side
  rprof diff old new --per syscalls:sys_enter_read  cost per read
  rprof diff old new --per event -s dso             shares, by binary
  rprof diff old new -g                             also call trees
  rprof diff --each a1 a2 a3 -- b c d               which of b, c, d regressed
  rprof diff --slower-than p99 perf.data            slow spans against others
  rprof diff --time ,+10:+10, perf.data             two times of one recording
  rprof diff a1 a2 --fail-if 'total>+3%' -- b1 b2   a gate: exit status 1";

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("comms", |comms| comms.short('C').help("Keep samples of threads with these names")),
    mut_arg("dsos", |dsos| dsos.help("Keep samples of what ran in these binaries and libraries itself")),
    mut_arg("cpu", |cpu| cpu.short(None).display_order(3)),
    mut_arg("time", |time| time
        .help("Keep samples in this time range of each recording, such as +1,+3 or 10%-20%; BEFORE:AFTER: a time for each \
               side. With a single recording, compare two times of it")
        .value_parser(TimeSlices::parse_of_two)),
    after_help = EXAMPLES
)]
pub(crate) struct DiffArgs {
    /// Recordings before the change; without --, OLD and NEW or NEW alone, as in perf diff [default: perf.data.old
    /// perf.data]
    #[arg(value_name = "BEFORE")]
    before: Vec<PathBuf>,

    /// Recordings after the change
    #[arg(value_name = "AFTER", last = true)]
    after: Vec<PathBuf>,

    /// Compare each recording after the change separately with all before it, and report which of them regressed.
    /// Without --, the first recording is before the change and all others are after
    #[arg(long, conflicts_with = "call_graph")]
    pub(crate) each: bool,

    /// Normalize amounts per event (shares, as in perf), run, time, cpu-time, or another recorded event given by name,
    /// such as a probe hit once per request [default: run for commands that ran to completion, time for recordings of
    /// processes and CPUs]
    #[arg(long, value_name = "WHAT", value_parser = parse_per)]
    pub(crate) per: Option<Per>,

    /// Accept this share of false positives among the marked rows
    #[arg(long, value_name = "SHARE", default_value_t = CompareOptions::ALPHA, value_parser = parse_alpha)]
    pub(crate) alpha: f64,

    /// Exit with status 1 (errors: 2) if the change is statistically significant: total, sym:NAME, children:NAME
    /// (including callees), dso:NAME or comm:NAME; > >= < or <=; percent (+3%), percentage points (+0.5pp) or an
    /// amount. Checks the first event
    #[arg(long, value_name = "CONDITION")]
    pub(crate) fail_if: Vec<Condition>,

    /// Group rows by these columns, separated by commas; see rprof report --help [default: dso,sym]
    #[arg(short = 's', long, value_name = "KEYS", value_parser = parse_keys)]
    sort: Option<Keys>,

    /// Compute delta, delta-abs, ratio, or wdiff:W1,W2 (weighted difference), and sort rows by it [default: delta-abs;
    /// rows are then sorted by amount]
    #[arg(short = 'c', long, value_name = "WHAT", value_parser = Compute::parse)]
    compute: Option<Compute>,

    /// Sort rows by the baseline (0) or by the computed value (1); with delta-abs, significant changes come first
    /// [default: by change of amount, significant changes first; with -c: 1]
    #[arg(short = 'o', long, value_name = "COLUMN", value_parser = clap::value_parser!(u8).range(0..=1))]
    order: Option<u8>,

    /// Show the weight (period) of each row
    #[arg(short = 'p', long)]
    pub(crate) period: bool,

    /// Show how values are computed
    #[arg(short = 'F', long)]
    pub(crate) formula: bool,

    /// Also show each event's call tree: the share of each path before and after, largest change first. Requires one
    /// recording per side
    #[arg(short = 'g', long = "call-graph", conflicts_with_all = ["exact_names", "field_separator"])]
    pub(crate) call_graph: bool,

    /// Count only samples in the function itself (self): faster, since stacks are not read
    #[arg(long, conflicts_with = "call_graph")]
    pub(crate) no_children: bool,

    /// Show only rows that exist on both sides
    #[arg(short = 'b', long)]
    pub(crate) baseline_only: bool,

    /// Match functions and binaries by exact name only, as perf diff does: do not ignore hashes, generics and compiler
    /// suffixes
    #[arg(long)]
    pub(crate) exact_names: bool,

    /// For compatibility with perf: do not check the owner of the file
    #[arg(short = 'f', long, hide = true)]
    force: bool,

    #[command(flatten)]
    pub(crate) filters: CommonFilterArgs,

    /// Base of percentages when filters are used
    #[arg(
        help_heading = "Filters",
        long,
        value_name = "OF",
        default_value = "absolute",
        value_parser = one_of(BASES)
    )]
    pub(crate) percentage: DiffShare,

    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) fde: FdeArgs,

    #[command(flatten)]
    pub(crate) self_time: SelfTimeArgs,

    /// Do not show inlined functions as separate rows
    #[arg(long)]
    pub(crate) no_inline: bool,

    /// Demangle names: short, full (with parameters), folded (without template arguments) or no
    #[arg(long, value_name = "FORM", default_value = "short", value_parser = parse_demangling)]
    pub(crate) demangle: Demangling,

    /// Output format [default: text]
    #[arg(help_heading = OUTPUT, long, value_enum, value_name = "FORMAT", default_value = "text", hide_default_value = true)]
    pub(crate) format: DiffFormat,

    /// Omit unmarked rows whose share is below PERCENT on both sides [default: 0.1 in text and Markdown; 0 with -t and
    /// in other formats]
    #[arg(help_heading = OUTPUT, long, value_name = "PERCENT", value_parser = parse_percent)]
    percent_limit: Option<Share>,

    /// Show at most this many rows of each event
    #[arg(help_heading = OUTPUT, long, value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) table: TableArgs,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

/// The words of `--percentage`.
const BASES: &[Choice<DiffShare>] = &[
    ("absolute", "All samples", DiffShare::Absolute),
    (
        "relative",
        "The samples that pass the filters",
        DiffShare::Relative,
    ),
];

/// The forms of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// perf's columns, with the significance of each change
    Text,
    /// Comma-separated values: all numbers of each row
    Csv,
    /// All numbers, conditions and notes (docs: crates/JSON.md)
    Json,
    /// A table for issues and tickets; 20 rows, unless --limit is given
    Markdown,
    /// Same, for $GITHUB_STEP_SUMMARY, with ::error and ::warning lines on stderr
    Github,
}

/// Sort keys as one value, for clap.
#[derive(Clone, Debug)]
struct Keys(Vec<SortKey>);

/// Recordings before and after, or an error message.
type BeforeAndAfter = Result<(Vec<PathBuf>, Vec<PathBuf>), String>;

impl DiffArgs {
    /// The recordings of both sides, or why there are none. clap does not report a `--` with nothing after it, such as
    /// an empty list in a script: `words`, the whole command line, shows it.
    pub(crate) fn sides(&self, words: impl IntoIterator<Item = OsString>) -> BeforeAndAfter {
        let (old, new) = (PathBuf::from("perf.data.old"), PathBuf::from("perf.data"));
        let has_dashes = words.into_iter().any(|word| word == "--");
        if let Some(flag) = self.after.iter().find(|path| is_flag(path)) {
            let flag = printable(&flag.to_string_lossy()).into_owned();
            return Err(format!(
                "{flag} comes after --, where only recordings are allowed: put flags before -- (for a file of this \
                 name, use ./{flag})"
            ));
        }
        match (&self.before[..], &self.after[..]) {
            (_, []) if has_dashes => Err("no recordings after --".to_owned()),
            ([one, others @ ..], []) if self.each => match others {
                [] => Err("--each needs BEFORE and at least one recording after it".to_owned()),
                others => Ok((vec![one.clone()], others.to_vec())),
            },
            // Fast spans of a recording are before, its slow ones after.
            ([], []) if self.has_speed() => Ok((vec![new.clone()], vec![new])),
            ([one], []) if self.has_speed() => Ok((vec![one.clone()], vec![one.clone()])),
            ([one], []) if self.has_two_times() => Ok((vec![one.clone()], vec![one.clone()])),
            ([], []) if self.has_two_times() && !old.exists() => Ok((vec![new.clone()], vec![new])),
            ([], []) => Ok((vec![old], vec![new])),
            ([_], []) if self.filters.filter().times.is_some() && !old.exists() => Err(
                "no perf.data.old to compare with; to compare two times of one recording: --time ,+10:+10,"
                    .to_owned(),
            ),
            ([one], []) => Ok((vec![old], vec![one.clone()])),
            ([one, other], []) => Ok((vec![one.clone()], vec![other.clone()])),
            (all, []) => Err(format!(
                "{} recordings: put -- before those made after the change, as in rprof diff a1 a2 -- b1 b2",
                all.len()
            )),
            ([], _) => Err("no recordings before --".to_owned()),
            (before, after) => Ok((before.to_vec(), after.to_vec())),
        }
    }

    /// Which samples count of the recordings of a side.
    pub(crate) fn filter_of(&self, side: Side) -> Filter {
        let mut filter = self.filters.filter();
        if let (Side::After, Some(times)) = (side, &filter.times) {
            let second = times.of_second().cloned();
            filter.times = second.or(filter.times.take());
        }
        filter
    }

    /// What perf's column has.
    pub(crate) fn compute(&self) -> Compute {
        self.compute.unwrap_or_default()
    }

    /// What rows are ordered by: as in perf if one of its options says so.
    pub(crate) fn order(&self) -> RowOrder {
        match (self.order, self.compute) {
            (Some(0), _) => RowOrder::Baseline,
            (None, None) => RowOrder::Amount,
            (Some(_), _) | (None, Some(_)) => RowOrder::Computed,
        }
    }

    /// Whether each side has a time of its own.
    pub(crate) fn has_two_times(&self) -> bool {
        let times = self.filters.filter().times;
        times.is_some_and(|times| times.of_second().is_some())
    }

    /// What a recording is called: where each side has a time of its own, with that of a filter.
    pub(crate) fn with_time(&self, name: String, filter: &Filter) -> String {
        match &filter.times {
            Some(times) if self.has_two_times() => format!("{name} (time {})", times.text()),
            _ => name,
        }
    }

    /// Whether samples in slow spans are asked for, or in fast ones.
    pub(crate) fn has_speed(&self) -> bool {
        self.filters.filter().span_speed.is_some()
    }

    /// The smallest share of an unmarked row that is shown.
    pub(crate) fn least_share(&self) -> Share {
        let is_for_people = match self.format {
            DiffFormat::Text => self.table.field_separator.is_none(),
            DiffFormat::Markdown | DiffFormat::Github => true,
            DiffFormat::Csv | DiffFormat::Json => false,
        };
        let usual = if is_for_people {
            LEAST_SHARE
        } else {
            Share::from_percent(0.0)
        };
        self.percent_limit.unwrap_or(usual)
    }

    pub(crate) fn keys(&self) -> Vec<SortKey> {
        match &self.sort {
            Some(Keys(keys)) => keys.clone(),
            None => vec![SortKey::Dso, SortKey::Symbol],
        }
    }
}

/// Whether a word looks like a flag, and no file has this name.
fn is_flag(word: &Path) -> bool {
    word.as_os_str().as_encoded_bytes().starts_with(b"-") && !word.exists()
}

fn parse_per(text: &str) -> Result<Per, String> {
    match text.trim() {
        "" => {
            Err("expected event, run, time, cpu-time, or the name of a recorded event".to_owned())
        }
        text => Ok(Per::parse(text)),
    }
}

fn parse_percent(text: &str) -> Result<Share, String> {
    let percent = text.trim_end_matches('%').trim().parse().ok();
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.map(Share::from_percent);
    percent.ok_or_else(|| "expected a percentage from 0 to 100, such as 0.5".to_owned())
}

fn parse_alpha(text: &str) -> Result<f64, String> {
    let alpha = text.parse().ok();
    let alpha = alpha.filter(|alpha| (1e-6..=0.5).contains(alpha));
    alpha.ok_or_else(|| "expected a share from 0.000001 to 0.5, such as 0.01".to_owned())
}

fn parse_keys(text: &str) -> Result<Keys, String> {
    let names = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let keys = names.map(|name| match SortKey::parse(name) {
        Some(SortKey::Dimension(Dimension::Recording)) => {
            Err("'recording' always differs: diff compares recordings".to_owned())
        }
        Some(key) => Ok(key),
        None => Err(format!(
            "'{name}' is not a sort key (see rprof report --help)"
        )),
    });
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    if keys.is_empty() {
        Err("expected sort keys, such as dso,sym".to_owned())
    } else {
        Ok(Keys(keys))
    }
}

#[cfg(test)]
mod tests;
