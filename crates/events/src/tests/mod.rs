//! Whole events against made-up machines.

mod errors;
mod forms;
mod groups;
mod listing;
mod machine;
mod probes;
mod tracepoints;
