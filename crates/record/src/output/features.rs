//! What the file says of the machine and of the recording.

use crate::drain::DrainCounts;
use crate::settings::Tool;
use rprof_abi::{BranchSampleType, Encoder, Endian, PerfEventAttr, SampleType, Wire};
use rprof_events::{Event, Sources, online_cpus, parse_cpu_list};
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::{
    ClockData, CpuPlace, CpuTopology, FileContents, LeftOut, NumaNode, SampleTime, StackEnds,
    TracingData, encode_cpu_topology, encode_nr_cpus, encode_numa, encode_string, encode_strings,
};
use rprof_ringbuf::sys::{Clock, page_size};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Feature sections, encoded.
pub(crate) type Features = Vec<(FeatureId, Vec<u8>)>;

/// A section, encoded.
pub(crate) fn section(
    id: FeatureId,
    encode: impl FnOnce(&mut Encoder<'_>),
) -> (FeatureId, Vec<u8>) {
    let mut bytes = Vec::new();
    encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
    (id, bytes)
}

/// The section of a value.
pub(crate) fn encoded<'v>(id: FeatureId, value: &impl Wire<'v>) -> (FeatureId, Vec<u8>) {
    section(id, |encoder| value.encode(encoder))
}

/// Collects sections; what is not known is left out.
struct Collector(Features);

impl Collector {
    fn add(&mut self, id: FeatureId, encode: impl FnOnce(&mut Encoder<'_>)) {
        self.0.push(section(id, encode));
    }

    fn text(&mut self, id: FeatureId, text: Option<String>) {
        if let Some(text) = text {
            self.add(id, |encoder| encode_string(text.as_bytes(), encoder));
        }
    }
}

/// The machine, the command line and the clocks, as they are now.
pub(crate) fn of_machine(tool: &Tool, clock: Clock) -> Features {
    let mut all = Collector(Vec::new());
    all.text(FeatureId::HOSTNAME, line("/proc/sys/kernel/hostname"));
    all.text(FeatureId::OSRELEASE, line("/proc/sys/kernel/osrelease"));
    all.text(FeatureId::VERSION, Some(tool.version.clone()));
    all.text(FeatureId::ARCH, Some(std::env::consts::ARCH.to_owned()));
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    all.text(FeatureId::CPUDESC, cpuinfo_field(&cpuinfo, "model name"));
    all.text(FeatureId::CPUID, cpuid(&cpuinfo));
    if let Some(kib) = total_mem_kib() {
        all.add(FeatureId::TOTAL_MEM, |encoder| encoder.u64(kib));
    }
    let words = tool.command_line.iter().map(String::as_bytes);
    all.add(FeatureId::CMDLINE, |encoder| encode_strings(words, encoder));
    if let Some(cpus) = cpus() {
        all.add(FeatureId::NRCPUS, |encoder| {
            encode_nr_cpus(cpus.n_available, cpus.n_online, encoder);
        });
        all.add(FeatureId::CPU_TOPOLOGY, |encoder| {
            encode_cpu_topology(&cpus.topology, encoder)
        });
    }
    let nodes = numa_nodes();
    if !nodes.is_empty() {
        all.add(FeatureId::NUMA_TOPOLOGY, |encoder| {
            encode_numa(&nodes, encoder)
        });
    }
    all.add(FeatureId::CLOCKID, |encoder| {
        encoder.u64(clock.resolution_ns())
    });
    let clocks = ClockData {
        clockid: clock.id().cast_unsigned(),
        wall_ns: Clock::Realtime.now_ns(),
        clock_ns: clock.now_ns(),
    };
    all.add(FeatureId::CLOCK_DATA, |encoder| clocks.encode(encoder));
    all.0
}

/// Formats of the tracepoints among these events; nothing if there are none.
pub(crate) fn of_tracepoints(events: &[Event], tracefs: &Path) -> Features {
    let tracefs = tracefs.join("events");
    let read = |path: &Path| read_whole(&tracefs.join(path)).unwrap_or_default();
    let mut systems: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    let tracepoints = events.iter().filter_map(|event| event.tracepoint.as_ref());
    for (system, name) in tracepoints.filter_map(|tracepoint| tracepoint.split_once(':')) {
        let format = read(&Path::new(system).join(name).join("format"));
        systems.entry(system.to_owned()).or_default().push(format);
    }
    let mut all = Collector(Vec::new());
    if !systems.is_empty() {
        let data = TracingData {
            header_page: read(Path::new("header_page")),
            header_event: read(Path::new("header_event")),
            systems: systems.into_iter().collect(),
            page_size: u32::try_from(page_size()).unwrap_or(4096),
            // Strings that formats name by address; outside of the events' folder.
            printk_formats: read(Path::new("../printk_formats")),
            ..TracingData::default()
        };
        all.add(FeatureId::TRACING_DATA, |encoder| data.encode(encoder));
    }
    all.0
}

/// A file of tracefs. Some (`header_page`) give what one call has room for, and nothing after it (`show_header` in
/// kernel/trace/trace_events.c, v6.12).
fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    const ROOM: usize = 64 << 10;
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        bytes.resize(start + ROOM, 0);
        let n = file.read(bytes.get_mut(start..).unwrap_or_default())?;
        bytes.truncate(start + n);
        if n == 0 {
            return Ok(bytes);
        }
    }
}

