//! [`Feature`]: any feature section, decoded.

use super::text::take_owned;
use super::{
    AuxtraceIndexEntry, BpfBtf, BpfProgram, BuildIdEntry, Caches, ClockData, Compression, Coverage,
    CpuDomains, CpuTopology, DebugUnwindFile, ElfMachine, EventDesc, EventGroup, FeatureId,
    FileContents, HybridPmu, LeftOut, MemTopology, MetaInfo, NrCpus, NumaNode, PmuCap, PmuCaps,
    PmuMapping, SampleTime, SimpleperfFile, StackEnds, Symbols, decode_strings,
};
use rprof_abi::{Cursor, Endian, WireError};

/// A feature section, decoded. Texts are bytes: nobody promises UTF-8.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Feature {
    /// Build ids of files.
    BuildId(Vec<BuildIdEntry>),
    /// Name of the machine.
    Hostname(Vec<u8>),
    /// Kernel release.
    OsRelease(Vec<u8>),
    /// Version of the recording tool.
    Version(Vec<u8>),
    /// Machine architecture.
    Arch(Vec<u8>),
    /// CPUs.
    NrCpus(NrCpus),
    /// CPU model.
    CpuDesc(Vec<u8>),
    /// CPU identification.
    CpuId(Vec<u8>),
    /// Memory.
    TotalMem {
        /// KiB.
        kib: u64,
    },
    /// Words of the command line.
    Cmdline(Vec<Vec<u8>>),
    /// Events.
    EventDesc(Vec<EventDesc>),
    /// Cores and sockets.
    CpuTopology(CpuTopology),
    /// Memory nodes.
    NumaTopology(Vec<NumaNode>),
    /// Samples hold branch stacks.
    BranchStack,
    /// PMUs.
    PmuMappings(Vec<PmuMapping>),
    /// Groups of events.
    GroupDesc(Vec<EventGroup>),
    /// Where AUX data is.
    Auxtrace(Vec<AuxtraceIndexEntry>),
    /// The file is of `perf stat record`.
    Stat,
    /// Caches.
    Cache(Caches),
    /// Times of the first and last sample.
    SampleTime(SampleTime),
    /// Memory blocks.
    MemTopology(MemTopology),
    /// The clock.
    ClockId {
        /// Its resolution, nanoseconds.
        resolution_ns: u64,
    },
    /// The recording is a directory.
    DirFormat {
        /// Version of its form.
        version: u64,
    },
    /// BPF programs.
    BpfProgInfo(Vec<BpfProgram>),
    /// Types of BPF programs.
    BpfBtf(Vec<BpfBtf>),
    /// How records are compressed.
    Compressed(Compression),
    /// What the PMU `cpu` can do.
    CpuPmuCaps(Vec<PmuCap>),
    /// The clock against wall time.
    ClockData(ClockData),
    /// PMUs that only some CPUs have.
    HybridTopology(Vec<HybridPmu>),
    /// What the PMUs can do.
    PmuCaps(Vec<PmuCaps>),
    /// Scheduling domains.
    CpuDomainInfo(CpuDomains),
    /// Machine and flags of ELF headers.
    EMachine(ElfMachine),
    /// A cache line.
    ClnSize {
        /// Its bytes.
        bytes: u32,
    },
    /// Files with symbols, of FILE or FILE2.
    SimpleperfFiles(Vec<SimpleperfFile>),
    /// Keys and values.
    SimpleperfMetaInfo(Vec<MetaInfo>),
    /// Files kept to repeat unwinding.
    SimpleperfDebugUnwind(Vec<DebugUnwindFile>),
    /// How stacks ended.
    StackEnds(StackEnds),
    /// Names of what samples hit.
    Symbols(Symbols),
    /// Samples that the recorder did not keep.
    LeftOut(LeftOut),
    /// What was in mapped files.
    Contents(Vec<FileContents>),
    /// The process that the recorded command was.
    Command(u32),
    /// What the samples stand for.
    Coverage(Coverage),
    /// A section that is not decoded here: unknown, or a stream of its own.
    Opaque {
        /// Which.
        id: FeatureId,
        /// Its size.
        len_bytes: u64,
    },
}

