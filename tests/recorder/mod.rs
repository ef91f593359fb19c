//! How the recorder behaves: flags, signals, limits, pipes, and what it says and advises.

mod advice;
mod budget;
mod children;
mod continuous;
mod coverage;
mod ends;
mod fallbacks;
mod files;
mod flags;
mod gone;
mod identity;
mod neighbours;
mod off_cpu;
mod paused;
mod pipe;
mod terminal;
mod thinning;
mod watching;

use crate::common::{both, until};
