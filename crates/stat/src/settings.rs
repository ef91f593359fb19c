//! What is counted, of whom, when, and how it is written.

use crate::DefinedMetric;
use rprof_events::Event;
use rprof_targets::{Cgroups, ControlPipes};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// All that a run of `stat` needs to know.
#[derive(Clone, Debug)]
pub struct StatSettings {
    /// What is counted; nothing if only times are wanted.
    pub events: Vec<Event>,
    /// What is computed from them.
    pub metrics: Vec<MetricOfEvents>,
    /// Of whom.
    pub watch: WhoseEvents,
    /// Only there.
    pub cpus: Option<Vec<u32>>,
    /// Only while one of these runs.
    pub cgroups: Cgroups,
    /// What is run meanwhile.
    pub command: Vec<OsString>,
    /// What is added up.
    pub aggregation: Aggregation,
    /// With processes: the child processes that run already, too.
    pub children: bool,
    /// Threads and processes that start later are counted, too.
    pub inherit: bool,
    /// Counts are scaled where counters took turns.
    pub scale: bool,
    /// How often the command is run; 0 is until somebody stops it.
    pub repeat: u32,
    /// Counting begins so long after the start.
    pub delay: Option<Duration>,
    /// Counting begins when the pipe says so.
    pub starts_off: bool,
    /// Words that switch counting.
    pub control: Option<ControlPipes>,
    /// Counts are written after each of these spans.
    pub interval: Option<Duration>,
    /// As often as this, then it ends.
    pub interval_count: Option<u32>,
    /// It ends after this time, and the command with it.
    pub timeout: Option<Duration>,
    /// How it is written.
    pub style: Style,
    /// Where the machine describes its CPUs: usually `/sys`.
    pub sysfs: PathBuf,
}

/// A metric, and which of the counted events its own are.
#[derive(Clone, Debug)]
pub struct MetricOfEvents {
    /// The metric.
    pub metric: DefinedMetric,
    /// For each of its events, the numbers of those whose counts are added up: several, where a machine has
    /// several kinds of cores. It is shown beside the first.
    pub events: Vec<Vec<usize>>,
}

impl MetricOfEvents {
    /// Of the same events of another control group.
    pub(crate) fn moved(&self, by: usize) -> Self {
        let moved = |events: &Vec<usize>| events.iter().map(|event| event + by).collect();
        Self {
            metric: self.metric.clone(),
            events: self.events.iter().map(moved).collect(),
        }
    }

    /// The event that it is shown beside.
    pub(crate) fn line(&self) -> Option<usize> {
        self.events.first()?.first().copied()
    }
}

/// Whose events are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhoseEvents {
    /// The command's.
    Command,
    /// Everybody's.
    All,
    /// Those of all threads of these processes.
    Processes(Vec<i32>),
    /// Those of these threads.
    Threads(Vec<i32>),
}

/// What counts are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregation {
    /// All.
    Global,
    /// None: each CPU by itself.
    Cpu,
    /// Those of a physical core.
    Core,
    /// Those of a die.
    Die,
    /// Those of a socket.
    Socket,
    /// Those of a NUMA node.
    Node,
    /// Those of a thread.
    Thread,
}

/// How counts are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// For whom.
    pub form: CountForm,
    /// Large numbers have commas.
    pub big_numbers: bool,
    /// No counts, only what is computed from them.
    pub metric_only: bool,
    /// The time of each run.
    pub table: bool,
    /// After intervals, the sums of all.
    pub summary: bool,
}

/// For whom counts are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountForm {
    /// For people.
    Text,
    /// Fields with this between them.
    Csv(String),
    /// An object a line.
    Json,
}

impl StatSettings {
    /// The targets, as the heading of perf stat names them.
    pub(crate) fn title(&self) -> String {
        let list = |ids: &[i32]| {
            let ids: Vec<String> = ids.iter().map(i32::to_string).collect();
            ids.join(",")
        };
        match (&self.watch, &self.cpus) {
            (WhoseEvents::Processes(pids), _) => format!("process id '{}'", list(pids)),
            (WhoseEvents::Threads(tids), _) => format!("thread id '{}'", list(tids)),
            (WhoseEvents::All, Some(cpus)) => {
                let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
                format!("'CPU(s) {}'", cpus.join(","))
            }
            (WhoseEvents::All, None) => "'system wide'".to_owned(),
            (WhoseEvents::Command, _) => {
                let words = self.command.iter().map(|word| word.to_string_lossy());
                format!("'{}'", words.collect::<Vec<_>>().join(" "))
            }
        }
    }
}
