//! The arguments of `rprof critical`.

use super::filters::{parse_names, parse_pid, parse_tid};
use super::input::parse_demangling;
use super::report::parse_percent;
use super::sources::SourceArgs;
use super::{LimitArgs, Recording};
use crate::screen::PagerArgs;
use rprof_analysis::Options;
use rprof_perfdata::Reader;
use rprof_profile::{NameList, PathEnd, TimeSlices};
use rprof_sched::CriticalForm;
use rprof_symbols::Demangling;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The path is followed backwards from the end of the recorded command; with -p, -t or -c, of the thread of \
    those that ends last. A thread that runs is on the path. Where another thread woke it, the path goes on with that \
    thread. Where no thread woke it, the wait itself is on the path. As long as threads do not wait for CPUs, only what \
    is on the path can make the program faster: a function that takes 10 % less time saves at most a tenth of its \
    share.\n\n\
    Record with:\n  \
    rprof record --off-cpu -- COMMAND (as root: only then is it known who woke whom)\n\n\
    rprof report --critical and rprof flame --critical show the stacks of the path."
)]
pub(crate) struct CriticalArgs {
    #[command(flatten)]
    pub(crate) recording: Recording,

    /// Show each step of the path, in order of time
    #[arg(long, conflicts_with = "percent_limit")]
    steps: bool,

    /// Print JSON (docs: crates/JSON.md)
    #[arg(long, conflicts_with_all = ["steps", "percent_limit"])]
    json: bool,

    /// Omit functions below this percentage, both of CPU time and of the path
    #[arg(long, value_name = "PERCENT", default_value_t = 0.5, value_parser = parse_percent)]
    pub(crate) percent_limit: f64,

    /// Follow the path from the end of a thread with one of these names: a comma-separated list; each may be a pattern
    /// such as 'kworker/*' or a '/regex/'; a leading '!' excludes it
    #[arg(short = 'c', long, value_name = "NAMES", value_parser = parse_names)]
    comms: Vec<NameList>,

    /// Follow the path from the end of a thread of these processes
    #[arg(short = 'p', long, value_name = "PID", value_delimiter = ',', value_parser = parse_pid)]
    pid: Vec<i32>,

    /// Follow the path from the end of one of these threads
    #[arg(short = 't', long, value_name = "TID", value_delimiter = ',', value_parser = parse_tid)]
    tid: Vec<i32>,

    /// Show only the part of the path from START to STOP: seconds (or with ms, us, ns), either may be omitted; +1.5,+3: from the
    /// beginning of the recording; 10%-20%: shares of it
    #[arg(long, value_name = "START,STOP", value_parser = parse_part, allow_hyphen_values = true)]
    pub(crate) time: Option<TimeSlices>,

    /// Follow the paths to the ends of spans with these names (rprof record --span), each from its beginning
    #[arg(long, value_name = "NAMES", value_parser = parse_names, conflicts_with_all = ["comms", "pid", "tid"])]
    span: Vec<NameList>,

    #[command(flatten)]
    sources: SourceArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Do not show inlined functions as separate functions
    #[arg(long)]
    no_inline: bool,

    /// Demangle names: short, full (with parameters), folded (without template arguments) or no
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        default_missing_value = "short",
        default_value = "short",
        value_parser = parse_demangling
    )]
    demangle: Demangling,

    #[command(flatten)]
    pub(crate) paging: PagerArgs,
}

/// One span of time: the path between two of them would be neither.
fn parse_part(text: &str) -> Result<TimeSlices, String> {
    let times = TimeSlices::parse(text).map_err(|why| why.to_string())?;
    if times.is_one() {
        return Ok(times);
    }
    Err("the part of a path is one span of time: START,STOP".to_owned())
}

impl CriticalArgs {
    /// Whose path is shown.
    pub(crate) fn end(&self) -> PathEnd {
        let spans = NameList::of_all(&self.span);
        if !spans.is_empty() {
            return PathEnd::Spans(spans);
        }
        PathEnd::of(
            NameList::of_all(&self.comms),
            self.pid.clone(),
            self.tid.clone(),
        )
    }

    pub(crate) fn form(&self) -> CriticalForm {
        match (self.json, self.steps) {
            (true, _) => CriticalForm::Json,
            (_, true) => CriticalForm::Steps,
            _ => CriticalForm::Shares,
        }
    }

    /// How to read the recording.
    pub(crate) fn options(&self, reader: &Reader) -> Options {
        Options {
            inlines: !self.no_inline,
            locator: self.sources.locator(reader.budget()),
            demangling: self.demangle,
            ..Options::default()
        }
    }
}