impl Feature {
    /// Decodes a section of a file, or the bytes of a HEADER_FEATURE record in pipe mode.
    ///
    /// # Errors
    /// [`WireError`] if it is shorter than its counts say.
    pub fn parse(id: FeatureId, section: &[u8], endian: Endian) -> Result<Self, WireError> {
        if id == FeatureId::STACK_ENDS {
            return Ok(Self::StackEnds(StackEnds::parse(section, endian)?));
        }
        if id == FeatureId::SYMBOLS {
            return Ok(Self::Symbols(Symbols::parse(section, endian)?));
        }
        if id == FeatureId::LEFT_OUT {
            return Ok(Self::LeftOut(LeftOut::parse(section, endian)?));
        }
        if id == FeatureId::CONTENTS {
            return Ok(Self::Contents(FileContents::parse_all(section, endian)?));
        }
        if id == FeatureId::COMMAND {
            return Ok(Self::Command(Cursor::new(section, endian).u32("command")?));
        }
        if id == FeatureId::COVERAGE {
            return Ok(Self::Coverage(Coverage::parse(section, endian)?));
        }
        if id.0 >= FeatureId::SIMPLEPERF_FILE.0 {
            return Self::parse_simpleperf(id, section, endian);
        }
        let mut cursor = Cursor::new(section, endian);
        let cursor = &mut cursor;
        // A flat table, hence its length.
        Ok(match id {
            FeatureId::BUILD_ID => match BuildIdEntry::parse_all(section, endian) {
                (entries, None) => Self::BuildId(entries),
                (_, Some(error)) => return Err(error),
            },
            FeatureId::HOSTNAME => Self::Hostname(take_owned(cursor)?),
            FeatureId::OSRELEASE => Self::OsRelease(take_owned(cursor)?),
            FeatureId::VERSION => Self::Version(take_owned(cursor)?),
            FeatureId::ARCH => Self::Arch(take_owned(cursor)?),
            FeatureId::NRCPUS => Self::NrCpus(NrCpus::parse(section, endian)?),
            FeatureId::CPUDESC => Self::CpuDesc(take_owned(cursor)?),
            FeatureId::CPUID => Self::CpuId(take_owned(cursor)?),
            FeatureId::TOTAL_MEM => Self::TotalMem {
                kib: cursor.u64("memory size")?,
            },
            FeatureId::CMDLINE => {
                let words = decode_strings(section, endian)?;
                Self::Cmdline(words.into_iter().map(<[u8]>::to_vec).collect())
            }
            FeatureId::EVENT_DESC => Self::EventDesc(EventDesc::parse_all(section, endian)?),
            FeatureId::CPU_TOPOLOGY => Self::CpuTopology(CpuTopology::parse(section, endian)?),
            FeatureId::NUMA_TOPOLOGY => Self::NumaTopology(NumaNode::parse_all(section, endian)?),
            FeatureId::BRANCH_STACK => Self::BranchStack,
            FeatureId::PMU_MAPPINGS => Self::PmuMappings(PmuMapping::parse_all(section, endian)?),
            FeatureId::GROUP_DESC => Self::GroupDesc(EventGroup::parse_all(section, endian)?),
            FeatureId::AUXTRACE => Self::Auxtrace(AuxtraceIndexEntry::parse_all(section, endian)?),
            FeatureId::STAT => Self::Stat,
            FeatureId::CACHE => Self::Cache(Caches::parse(section, endian)?),
            FeatureId::SAMPLE_TIME => Self::SampleTime(SampleTime::parse(section, endian)?),
            FeatureId::MEM_TOPOLOGY => Self::MemTopology(MemTopology::parse(section, endian)?),
            FeatureId::CLOCKID => Self::ClockId {
                resolution_ns: cursor.u64("clock resolution")?,
            },
            FeatureId::DIR_FORMAT => Self::DirFormat {
                version: cursor.u64("directory version")?,
            },
            FeatureId::BPF_PROG_INFO => Self::BpfProgInfo(BpfProgram::parse_all(section, endian)?),
            FeatureId::BPF_BTF => Self::BpfBtf(BpfBtf::parse_all(section, endian)?),
            FeatureId::COMPRESSED => Self::Compressed(Compression::parse(section, endian)?),
            FeatureId::CPU_PMU_CAPS => Self::CpuPmuCaps(PmuCap::parse_all(section, endian)?),
            FeatureId::CLOCK_DATA => Self::ClockData(ClockData::parse(section, endian)?),
            FeatureId::HYBRID_TOPOLOGY => {
                Self::HybridTopology(HybridPmu::parse_all(section, endian)?)
            }
            FeatureId::PMU_CAPS => Self::PmuCaps(PmuCaps::parse_all(section, endian)?),
            FeatureId::CPU_DOMAIN_INFO => Self::CpuDomainInfo(CpuDomains::parse(section, endian)?),
            // They are too new to rely on their order; their lengths tell them apart.
            FeatureId::E_MACHINE | FeatureId::CLN_SIZE if section.len() == 8 => {
                Self::EMachine(ElfMachine::parse(section, endian)?)
            }
            FeatureId::E_MACHINE | FeatureId::CLN_SIZE if section.len() == 4 => Self::ClnSize {
                bytes: cursor.u32("cache line size")?,
            },
            _ => Self::opaque(id, section),
        })
    }

