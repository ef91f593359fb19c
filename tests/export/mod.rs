//! `rprof export`: each format is read by what it is for, and all say what `rprof report` says.

mod callgrind;
mod endings;
#[cfg(feature = "parquet")]
mod engines;
mod filters;
mod firefox;
#[cfg(feature = "parquet")]
mod made;
pub(crate) mod otlp;
#[cfg(feature = "parquet")]
mod parquet;
pub(crate) mod pprof;
mod recordings;
mod self_time;
mod speedscope;
mod sums;
