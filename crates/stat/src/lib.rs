//! `rprof stat`: events are counted, not sampled. StatSettings go in; counts come out as text, CSV or JSON, in
//! perf's forms.
//!
//! | file | has |
//! |---|---|
//! | `run` | a count from start to end: the command, its signals, the clock (`schedule`) |
//! | `control` | words on a pipe that switch it meanwhile |
//! | `defaults` | what is counted if nothing is named |
//! | `targets`, `cgroup` | of whom |
//! | `opening` | events opened in their groups, and read; generic over the kernel, which tests play |
//! | `rows` | counts added up by CPU, core, socket, thread (`topology`), and over runs (`runs`) |
//! | `role`, `derived` | what a count says beside others: per second, of all branches |
//! | `metric` | numbers that users define by expressions |
//! | `counts_file`, `kept` | counts into a file as `perf stat record` writes it, and out of one |
//! | `output` | text, CSV and JSON |

mod control;
mod counts_file;
mod defaults;
mod derived;
mod error;
mod kept;
mod metric;
mod opening;
mod output;
mod role;
mod rows;
mod run;
mod runs;
mod schedule;
mod settings;
mod targets;
mod topology;
mod unit;

pub use counts_file::CountsFile;
pub use defaults::{DefaultSet, default_events, detail_events, topdown_events};
pub use error::Error;
pub use kept::{KeptSettings, show_kept};
pub use metric::{DefinedMetric, MetricError, Names};
pub use rprof_targets::{Cgroups, ControlPipes};
pub use run::{StatEnd, stat};
pub use settings::{Aggregation, CountForm, MetricOfEvents, StatSettings, Style, WhoseEvents};