    fn parse_simpleperf(id: FeatureId, section: &[u8], endian: Endian) -> Result<Self, WireError> {
        Ok(match id {
            FeatureId::SIMPLEPERF_FILE => {
                Self::SimpleperfFiles(SimpleperfFile::parse_all(section, endian)?)
            }
            FeatureId::SIMPLEPERF_FILE2 => {
                Self::SimpleperfFiles(SimpleperfFile::parse_all_messages(section, endian)?)
            }
            FeatureId::SIMPLEPERF_META_INFO => {
                Self::SimpleperfMetaInfo(MetaInfo::parse_all(section))
            }
            FeatureId::SIMPLEPERF_DEBUG_UNWIND => {
                Self::SimpleperfDebugUnwind(DebugUnwindFile::parse_all(section)?)
            }
            _ => Self::opaque(id, section),
        })
    }

    fn opaque(id: FeatureId, section: &[u8]) -> Self {
        Self::Opaque {
            id,
            len_bytes: section.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::encode_string;
    use crate::testing::{Flat, ORDERS, bytes, u32s};
    use proptest::prelude::*;

    fn said(id: FeatureId, section: &[u8], endian: Endian) -> Vec<String> {
        let feature = Feature::parse(id, section, endian).unwrap();
        Flat::of(|fields| feature.visit(fields))
    }

    #[test]
    fn texts_and_numbers_are_said_under_the_names_of_their_sections() {
        for endian in ORDERS {
            let text = bytes(endian, |encoder| encode_string(b"x", encoder));
            for (id, expected) in [
                (FeatureId::HOSTNAME, "hostname=x"),
                (FeatureId::OSRELEASE, "osrelease=x"),
                (FeatureId::VERSION, "version=x"),
                (FeatureId::ARCH, "arch=x"),
                (FeatureId::CPUDESC, "cpudesc=x"),
                (FeatureId::CPUID, "cpuid=x"),
            ] {
                assert_eq!(said(id, &text, endian), [expected]);
            }
            let number = bytes(endian, |encoder| encoder.u64(7));
            for (id, expected) in [
                (FeatureId::TOTAL_MEM, "total_mem_kib=7"),
                (FeatureId::CLOCKID, "clockid.resolution_ns=7"),
                (FeatureId::DIR_FORMAT, "dir_format.version=7"),
            ] {
                assert_eq!(said(id, &number, endian), [expected]);
                assert!(Feature::parse(id, &number[..7], endian).is_err());
            }
            let pair = bytes(endian, |encoder| u32s(&[62, 1], encoder));
            for id in [FeatureId::E_MACHINE, FeatureId::CLN_SIZE] {
                assert_eq!(
                    said(id, &pair, endian),
                    ["e_machine.machine=62", "e_machine.flags=0x1"]
                );
                assert_eq!(said(id, &pair[..4], endian), ["cln_size.bytes=62"]);
            }
        }
    }

    #[test]
    fn sections_without_bytes_or_without_meaning_are_said_too() {
        let said = |id| said(FeatureId(id), &[], Endian::Little);
        assert_eq!(said(15), ["branch_stack=Bool(true)"]);
        assert_eq!(said(19), ["stat=Bool(true)"]);
        assert_eq!(said(1), ["tracing_data.len_bytes=0"]);
        assert_eq!(said(134), ["simpleperf_init_map.len_bytes=0"]);
        assert_eq!(said(250), ["feature_250.len_bytes=0"]);
    }

    proptest! {
        #[test]
        fn any_bytes_never_panic_and_never_loop(
            section in proptest::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], 0..300),
            big: bool,
        ) {
            let endian = if big { Endian::Big } else { Endian::Little };
            for id in (0..=256).map(FeatureId) {
                if let Ok(feature) = Feature::parse(id, &section, endian) {
                    Flat::of(|fields| feature.visit(fields));
                }
            }
        }
    }
}
