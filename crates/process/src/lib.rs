//! Processes: starting one that waits at a gate, listing those that run, and describing them as the
//! records that the kernel would have written, had the recording begun before them.

mod kernel;
mod spawn;
mod surroundings;
mod synthesize;
mod tasks;

pub use kernel::{KernelMap, kernel_maps};
pub use spawn::{Child, CpuTime, Gated, SpawnError, Stdout, exit_code};
pub use surroundings::{describe_cgroups, describe_namespaces};
pub use synthesize::{Synthesized, describe_process};
pub use tasks::{
    all_processes, comm_of, descendants_of, owner_of, parent_of, process_of, program_of,
    threads_of, user_time_of_children,
};