/// That samples hold branches; nothing if these are how their stacks were found. perf counts branches only in
/// recordings that say so.
pub(crate) fn of_branches<'a>(
    attrs: impl IntoIterator<Item = &'a PerfEventAttr>,
) -> Option<(FeatureId, Vec<u8>)> {
    let has_branches = |attr: &PerfEventAttr| {
        let is_call_stack = attr.branch_sample_type.has(BranchSampleType::CALL_STACK);
        attr.sample_type.has(SampleType::BRANCH_STACK) && !is_call_stack
    };
    let mut attrs = attrs.into_iter();
    attrs
        .any(has_branches)
        .then_some((FeatureId::BRANCH_STACK, Vec::new()))
}

/// When the samples were taken.
pub(crate) fn of_samples(counts: &DrainCounts) -> Option<(FeatureId, Vec<u8>)> {
    let (first_ns, last_ns) = counts.span_ns?;
    let times = SampleTime { first_ns, last_ns };
    Some(encoded(FeatureId::SAMPLE_TIME, &times))
}

/// How stacks ended that were unwound.
pub(crate) fn of_stacks(ends: &StackEnds) -> (FeatureId, Vec<u8>) {
    section(FeatureId::STACK_ENDS, |encoder| ends.encode(encoder))
}

/// What was in files that have no build id; nothing if all have one.
pub(crate) fn of_contents(files: &[FileContents]) -> Option<(FeatureId, Vec<u8>)> {
    let encode = |encoder: &mut Encoder<'_>| FileContents::encode_all(files, encoder);
    (!files.is_empty()).then(|| section(FeatureId::CONTENTS, encode))
}

/// Which process the command is.
pub(crate) fn of_command(pid: i32) -> Option<(FeatureId, Vec<u8>)> {
    let pid = u32::try_from(pid).ok()?;
    Some(section(FeatureId::COMMAND, |encoder| encoder.u32(pid)))
}

/// How many samples were left out; nothing if there were none.
pub(crate) fn of_left_out(left_out: LeftOut) -> Option<(FeatureId, Vec<u8>)> {
    (left_out != LeftOut::default()).then(|| encoded(FeatureId::LEFT_OUT, &left_out))
}

fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn cpuinfo_field(cpuinfo: &str, name: &str) -> Option<String> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// perf's form on x86: vendor, family, model, stepping.
fn cpuid(cpuinfo: &str) -> Option<String> {
    let field = |name| cpuinfo_field(cpuinfo, name);
    Some(format!(
        "{},{},{},{}",
        field("vendor_id")?,
        field("cpu family")?,
        field("model")?,
        field("stepping")?
    ))
}

