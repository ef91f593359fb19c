//! Whole events against made-up machines.

mod errors;
mod forms;
mod machine;
mod tracepoints;
