//! [`Feature`], described field by field: these names are the schema of what `rprof info` writes.

use super::{
    BpfProgram, BuildIdEntry, DebugUnwindFile, EventDesc, EventGroup, Feature, FeatureId,
    FileContents, HybridPmu, MetaInfo, NumaNode, PmuCap, PmuCaps, PmuMapping, SimpleperfFile,
};
use rprof_abi::{Fields, Value};

impl Feature {
    /// Says the section as one field: perf's name for it in lower case (`feature_250` for one
    /// without a name), and under it what the section holds.
    pub fn visit(&self, fields: &mut dyn Fields) {
        // A flat table, hence its length.
        match self {
            Self::BuildId(all) => objects("build_id", all, fields, BuildIdEntry::visit),
            Self::Hostname(text) => fields.field("hostname", Value::Text(text)),
            Self::OsRelease(text) => fields.field("osrelease", Value::Text(text)),
            Self::Version(text) => fields.field("version", Value::Text(text)),
            Self::Arch(text) => fields.field("arch", Value::Text(text)),
            Self::NrCpus(cpus) => fields.object("nrcpus", |fields| cpus.visit(fields)),
            Self::CpuDesc(text) => fields.field("cpudesc", Value::Text(text)),
            Self::CpuId(text) => fields.field("cpuid", Value::Text(text)),
            Self::TotalMem { kib } => fields.field("total_mem_kib", Value::Unsigned(*kib)),
            Self::Cmdline(words) => fields.list("cmdline", words, |fields, word| {
                fields.field("", Value::Text(word));
            }),
            Self::EventDesc(all) => objects("event_desc", all, fields, EventDesc::visit),
            Self::CpuTopology(topology) => {
                fields.object("cpu_topology", |fields| topology.visit(fields));
            }
            Self::NumaTopology(all) => objects("numa_topology", all, fields, NumaNode::visit),
            Self::BranchStack => fields.field("branch_stack", Value::Bool(true)),
            Self::PmuMappings(all) => objects("pmu_mappings", all, fields, PmuMapping::visit),
            Self::GroupDesc(all) => objects("group_desc", all, fields, EventGroup::visit),
            Self::Auxtrace(all) => objects("auxtrace", all, fields, |entry, fields| {
                entry.visit(fields);
            }),
            Self::Stat => fields.field("stat", Value::Bool(true)),
            Self::Cache(caches) => fields.object("cache", |fields| caches.visit(fields)),
            Self::SampleTime(time) => fields.object("sample_time", |fields| time.visit(fields)),
            Self::MemTopology(memory) => {
                fields.object("mem_topology", |fields| memory.visit(fields));
            }
            Self::ClockId { resolution_ns } => fields.object("clockid", |fields| {
                fields.field("resolution_ns", Value::Unsigned(*resolution_ns));
            }),
            Self::DirFormat { version } => fields.object("dir_format", |fields| {
                fields.field("version", Value::Unsigned(*version));
            }),
            Self::BpfProgInfo(all) => objects("bpf_prog_info", all, fields, BpfProgram::visit),
            Self::BpfBtf(all) => objects("bpf_btf", all, fields, |btf, fields| btf.visit(fields)),
            Self::Compressed(how) => fields.object("compressed", |fields| how.visit(fields)),
            Self::CpuPmuCaps(all) => objects("cpu_pmu_caps", all, fields, PmuCap::visit),
            Self::ClockData(clocks) => fields.object("clock_data", |fields| clocks.visit(fields)),
            Self::HybridTopology(all) => objects("hybrid_topology", all, fields, HybridPmu::visit),
            Self::PmuCaps(all) => objects("pmu_caps", all, fields, PmuCaps::visit),
            Self::CpuDomainInfo(domains) => {
                fields.object("cpu_domain_info", |fields| domains.visit(fields));
            }
            Self::EMachine(machine) => fields.object("e_machine", |fields| machine.visit(fields)),
            Self::ClnSize { bytes } => fields.object("cln_size", |fields| {
                fields.field("bytes", Value::Unsigned((*bytes).into()));
            }),
            Self::SimpleperfFiles(all) => {
                objects("simpleperf_file", all, fields, SimpleperfFile::visit);
            }
            Self::SimpleperfMetaInfo(all) => {
                objects("simpleperf_meta_info", all, fields, MetaInfo::visit);
            }
            Self::SimpleperfDebugUnwind(all) => {
                objects(
                    "simpleperf_debug_unwind",
                    all,
                    fields,
                    DebugUnwindFile::visit,
                );
            }
            Self::StackEnds(ends) => fields.object("stack_ends", |fields| ends.visit(fields)),
            Self::Symbols(symbols) => fields.object("symbols", |fields| symbols.visit(fields)),
            Self::Contents(files) => objects("contents", files, fields, FileContents::visit),
            Self::LeftOut(left_out) => fields.object("left_out", |fields| left_out.visit(fields)),
            Self::Command(pid) => fields.object("command", |fields| {
                fields.field("pid", Value::Unsigned((*pid).into()));
            }),
            Self::Coverage(coverage) => fields.object("coverage", |fields| coverage.visit(fields)),
            Self::Opaque { id, len_bytes } => {
                fields.object(&name_of(*id), |fields| {
                    fields.field("len_bytes", Value::Unsigned(*len_bytes));
                });
            }
        }
    }
}

/// The name of a section as a field.
fn name_of(id: FeatureId) -> String {
    if FeatureId::ALL.contains(&id) {
        id.name().to_ascii_lowercase()
    } else {
        format!("feature_{}", id.0)
    }
}

/// A list of objects.
fn objects<T>(
    name: &str,
    items: &[T],
    fields: &mut dyn Fields,
    visit: impl Fn(&T, &mut dyn Fields),
) {
    fields.list(name, items, |fields, item| {
        fields.object("", |fields| visit(item, fields));
    });
}
