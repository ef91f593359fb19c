//! One file for each sub-command: arguments to settings, and what to say.

mod against;
pub(crate) mod annotate;
mod answerable;
mod compared;
pub(crate) mod completions;
pub(crate) mod critical;
pub(crate) mod diff;
mod diff_each;
mod diff_load;
mod diff_trees;
pub(crate) mod doctor;
pub(crate) mod dump;
mod event;
pub(crate) mod export;
pub(crate) mod flame;
mod header;
pub(crate) mod help;
mod idle;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod lock;
mod man_pages;
mod next;
mod no_match;
mod page_code;
#[cfg(feature = "push")]
pub(crate) mod push;
mod reading;
pub(crate) mod record;
mod recorded;
pub(crate) mod report;
pub(crate) mod sched;
pub(crate) mod script;
mod several;
mod span_limits;
mod speeds;
pub(crate) mod stat;
mod sure;
pub(crate) mod symbols;
mod table_folders;
mod tasks;
pub(crate) mod top;
pub(crate) mod trace;
mod trace_fields;
mod trees;
#[cfg(feature = "tui")]
pub(crate) mod tui;