fn total_mem_kib() -> Option<u64> {
    meminfo_kib(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

/// A line of `/proc/meminfo`, or of a node's, which puts `Node 0` before it.
fn meminfo_kib(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let value = line.split_once(name)?.1;
        value.trim().trim_end_matches(" kB").parse().ok()
    })
}

/// The machine's CPUs.
struct Cpus {
    n_available: u32,
    n_online: u32,
    topology: CpuTopology,
}

/// The CPUs; `None` if sysfs does not say.
fn cpus() -> Option<Cpus> {
    let present = parse_cpu_list(&line("/sys/devices/system/cpu/present")?).ok()?;
    let mut topology = CpuTopology::default();
    for cpu in &present {
        let dir = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        let read = |name: &str| line(format!("{dir}/{name}"));
        let number = |name| read(name).and_then(|text| text.parse().ok()).unwrap_or(0);
        topology.cpus.push(CpuPlace {
            core_id: number("core_id"),
            socket_id: number("physical_package_id"),
        });
        let lists = [
            (&mut topology.core_siblings, "core_siblings_list"),
            (&mut topology.thread_siblings, "thread_siblings_list"),
        ];
        for (list, name) in lists {
            list.extend(read(name).filter(|text| !list.contains(text)));
        }
    }
    // perf takes a CPU number from here on for a damaged one.
    let n_available = present
        .iter()
        .max()
        .map_or(0, |&last| last.saturating_add(1));
    let online = online_cpus(&Sources::default()).ok();
    let n_online = online.and_then(|online| u32::try_from(online.len()).ok());
    Some(Cpus {
        n_available,
        n_online: n_online.unwrap_or(n_available),
        topology,
    })
}

fn numa_nodes() -> Vec<NumaNode> {
    let base = "/sys/devices/system/node";
    let online = line(format!("{base}/online")).and_then(|text| parse_cpu_list(&text).ok());
    let node = |node: u32| {
        let meminfo = std::fs::read_to_string(format!("{base}/node{node}/meminfo")).ok()?;
        Some(NumaNode {
            node,
            mem_total_kib: meminfo_kib(&meminfo, "MemTotal:")?,
            mem_free_kib: meminfo_kib(&meminfo, "MemFree:")?,
            cpus: line(format!("{base}/node{node}/cpulist"))?,
        })
    };
    online
        .unwrap_or_default()
        .into_iter()
        .filter_map(node)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_are_not_call_stacks_are_announced() {
        let announced = |kinds: &[BranchSampleType]| {
            let attrs: Vec<_> = kinds
                .iter()
                .map(|&branch_sample_type| PerfEventAttr {
                    sample_type: SampleType::IP.with(SampleType::BRANCH_STACK),
                    branch_sample_type,
                    ..PerfEventAttr::default()
                })
                .collect();
            of_branches(&attrs)
        };
        let any = BranchSampleType::USER.with(BranchSampleType::ANY);
        let call_stack = BranchSampleType::USER.with(BranchSampleType::CALL_STACK);
        let feature = Some((FeatureId::BRANCH_STACK, Vec::new()));
        assert_eq!(announced(&[any]), feature);
        assert_eq!(announced(&[call_stack, any]), feature);
        assert_eq!(announced(&[call_stack]), None);
        assert_eq!(of_branches(&[PerfEventAttr::default()]), None);
    }

    #[test]
    fn proc_files_are_read() {
        let cpuinfo = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon\nstepping\t: 4\n";
        assert_eq!(cpuid(cpuinfo).as_deref(), Some("GenuineIntel,6,85,4"));
        assert_eq!(
            cpuinfo_field(cpuinfo, "model name").as_deref(),
            Some("Xeon")
        );
        assert_eq!(
            meminfo_kib("Node 0 MemTotal:  123 kB\n", "MemTotal:"),
            Some(123)
        );
    }
}
