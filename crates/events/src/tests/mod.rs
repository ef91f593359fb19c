//! Whole events against made-up machines.

mod errors;
mod forms;
mod listing;
mod machine;
mod tracepoints;
