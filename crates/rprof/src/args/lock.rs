//! The arguments of `rprof lock`.

use super::SchedInputArgs;
use super::sources::SourceArgs;
use crate::screen;
use rprof_analysis::Options;
use rprof_perfdata::Reader;
use rprof_trace::{LockOptions, LockSort};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Futexes are what mutexes, condition variables and the like of user space wait with. The holder of a \
    lock is the thread that released it last before the wait ended: for futexes, the thread that woke the waiter on the \
    same address; for locks of the kernel, the thread that woke it, if that is recorded (--off-cpu). A thread that \
    spins is not woken, so its holder is unknown.\n\n\
    Record with:\n  \
    rprof record --lock -- COMMAND (as root)\n  \
    rprof record --lock --off-cpu -a -- COMMAND\n  \
    perf lock record -- COMMAND (locks of the kernel)\n  \
    perf trace record -- COMMAND (futexes)"
)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) input: SchedInputArgs,

    /// Sort by: wait_total, contended (how often it was waited for), wait_max or avg_wait
    #[arg(long, value_name = "KEY", default_value = "wait_total", value_parser = parse_key)]
    key: LockSort,

    /// Show the stacks of who waited and who released
    #[arg(short = 'g')]
    callers: bool,

    #[command(flatten)]
    sources: SourceArgs,
}

fn parse_key(text: &str) -> Result<LockSort, String> {
    match text {
        "wait_total" => Ok(LockSort::WaitTotal),
        "contended" => Ok(LockSort::Contended),
        "wait_max" => Ok(LockSort::WaitMax),
        "avg_wait" => Ok(LockSort::AvgWait),
        _ => Err("expected wait_total, contended, wait_max or avg_wait".to_owned()),
    }
}

impl LockArgs {
    /// What is written.
    pub(crate) fn lock(&self) -> LockOptions {
        LockOptions {
            sort: self.key,
            stacks: self.callers,
            fit: screen::fit(),
        }
    }

    /// What is read of a recording.
    pub(crate) fn options(&self, reader: &Reader) -> Options {
        Options {
            filter: self.input.filter(),
            locator: self.sources.locator(reader.budget()),
            ..Options::default()
        }
    }
}
