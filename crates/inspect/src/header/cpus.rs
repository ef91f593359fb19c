//! CPUs, memory, caches, and the units that count.

use super::shown;
use rprof_perfdata::feature::{
    Caches, CpuTopology, HybridPmu, MemTopology, NumaNode, PmuCap, PmuMapping,
};

/// Appends who shares a socket, a die, a core, and where each CPU is.
pub(super) fn topology(topology: &CpuTopology, text: &mut String) {
    let lists = [
        ("sockets", &topology.core_siblings),
        ("dies   ", &topology.die_siblings),
        ("threads", &topology.thread_siblings),
    ];
    for (name, lists) in lists {
        for cpus in lists {
            *text += &format!("# sibling {name} : {}\n", shown(cpus.as_bytes()));
        }
    }
    if topology.cpus.is_empty() {
        *text += "# Core ID and Socket ID information is not available\n";
    }
    let dies = topology.die_ids.iter().map(|id| format!("Die ID {id}, "));
    let dies = dies.chain(std::iter::repeat(String::new()));
    for (idx, (cpu, die)) in topology.cpus.iter().zip(dies).enumerate() {
        let (core, socket) = (cpu.core_id, cpu.socket_id);
        *text += &format!("# CPU {idx}: Core ID {core}, {die}Socket ID {socket}\n");
    }
}

/// Appends the memory and the CPUs of each node.
pub(super) fn numa(nodes: &[NumaNode], text: &mut String) {
    for node in nodes {
        *text += &format!(
            "# node{idx} meminfo  : total = {} kB, free = {} kB\n# node{idx} cpu list : {}\n",
            node.mem_total_kib,
            node.mem_free_kib,
            shown(node.cpus.as_bytes()),
            idx = node.node
        );
    }
}

/// Appends a line for each cache.
pub(super) fn caches(caches: &Caches, text: &mut String) {
    *text += "# CPU cache info:\n";
    for cache in &caches.caches {
        let (kind, size, map) = (shown(&cache.kind), shown(&cache.size), shown(&cache.map));
        *text += &format!("#  L{} {kind:<15} {size:>8} [{map}]\n", cache.level);
    }
}

/// Appends the blocks of each node.
pub(super) fn memory(memory: &MemTopology, text: &mut String) {
    let (n_nodes, block) = (memory.nodes.len(), memory.block_size_bytes);
    *text += &format!("# memory nodes (nr {n_nodes}, block size {block:#x}):\n");
    for node in &memory.nodes {
        let blocks: u64 = node
            .block_spans()
            .map(|(first, last)| last - first + 1)
            .sum();
        let spans: Vec<String> = node
            .block_spans()
            .map(|(first, last)| {
                if first == last {
                    first.to_string()
                } else {
                    format!("{first}-{last}")
                }
            })
            .collect();
        let size = size(blocks.wrapping_mul(block));
        *text += &format!("#  {:3} [{size}]: {}\n", node.node, spans.join(","));
    }
}

/// A number of bytes, rounded down, as perf does.
fn size(bytes: u64) -> String {
    let (mut n, mut units) = (bytes, "BKMG".chars());
    let mut unit = units.next();
    while n / 1024 > 1
        && let Some(next) = units.next()
    {
        (n, unit) = (n / 1024, Some(next));
    }
    format!("{n}{}", unit.unwrap_or_default())
}

/// Appends the PMUs that only some CPUs have.
pub(super) fn hybrid(pmus: &[HybridPmu], text: &mut String) {
    *text += "# hybrid cpu system:\n";
    for pmu in pmus {
        *text += &format!("# {} cpu list : {}\n", shown(&pmu.pmu), shown(&pmu.cpus));
    }
}

/// Appends the PMUs by their types.
pub(super) fn pmus(pmus: &[PmuMapping], text: &mut String) {
    let pmus: Vec<String> = pmus
        .iter()
        .map(|pmu| format!("{} = {}", shown(&pmu.name), pmu.kind))
        .collect();
    let list = if pmus.is_empty() {
        "not available".to_owned()
    } else {
        pmus.join(", ")
    };
    *text += &format!("# pmu mappings: {list}\n");
}

/// Appends what a PMU can do.
pub(super) fn caps(pmu: &str, caps: &[PmuCap], text: &mut String) {
    let caps: Vec<String> = caps
        .iter()
        .map(|cap| format!("{}={}", shown(&cap.name), shown(&cap.value)))
        .collect();
    let list = if caps.is_empty() {
        "not available".to_owned()
    } else {
        caps.join(", ")
    };
    *text += &format!("# {pmu} pmu capabilities: {list}\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_as_perf_does() {
        for (bytes, expected) in [
            (0, "0B"),
            (2047, "2047B"),
            (2048, "2K"),
            (3 << 29, "1536M"),
            (24 << 30, "24G"),
            (5 << 40, "5120G"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
