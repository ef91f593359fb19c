//! Whom events can be opened for: control groups by their names, and what this user may ([`rights`]).
//!
//! What `record` and `stat` both need of it.

mod cgroup;
pub mod rights;

pub use cgroup::{CgroupError, CgroupFolder, Cgroups};
