//! Processes: starting one that waits at a gate, listing those that run, and describing them as the
//! records that the kernel would have written, had the recording begun before them.

mod cpu_time;
mod death;
mod kernel;
mod spawn;
mod surroundings;
mod synthesize;
mod tasks;

pub use cpu_time::{CpuTime, ThreadStat, is_in_system_call};
pub use death::killed_by;
pub use kernel::{KernelMap, kernel_maps};
pub use spawn::{Child, Gated, ResourceUsage, SpawnError, Stdout, exit_code};
pub use surroundings::{describe_cgroups, describe_namespaces, mount_of_cgroups};
pub use synthesize::{Synthesized, describe_process, mapping};
pub use tasks::{
    all_processes, comm_of, owner_of, parent_of, process_of, program_of, started_by, threads_of,
    threads_of_all, tracer_of, user_time_of_children,
};
