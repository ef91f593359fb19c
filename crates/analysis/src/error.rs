//! Why a recording cannot be analysed.

use rprof_untrusted::Untrusted;

/// A recording could not be read, or what was asked for is not in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file.
    #[error(transparent)]
    Recording(#[from] rprof_perfdata::Error),
    /// A thread could not be started.
    #[error("starting a thread")]
    Thread(#[source] std::io::Error),
    /// A filter asks for what no sample has.
    #[error("the recording has no {what}: omit {option}, or record them ({recorder})")]
    NotRecorded {
        /// What is missing.
        what: &'static str,
        /// The option that needs it.
        option: &'static str,
        /// Commands that record it.
        recorder: &'static str,
    },
    /// Samples are to be told apart by what none of them has.
    #[error(
        "the recording has no {what}, which the sort key {key} needs: record them with rprof record{flag}"
    )]
    KeyNotRecorded {
        /// What is missing.
        what: &'static str,
        /// The sort key.
        key: &'static str,
        /// The flag of `record` for it, after a blank.
        flag: &'static str,
    },
    /// Samples are to be told apart by what only derived ones have.
    #[error("the sort key {key} is of the time of threads: add --off-cpu or --wall")]
    KeyOfAccount {
        /// The sort key.
        key: &'static str,
    },
    /// A filter makes no sense in this recording.
    #[error(transparent)]
    Filter(#[from] rprof_profile::FilterError),
    /// Whose descendants are meant is not known.
    #[error("the recording does not say which process its command was: use --descendants=PID")]
    NoCommand,
    /// The scheduler's events are missing.
    #[error(
        "the recording does not say which thread ran when: record that with rprof record -a -e \
         sched:sched_switch,sched:sched_waking -- COMMAND (as root), or perf sched record"
    )]
    NoSwitches,
    /// The events of system calls are missing.
    #[error(
        "the recording has no system calls: record them with rprof record -e \
         raw_syscalls:sys_enter,raw_syscalls:sys_exit --call-graph none -- COMMAND (as root), or perf trace record"
    )]
    NoSystemCalls,
    /// The events of waits for locks are missing.
    #[error(
        "the recording does not say which locks threads waited for: record with rprof record --lock -- COMMAND (as root), \
         or perf lock record{instead}"
    )]
    NoLocks {
        /// What it says of waits instead, for the end of the sentence.
        instead: &'static str,
    },
    /// Nothing says when events happened.
    #[error("the recording has no times: record without --per-thread, or with -T")]
    NoTimes,
    /// Threads leave their CPUs, but nothing says when they come back.
    #[error(
        "the recording says when threads left their CPUs, and not when they ran again: record with rprof record \
         --off-cpu, or add -a or --switch-events"
    )]
    NoSwitchesIn,
    /// Nothing says whose critical path is meant.
    #[error(
        "the recording does not say which process its command was: name the thread whose critical path is asked for \
         (--critical=THREAD, or rprof critical -t TID)"
    )]
    WhichPath,
    /// The recorded command has not run, as far as was recorded.
    #[error(
        "the recording has no switches of its command: name the thread whose critical path is asked for \
         (--critical=THREAD, or rprof critical with -p, -t or -c)"
    )]
    CommandHasNoSwitches,
    /// No thread is as it was asked for.
    #[error(
        "no thread with a critical path is as asked for: rprof report --wall -s comm,pid,tid lists threads"
    )]
    NoSuchThread,
    /// The path is not in the times that were asked for.
    #[error("nothing of the critical path is in the times that are asked for")]
    NothingOnPath,
    /// Nothing says where spans begin.
    #[error(
        "the recording has no spans: omit {option}, or record them (rprof record --span NAME=BEGIN..END)"
    )]
    NoSpans {
        /// The option that needs them.
        option: &'static str,
    },
    /// No span has the name that is asked for.
    #[error("{option}: the recording has no span '{name}' (spans are: {})", names.join(", "))]
    NoSuchSpan {
        /// The option.
        option: &'static str,
        /// The name.
        name: Untrusted<String>,
        /// Names that there are.
        names: Vec<String>,
    },
    /// Spans do not fit.
    #[error("the spans of threads need more memory than their budget: --mem 4G allows more")]
    SpansOverBudget,
    /// What threads did does not fit.
    #[error("the time of threads needs more memory than its budget: --mem 4G allows more")]
    AccountOverBudget,
    /// Waits are known, but time on CPUs is not.
    #[error(
        "--wall adds times, but samples on CPUs are none (and no context switches say how long threads ran): \
         record with -e cpu-clock"
    )]
    NoCpuTime,
    /// All mappings of all tasks do not fit.
    #[error(
        "the mappings of the recorded processes need more memory than their budget: --mem 4G allows more, \
         and --tasks does not need them"
    )]
    MappingsOverBudget,
}
