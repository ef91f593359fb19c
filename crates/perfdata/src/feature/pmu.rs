//! PMU_MAPPINGS, CPU_PMU_CAPS, PMU_CAPS, HYBRID_TOPOLOGY: the units that count.

use super::section::{DescribedItem, SectionItem};
use super::text::{PerfString, take_owned};
use rprof_abi::format::{CountedItems, FieldFormat};
use rprof_abi::{Cursor, Endian, Fields, Value, WireError, wire};

wire! {
    /// One item of PMU_MAPPINGS.
    pub struct PmuMapping in "PMU type" {
        /// `attr.type` of its events.
        pub kind: u32 as Number named "type",
        /// Its name in sysfs.
        pub name: Vec<u8> as PerfString,
    }

    /// What a PMU can do, such as `branches` `32`: an item of CPU_PMU_CAPS (of the PMU named `cpu`), or of
    /// [`PmuCaps`].
    pub struct PmuCap in "PMU capability" {
        /// Which ability (`/sys/bus/event_source/devices/*/caps/`).
        pub name: Vec<u8> as PerfString,
        /// How far it goes.
        pub value: Vec<u8> as PerfString,
    }

    /// One item of HYBRID_TOPOLOGY: a PMU that only some CPUs have.
    pub struct HybridPmu in "PMU" {
        /// Its name in sysfs, such as `cpu_core`.
        pub pmu: Vec<u8> as PerfString,
        /// Its CPUs, such as `0-15`.
        pub cpus: Vec<u8> as PerfString,
    }
}

impl DescribedItem for PmuMapping {
    const COUNT: &'static str = "PMU count";
}

impl DescribedItem for PmuCap {
    const COUNT: &'static str = "PMU capability count";
}

impl DescribedItem for HybridPmu {
    const COUNT: &'static str = "PMU count";
}

/// One item of PMU_CAPS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PmuCaps {
    /// The PMU's name in sysfs.
    pub pmu: Vec<u8>,
    /// What it can do.
    pub caps: Vec<PmuCap>,
}

impl SectionItem for PmuCaps {
    fn parse_all(section: &[u8], endian: Endian) -> Result<Vec<Self>, WireError> {
        let mut cursor = Cursor::new(section, endian);
        let n = cursor.u32("PMU count")?;
        let pmu = |_| {
            // The name comes last.
            let caps = CountedItems::<u32>::parse(&mut cursor, PmuCap::COUNT)?;
            let pmu = take_owned(&mut cursor)?;
            Ok(Self { pmu, caps })
        };
        (0..n).map(pmu).collect()
    }

    fn visit(&self, fields: &mut dyn Fields) {
        fields.field("pmu", Value::Text(&self.pmu));
        CountedItems::<u32>::visit(&self.caps, "caps", fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::encode_string;
    use crate::testing::{ORDERS, bytes};

    #[test]
    fn mappings_are_numbers_with_names() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                encoder.u32(1);
                encoder.u32(8);
                encode_string(b"uprobe", encoder);
            });
            let expected = PmuMapping {
                kind: 8,
                name: b"uprobe".to_vec(),
            };
            assert_eq!(PmuMapping::parse_all(&section, endian), Ok(vec![expected]));
            assert!(PmuMapping::parse_all(&section[..20], endian).is_err());
        }
    }

    #[test]
    fn the_name_of_a_pmu_comes_behind_its_abilities() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                encoder.u32(1);
                encoder.u32(1);
                for text in ["branches", "32", "cpu_core"] {
                    encode_string(text.as_bytes(), encoder);
                }
            });
            let cap = PmuCap {
                name: b"branches".to_vec(),
                value: b"32".to_vec(),
            };
            let expected = PmuCaps {
                pmu: b"cpu_core".to_vec(),
                caps: vec![cap.clone()],
            };
            assert_eq!(PmuCaps::parse_all(&section, endian), Ok(vec![expected]));
            assert_eq!(PmuCap::parse_all(&section[4..], endian), Ok(vec![cap]));
        }
    }

    #[test]
    fn hybrid_pmus_have_cpus() {
        for endian in ORDERS {
            let section = bytes(endian, |encoder| {
                encoder.u32(1);
                encode_string(b"cpu_atom", encoder);
                encode_string(b"16-23", encoder);
            });
            let expected = HybridPmu {
                pmu: b"cpu_atom".to_vec(),
                cpus: b"16-23".to_vec(),
            };
            assert_eq!(HybridPmu::parse_all(&section, endian), Ok(vec![expected]));
        }
    }
}
