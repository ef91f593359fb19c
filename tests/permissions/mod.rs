//! What users may record, by their rights: each gets a profile or the right sentence, and
//! `rprof doctor` says the same before.

mod cells;
mod kinds;
mod limits;
mod matrix;
mod ptrace;
