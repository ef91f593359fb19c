//! Whole events against made-up machines.

mod errors;
mod forms;
mod grammar;
mod groups;
mod listing;
pub(crate) mod machine;
mod probes;
mod tracepoints;
