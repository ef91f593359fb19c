//! What `record` and `stat` share: whom events can be opened for, by control groups ([`Cgroups`]) and by what this
//! user may ([`rights`]), and the pipes through which they are told to start and stop ([`ControlPipes`]).

mod cgroup;
mod control;
pub mod rights;

pub use cgroup::{CgroupError, CgroupFolder, Cgroups};
pub use control::{ControlError, ControlLines, ControlPipes};
