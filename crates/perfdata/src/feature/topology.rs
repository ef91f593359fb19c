//! CPU_TOPOLOGY: who shares a socket, a die, a core.

use super::section::SectionObject;
use super::text::{encode_strings, take_string, take_texts};
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError};

/// Core and socket of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// `topology/core_id`.
    pub core_id: u32,
    /// `topology/physical_package_id`.
    pub socket_id: u32,
}

/// CPU_TOPOLOGY: who shares a socket, who shares a core, who shares a die.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CpuTopology {
    /// Distinct CPU lists that share a socket, such as `0-3`.
    pub core_siblings: Vec<String>,
    /// Distinct CPU lists that share a core.
    pub thread_siblings: Vec<String>,
    /// One for each available CPU; none if perf is older than 3.9.
    pub cpus: Vec<CpuPlace>,
    /// Distinct CPU lists that share a die; none if the machine does not say (or perf is older
    /// than 5.3).
    pub die_siblings: Vec<String>,
    /// `topology/die_id` of each available CPU, if there are dies.
    pub die_ids: Vec<u32>,
}

/// The most CPUs with dies that are looked for; Linux allows 8192.
const MAX_CPUS: usize = 8192;

/// Bytes of a [`CpuPlace`].
const PLACE_LEN: usize = 8;

impl CpuTopology {
    /// One more than the highest CPU in the sibling lists: there are at least that many CPUs.
    fn n_listed(&self) -> usize {
        let lists = self.core_siblings.iter().chain(&self.thread_siblings);
        let numbers = lists.flat_map(|list| list.split(['-', ',']));
        let highest = numbers
            .filter_map(|cpu| cpu.trim().parse::<u16>().ok())
            .max();
        highest.map_or(0, |cpu| usize::from(cpu) + 1)
    }
}

impl SectionObject for CpuTopology {
    /// The section does not say how many CPUs it has: that is in NRCPUS, but the length tells as
    /// well. Behind the places of n CPUs is either the end, or a list of dies and n die ids up to
    /// the end; the second is tried first, since it hardly fits by accident.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let mut topology = Self {
            core_siblings: take_texts(&mut cursor, "core siblings")?,
            thread_siblings: take_texts(&mut cursor, "thread siblings")?,
            ..Self::default()
        };
        let rest = cursor.rest();
        let n_online = topology.n_listed();
        let n_with_dies = (n_online.max(1)..=MAX_CPUS.min(rest.len() / PLACE_LEN))
            .find(|&n| dies_fit(rest, n, endian));
        let n_cpus = n_with_dies.unwrap_or(rest.len() / PLACE_LEN);
        for _ in 0..n_cpus {
            topology.cpus.push(CpuPlace {
                core_id: cursor.u32("core id")?,
                socket_id: cursor.u32("socket id")?,
            });
        }
        if n_with_dies.is_some() {
            topology.die_siblings = take_texts(&mut cursor, "die siblings")?;
            for _ in 0..n_cpus {
                topology.die_ids.push(cursor.u32("die id")?);
            }
        }
        Ok(topology)
    }

    fn visit(&self, fields: &mut dyn Fields) {
        let lists = [
            ("core_siblings", &self.core_siblings),
            ("thread_siblings", &self.thread_siblings),
            ("die_siblings", &self.die_siblings),
        ];
        for (name, list) in lists {
            fields.list(name, list, |fields, cpus| {
                fields.field("", Value::Text(cpus.as_bytes()));
            });
        }
        let dies = self.die_ids.iter().copied().map(Some);
        let dies = dies.chain(std::iter::repeat(None));
        fields.objects("cpus", self.cpus.iter().zip(dies), |fields, (cpu, die)| {
            fields.field("core_id", Value::Unsigned(cpu.core_id.into()));
            fields.if_some("die_id", die, Value::Unsigned);
            fields.field("socket_id", Value::Unsigned(cpu.socket_id.into()));
        });
    }
}

/// Whether `rest` is the places of `n_cpus` CPUs, a list of dies, and the die ids: no more, no
/// less. Looks at `n_cpus` strings at most.
fn dies_fit(rest: &[u8], n_cpus: usize, endian: Endian) -> bool {
    let Some(behind_places) = rest.get(n_cpus * PLACE_LEN..) else {
        return false;
    };
    let mut cursor = Cursor::new(behind_places, endian);
    let n_dies = cursor.u32("die siblings").map_or(0, u64::from);
    let plausible = n_dies > 0 && n_dies <= n_cpus as u64;
    plausible
        && (0..n_dies).all(|_| take_string(&mut cursor).is_ok_and(|cpus| !cpus.is_empty()))
        && cursor.rest().len() == n_cpus * 4
}

/// Appends CPU_TOPOLOGY; dies only if there are any.
pub fn encode_cpu_topology(topology: &CpuTopology, encoder: &mut Encoder<'_>) {
    for lists in [&topology.core_siblings, &topology.thread_siblings] {
        encode_strings(lists.iter().map(String::as_bytes), encoder);
    }
    for cpu in &topology.cpus {
        encoder.u32(cpu.core_id);
        encoder.u32(cpu.socket_id);
    }
    if !topology.die_siblings.is_empty() {
        encode_strings(topology.die_siblings.iter().map(String::as_bytes), encoder);
        topology.die_ids.iter().for_each(|&id| encoder.u32(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Flat, ORDERS, bytes};

    /// A machine of `n` CPUs of which `n_online` are online.
    fn machine(n: u32, n_online: u32, n_dies: u32) -> CpuTopology {
        let all = format!("0-{}", n_online - 1);
        CpuTopology {
            core_siblings: vec![all.clone()],
            thread_siblings: (0..n_online).map(|cpu| cpu.to_string()).collect(),
            cpus: (0..n)
                .map(|core_id| CpuPlace {
                    core_id,
                    socket_id: core_id % 2,
                })
                .collect(),
            die_siblings: (0..n_dies).map(|_| all.clone()).collect(),
            die_ids: (0..if n_dies == 0 { 0 } else { n }).collect(),
        }
    }

    #[test]
    fn topologies_round_trip_with_and_without_dies() {
        for endian in ORDERS {
            for (n, n_online) in [(1, 1), (2, 2), (7, 7), (8, 5), (256, 256)] {
                for n_dies in [0, 1, 2.min(n), n] {
                    let topology = machine(n, n_online, n_dies);
                    let section = bytes(endian, |encoder| encode_cpu_topology(&topology, encoder));
                    assert_eq!(CpuTopology::parse(&section, endian), Ok(topology));
                }
            }
        }
    }

    #[test]
    fn lists_alone_are_the_form_of_old_perf() {
        let mut topology = machine(4, 4, 0);
        topology.cpus.clear();
        let section = bytes(Endian::Little, |encoder| {
            encode_cpu_topology(&topology, encoder);
        });
        assert_eq!(CpuTopology::parse(&section, Endian::Little), Ok(topology));
        assert!(CpuTopology::parse(&section[..40], Endian::Little).is_err());
    }

    #[test]
    fn every_cpu_is_said_with_its_die() {
        let said = Flat::of(|fields| machine(1, 1, 1).visit(fields));
        assert_eq!(
            said,
            [
                "core_siblings.0=0-0",
                "thread_siblings.0=0",
                "die_siblings.0=0-0",
                "cpus.0.core_id=0",
                "cpus.0.die_id=0",
                "cpus.0.socket_id=0",
            ]
        );
    }
}
