//! Events as they are named on the command line, in perf's grammar: text goes in, attrs ready
//! to be completed and opened come out.
//!
//! | written | is | read by |
//! |---|---|---|
//! | `cycles`, `cs`, `cpu-clock:u` | generic hardware and software events | `symbol` |
//! | `L1-dcache-load-misses`, `l1d` | generic cache events | `cache` |
//! | `r1a8` | raw event of the core PMU | `symbol` |
//! | `cpu/event=0x3c,umask=1/u`, `cycles/period=1000/` | PMU and general terms | `pmu_event`, `pmu`, `format`, `term` |
//! | `sched:sched_switch`, `sched:*` | tracepoints | `tracepoint` |
//! | `mem:0x1000/8:w` | breakpoints | `breakpoint` |
//! | `uprobe:/path:function`, `sdt_provider:name` | probes | `probe` |
//! | `{cycles,faults}:S`, `name{a,b}` | groups, counted together | `group` |
//! | `request=uprobe:/path:begin..uprobe:/path:end` | spans of threads' time ([`SpanEvents`]) | `span` |
//!
//! [`list_events`] says which events this machine has, under these names.
//!
//! The only things read are sysfs and tracefs, and [`Sources`] says where they are. Nothing is
//! opened here: whether this machine counts an event is for the kernel to say.

mod breakpoint;
mod cache;
mod cpu_list;
mod default;
mod error;
mod event;
mod filter;
mod format;
mod group;
mod item;
mod list;
mod modifier;
mod parser;
mod pmu;
mod pmu_event;
mod probe;
mod probe_point;
mod sources;
mod span;
mod suggest;
mod symbol;
mod term;
#[cfg(test)]
mod tests;
mod tracepoint;

pub use cpu_list::{online_cpus, parse_cpu_list};
pub use default::{cpu_clock, default_events};
pub use error::{EventError, FilterProblem};
pub use event::{Callers, Event, Grouping, exclude_kernel};
pub use filter::set_filter;
pub use group::group_all;
pub use list::{
    EventList, ListKind, ListedEvent, ListedPmu, Selection, list_events, tracepoint_format,
};
pub use parser::parse_events;
pub use probe::set_semaphore;
pub use probe_point::{ProbePoint, ProbeSite, ProbedCode};
pub use sources::Sources;
pub use span::SpanEvents;
pub use suggest::{Suggestions, suggest};
