//! A profile to walk around in, on a terminal: rows with call trees, a call tree from the threads, a flame graph,
//! threads over time, and the code of a function.
//!
//! | part | what it is |
//! |---|---|
//! | [`App`] | all state; a key or a click makes it another one ([`App::handle`]), and asks for an [`Effect`] |
//! | [`App::draw`] | the state as a screen, and nothing else: tests draw into memory |
//! | [`run`] | the loop: a terminal, keys, signals, and data that may be replaced while it is looked at |
//! | [`Face`] | what only the program can do: read code, write files |
//!
//! All data comes from an [`Explorer`](rprof_query::Explorer): sums are those of `rprof report` with the same filter.
//! Where its samples come from nobody here knows.

mod app;
mod clipboard;
mod cursor;
mod draw;
mod face;
mod keys;
mod look;
mod matcher;
mod menu;
mod page;
mod prompt;
mod run;
mod screen;
mod shown;
mod task;
mod views;
mod zoom;

pub use app::{App, Effect, Input, TuiSettings};
pub use face::{
    CodeAnswer, CodeLines, ComparisonAnswer, Face, FunctionOf, SampleScope, SaveForm, Saved,
    ScopeAnswer, TuiData, TuiUpdate, WantedCode, WantedComparison,
};
pub use look::{Background, Colors, Look};
pub use run::{EarlyKeys, RunError, Wires, run};
