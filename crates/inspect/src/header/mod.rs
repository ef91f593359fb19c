//! What a recording says of itself, in perf's words: `perf report --header`.

mod cpus;
mod events;
mod lines;

use crate::info::each_feature;
use rprof_base::Utc;
use rprof_perfdata::{Feature, FeatureId, Form, Reader};
use rprof_untrusted::Untrusted;
use std::fmt::Write;

/// The last feature that perf 6.1 knows: of newer ones it does not say that they are missing.
const LAST_OF_PERF: FeatureId = FeatureId::PMU_CAPS;

/// What perf leaves out unless everything is asked for.
const LONG: &[FeatureId] = &[
    FeatureId::CPU_TOPOLOGY,
    FeatureId::NUMA_TOPOLOGY,
    FeatureId::CACHE,
    FeatureId::MEM_TOPOLOGY,
    FeatureId::HYBRID_TOPOLOGY,
];

/// The header as text, and what could not be read of it. `is_full` adds what is long: topologies, caches.
pub fn header_text(reader: &Reader, is_full: bool) -> (String, Vec<String>) {
    let mut text = "# ========\n".to_owned();
    if let Some(seconds) = reader.modified() {
        line(&mut text, "captured on    ", &date(seconds));
    }
    line(&mut text, "header version ", "1");
    let data = reader.header().map(|header| header.data);
    let (offset, size) = data.map_or((0, 0), |data| (data.offset, data.size));
    line(&mut text, "data offset    ", &offset.to_string());
    line(&mut text, "data size      ", &size.to_string());
    let end = offset.saturating_add(size);
    line(&mut text, "feat offset    ", &end.to_string());
    let mut warnings = Vec::new();
    let features = features(reader, is_full, &mut warnings);
    if reader.form() == Form::Pipe {
        // There they are among the records.
        text += "# ========\n#\n";
        text += &features;
        return (text, warnings);
    }
    text += &features;
    let has = |id: &FeatureId| reader.features().iter().any(|(other, _)| other == id);
    let known = FeatureId::ALL.iter().filter(|id| **id <= LAST_OF_PERF);
    let missing = known.filter(|id| !has(id));
    let missing: String = missing.map(|id| format!("{} ", id.name())).collect();
    text += &format!("# missing features: {missing}\n# ========\n#\n");
    (text, warnings)
}

fn features(reader: &Reader, is_full: bool, warnings: &mut Vec<String>) -> String {
    let mut text = String::new();
    each_feature(reader, warnings, |id, feature| {
        if !is_full && LONG.contains(&id) {
            text += &format!("# {} info available, use -I to display\n", id.name());
        } else {
            one(feature, reader, &mut text);
        }
    });
    text
}

/// Appends the lines of a feature: none for what perf has no words for.
fn one(feature: &Feature, reader: &Reader, text: &mut String) {
    match feature {
        Feature::Hostname(name) => line(text, "hostname ", &shown(name)),
        Feature::OsRelease(release) => line(text, "os release ", &shown(release)),
        Feature::Version(version) => line(text, "perf version ", &shown(version)),
        Feature::Arch(arch) => line(text, "arch ", &shown(arch)),
        Feature::CpuDesc(model) => line(text, "cpudesc ", &shown(model)),
        Feature::CpuId(id) => line(text, "cpuid ", &shown(id)),
        Feature::NrCpus(cpus) => {
            line(text, "nrcpus online ", &cpus.online.to_string());
            line(text, "nrcpus avail ", &cpus.available.to_string());
        }
        Feature::TotalMem(memory) => line(text, "total memory ", &format!("{} kB", memory.kib)),
        Feature::Cmdline(words) => events::command_line(words, text),
        Feature::EventDesc(events) => events::events(events, text),
        Feature::GroupDesc(groups) => events::groups(groups, reader.events(), text),
        Feature::CpuTopology(topology) => cpus::topology(topology, text),
        Feature::NumaTopology(nodes) => cpus::numa(nodes, text),
        Feature::Cache(caches) => cpus::caches(caches, text),
        Feature::MemTopology(memory) => cpus::memory(memory, text),
        Feature::HybridTopology(pmus) => cpus::hybrid(pmus, text),
        Feature::PmuMappings(pmus) => cpus::pmus(pmus, text),
        Feature::CpuPmuCaps(caps) => cpus::caps("cpu", caps, text),
        Feature::PmuCaps(all) => {
            let all = all.iter();
            all.for_each(|pmu| cpus::caps(&shown(&pmu.pmu), &pmu.caps, text));
        }
        Feature::BranchStack(()) => *text += "# contains samples with branch stack\n",
        Feature::Auxtrace(_) => *text += "# contains AUX area data (e.g. instruction trace)\n",
        Feature::Stat(()) => *text += "# contains stat data\n",
        Feature::SampleTime(times) => lines::sample_time(*times, text),
        Feature::ClockId(clock) => lines::clock_resolution(*clock, text),
        Feature::ClockData(clock) => lines::clock(*clock, text),
        Feature::DirFormat(format) => {
            line(text, "directory data version ", &format.version.to_string());
        }
        Feature::Compressed(how) => lines::compressed(*how, text),
        Feature::Thinning(thinning) => lines::thinning(*thinning, text),
        Feature::BpfProgInfo(programs) => {
            programs
                .iter()
                .for_each(|program| lines::bpf(program, text));
        }
        Feature::BpfBtf(all) => all.iter().for_each(|btf| {
            *text += &format!("# btf info of id {}\n", btf.id);
        }),
        _ => {}
    }
}

/// Appends `# name: value`.
fn line(text: &mut String, name: &str, value: &str) {
    // Writing to memory does not fail.
    let _ = writeln!(text, "# {name}: {value}");
}

fn shown(bytes: &[u8]) -> String {
    Untrusted::of_bytes(bytes).shown().into_owned()
}

/// As C's `ctime` writes it.
fn date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let at = Utc::of(seconds);
    let name = |names: &[&'static str], idx: u64| {
        let idx = usize::try_from(idx).unwrap_or(usize::MAX);
        names.get(idx).copied().unwrap_or_default()
    };
    format!(
        "{} {} {:2} {:02}:{:02}:{:02} {}",
        name(&DAYS, at.weekday),
        name(&MONTHS, at.month.saturating_sub(1)),
        at.day,
        at.hour,
        at.minute,
        at.second,
        at.year
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_ctime_does() {
        assert_eq!(date(1_795_391_536), "Sun Nov 22 23:52:16 2026");
        assert_eq!(date(0), "Thu Jan  1 00:00:00 1970");
    }
}
