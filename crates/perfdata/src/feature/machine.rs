//! NRCPUS, CPU_TOPOLOGY, NUMA_TOPOLOGY: the machine.

use super::text::{encode_string, encode_strings};
use rprof_abi::Encoder;

/// Appends NRCPUS. perf's code writes available first, its documentation says online first; a
/// reader takes the larger one for available.
pub fn encode_nr_cpus(available: u32, online: u32, encoder: &mut Encoder<'_>) {
    encoder.u32(available);
    encoder.u32(online);
}

/// Core and socket of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// `topology/core_id`.
    pub core_id: u32,
    /// `topology/physical_package_id`.
    pub socket_id: u32,
}

/// CPU_TOPOLOGY: who shares a socket, who shares a core.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CpuTopology {
    /// Distinct CPU lists that share a socket, such as `0-3`.
    pub core_siblings: Vec<String>,
    /// Distinct CPU lists that share a core.
    pub thread_siblings: Vec<String>,
    /// One for each available CPU.
    pub cpus: Vec<CpuPlace>,
}

/// Appends CPU_TOPOLOGY, without dies.
pub fn encode_cpu_topology(topology: &CpuTopology, encoder: &mut Encoder<'_>) {
    for lists in [&topology.core_siblings, &topology.thread_siblings] {
        encode_strings(lists.iter().map(String::as_bytes), encoder);
    }
    for cpu in &topology.cpus {
        encoder.u32(cpu.core_id);
        encoder.u32(cpu.socket_id);
    }
}

/// One memory node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaNode {
    /// Its number.
    pub node: u32,
    /// Memory, KiB.
    pub mem_total_kib: u64,
    /// Of it free, KiB.
    pub mem_free_kib: u64,
    /// Its CPUs, such as `0-3`.
    pub cpus: String,
}

/// Appends NUMA_TOPOLOGY.
pub fn encode_numa(nodes: &[NumaNode], encoder: &mut Encoder<'_>) {
    encoder.u32(u32::try_from(nodes.len()).unwrap_or(u32::MAX));
    for node in nodes {
        encoder.u32(node.node);
        encoder.u64(node.mem_total_kib);
        encoder.u64(node.mem_free_kib);
        encode_string(node.cpus.as_bytes(), encoder);
    }
}
