//! NRCPUS, NUMA_TOPOLOGY, `E_MACHINE`: the machine.

use super::section::{DescribedItem, DescribedObject, SectionObject, encode_items};
use super::text::PerfString;
use rprof_abi::format::Hex;
use rprof_abi::{Cursor, Encoder, Endian, Fields, Value, WireError, wire};

/// NRCPUS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrCpus {
    /// CPUs that the machine has.
    pub available: u32,
    /// Of them, those that were online.
    pub online: u32,
}

impl SectionObject for NrCpus {
    /// Reads the section. perf's code writes available first, its documentation says online
    /// first: the larger one is taken for available.
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let counts = [cursor.u32("CPU count")?, cursor.u32("CPU count")?];
        let [one, other] = counts;
        Ok(Self {
            available: one.max(other),
            online: one.min(other),
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("available", Value::Unsigned(self.available.into()));
        fields.field("online", Value::Unsigned(self.online.into()));
    }
}

/// Appends NRCPUS, available first, as perf does, whatever its text says.
pub fn encode_nr_cpus(available: u32, online: u32, encoder: &mut Encoder<'_>) {
    encoder.u32(available);
    encoder.u32(online);
}

wire! {
    /// One memory node.
    pub struct NumaNode in "memory node" {
        /// Its number.
        pub node: u32,
        /// Memory, KiB.
        pub mem_total_kib: u64,
        /// Of it free, KiB.
        pub mem_free_kib: u64,
        /// Its CPUs, such as `0-3`.
        pub cpus: String as PerfString,
    }
}

impl DescribedItem for NumaNode {
    const COUNT: &'static str = "memory node count";
}

/// Appends NUMA_TOPOLOGY.
pub fn encode_numa(nodes: &[NumaNode], encoder: &mut Encoder<'_>) {
    encode_items(nodes, encoder);
}

wire! {
    /// `E_MACHINE`: the machine as ELF headers name it.
    #[derive(Copy)]
    pub struct EMachine in "ELF machine" {
        /// `e_machine` (`EM_*`).
        pub machine: u32,
        /// `e_flags`.
        pub flags: u32 as Hex,
    }
}

impl DescribedObject for EMachine {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::SectionItem;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn the_larger_count_is_the_available_one() {
        let expected = NrCpus {
            available: 8,
            online: 6,
        };
        for endian in ORDERS {
            for (first, second) in [(8, 6), (6, 8)] {
                let section = bytes(endian, |encoder| encode_nr_cpus(first, second, encoder));
                assert_eq!(NrCpus::parse(&section, endian), Ok(expected));
                assert!(NrCpus::parse(&section[..7], endian).is_err());
            }
        }
    }

    #[test]
    fn nodes_round_trip() {
        let node = |node, cpus: &str| NumaNode {
            node,
            mem_total_kib: 1 << 40,
            mem_free_kib: 5,
            cpus: cpus.to_owned(),
        };
        let nodes = vec![node(0, "0-3"), node(1, "")];
        for endian in ORDERS {
            let section = bytes(endian, |encoder| encode_numa(&nodes, encoder));
            assert_eq!(NumaNode::parse_all(&section, endian), Ok(nodes.clone()));
            for len in 0..section.len() {
                assert!(NumaNode::parse_all(&section[..len], endian).is_err());
            }
        }
    }
}
