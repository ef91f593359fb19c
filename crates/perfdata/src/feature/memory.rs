//! MEM_TOPOLOGY and CACHE: memory blocks and caches.

use super::section::{DescribedObject, SectionObject};
use super::text::PerfString;
use crate::ranges::{set_bits, spans, visit_spans};
use rprof_abi::format::CountedItems;
use rprof_abi::{Cursor, Endian, Fields, Value, WireError, wire};

/// MEM_TOPOLOGY: which memory blocks belong to which node.
///
/// Source: `write_mem_topology()`, tools/perf/util/header.c (v6.16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemTopology {
    /// Version of the section, 1.
    pub version: u64,
    /// Bytes of a block.
    pub block_size_bytes: u64,
    /// The nodes.
    pub nodes: Vec<MemNode>,
}

/// One node of [`MemTopology`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemNode {
    /// Its number.
    pub node: u64,
    /// Bits that count in `blocks`.
    pub n_bits: u64,
    /// One bit for each memory block, lowest first, 64 in a word.
    pub blocks: Vec<u64>,
}

impl SectionObject for MemTopology {
    fn parse(section: &[u8], endian: Endian) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let version = cursor.u64("memory topology")?;
        let block_size_bytes = cursor.u64("memory topology")?;
        let n = cursor.u64("memory node count")?;
        let nodes = (0..n).map(|_| MemNode::parse(&mut cursor));
        let nodes = nodes.collect::<Result<_, WireError>>()?;
        Ok(Self {
            version,
            block_size_bytes,
            nodes,
        })
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("version", Value::Unsigned(self.version));
        fields.field("block_size_bytes", Value::Unsigned(self.block_size_bytes));
        fields.objects("nodes", &self.nodes, |fields, node| {
            fields.field("node", Value::Unsigned(node.node));
            visit_spans("blocks", node.block_spans(), fields);
        });
    }
}

impl MemNode {
    /// The ranges of its blocks, each by its first and last number.
    pub fn block_spans(&self) -> impl Iterator<Item = (u64, u64)> {
        let words = self.blocks.iter().copied();
        spans(set_bits(words, 64).take_while(|&block| block < self.n_bits))
    }

    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let node = cursor.u64("memory node")?;
        // The size comes twice: the node's, and that of its bitmap.
        cursor.u64("memory node")?;
        let n_bits = cursor.u64("memory node")?;
        let n_bytes = n_bits.div_ceil(64).saturating_mul(8);
        let mut words = Cursor::new(cursor.bytes(n_bytes, "memory blocks")?, cursor.endian());
        Ok(Self {
            node,
            n_bits,
            blocks: words.u64s(),
        })
    }
}

wire! {
    /// CACHE: every cache of every CPU, distinct.
    ///
    /// Source: `write_cache()`, tools/perf/util/header.c (v6.16).
    pub struct Caches in "cache version" {
        /// Version of the section, 1.
        pub version: u32,
        /// The caches.
        pub caches: Vec<Cache> as CountedItems<u32> in "cache count",
    }

    /// One cache, as in `/sys/devices/system/cpu/cpu*/cache/index*/`.
    pub struct Cache in "cache" {
        /// 1 is next to the core.
        pub level: u32 as Number in "cache level",
        /// Bytes of a line (`coherency_line_size`).
        pub line_size: u32 as Number in "cache line size",
        /// Sets (`number_of_sets`).
        pub sets: u32 as Number in "cache sets",
        /// Lines in a set (`ways_of_associativity`).
        pub ways: u32 as Number in "cache ways",
        /// `Data`, `Instruction` or `Unified`.
        pub kind: Vec<u8> as PerfString named "type",
        /// Its size, such as `32K`.
        pub size: Vec<u8> as PerfString,
        /// CPUs that share it, such as `0-3`.
        pub map: Vec<u8> as PerfString,
    }
}

impl DescribedObject for Caches {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::encode_string;
    use crate::testing::{Flat, ORDERS, bytes, u32s, u64s};

    #[test]
    fn memory_blocks_are_said_as_ranges() {
        for endian in ORDERS {
            // Bit 66 is beyond the 66 bits that count.
            let words = [1, 0x8000_0000, 1, 3, 66, 66, 0b1011, 0b110];
            let section = bytes(endian, |encoder| u64s(&words, encoder));
            let topology = MemTopology::parse(&section, endian).unwrap();
            assert_eq!(
                Flat::of(|fields| topology.visit(fields)),
                [
                    "version=1",
                    "block_size_bytes=2147483648",
                    "nodes.0.node=3",
                    "nodes.0.blocks.0=0-1",
                    "nodes.0.blocks.1=3",
                    "nodes.0.blocks.2=65",
                ]
            );
            assert!(MemTopology::parse(&section[..63], endian).is_err());
        }
    }

    #[test]
    fn a_bitmap_of_absurd_size_is_an_error() {
        let words = [1, 4096, 1, 0, u64::MAX, u64::MAX];
        let section = bytes(Endian::Big, |encoder| u64s(&words, encoder));
        assert!(MemTopology::parse(&section, Endian::Big).is_err());
    }

    #[test]
    fn caches_are_read_in_both_byte_orders() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                u32s(&[1, 1, 3, 64, 8192, 16], encoder);
                for text in ["Unified", "8192K", "0-1"] {
                    encode_string(text.as_bytes(), encoder);
                }
            });
            let caches = <Caches as SectionObject>::parse(&section, endian).unwrap();
            assert_eq!(
                Flat::of(|fields| SectionObject::visit(&caches, fields)),
                [
                    "version=1",
                    "caches.0.level=3",
                    "caches.0.line_size=64",
                    "caches.0.sets=8192",
                    "caches.0.ways=16",
                    "caches.0.type=Unified",
                    "caches.0.size=8192K",
                    "caches.0.map=0-1",
                ]
            );
            assert!(
                <Caches as SectionObject>::parse(&section[..section.len() - 1], endian).is_err()
            );
        }
    }
}
