//! What a recording says of itself and of its events.

use rprof_abi::{AttrFlags, PerfEventAttr, SampleType, event_type, hw, sw};
use rprof_perfdata::feature::{self, LeftOut};
use rprof_perfdata::{Feature, FeatureId, Reader, RecordedEvent};
use rprof_profile::{About, Coverage, EventKind, Sampling, Thinning, WallClock};

/// The words of the command that made a recording; none if it does not say.
pub fn command_line(reader: &Reader) -> Vec<Vec<u8>> {
    let section = reader.feature(FeatureId::CMDLINE).ok().flatten();
    let words = section
        .and_then(|section| Feature::parse(FeatureId::CMDLINE, &section, reader.endian()).ok());
    match words {
        Some(Feature::Cmdline(words)) => words,
        _ => Vec::new(),
    }
}

/// Where and how a recording was made.
pub fn about(reader: &Reader) -> About {
    let feature = |id| {
        let section = reader.feature(id).ok()??;
        Feature::parse(id, &section, reader.endian()).ok()
    };
    let text = |id| {
        let text = reader.feature_text(id)?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let command = command_line(reader);
    let left_out = match feature(FeatureId::LEFT_OUT) {
        Some(Feature::LeftOut(left_out)) => left_out,
        _ => LeftOut::default(),
    };
    let words = command.iter();
    About {
        host: text(FeatureId::HOSTNAME),
        os_release: text(FeatureId::OSRELEASE),
        arch: text(FeatureId::ARCH),
        cpu: text(FeatureId::CPUDESC),
        n_cpus: match feature(FeatureId::NRCPUS) {
            Some(Feature::NrCpus(cpus)) => Some(cpus.online),
            _ => None,
        },
        recorder: text(FeatureId::VERSION),
        command: words
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
        own_samples: left_out.own,
        others_samples: left_out.others,
        thinning: thinning(reader),
        coverage: match feature(FeatureId::COVERAGE) {
            Some(Feature::Coverage(coverage)) => Some(Coverage {
                covered: coverage.covered,
                count: coverage.count,
                of: covered(coverage, reader),
            }),
            _ => None,
        },
        clock: clock(reader),
        wall_clock: match feature(FeatureId::CLOCK_DATA) {
            Some(Feature::ClockData(clock)) => Some(WallClock {
                wall_ns: clock.wall_ns,
                clock_ns: clock.clock_ns,
            }),
            _ => None,
        },
        is_live: false,
    }
}

/// How many samples were kept, if only some were.
fn thinning(reader: &Reader) -> Option<Thinning> {
    let section = reader.feature(FeatureId::THINNING).ok()??;
    match Feature::parse(FeatureId::THINNING, &section, reader.endian()) {
        Ok(Feature::Thinning(feature::SampleThinning { taken, kept, .. })) => {
            Some(Thinning { taken, kept })
        }
        _ => None,
    }
}

/// The clock that times are of: what perf takes without being asked is the scheduler's.
fn clock(reader: &Reader) -> Option<String> {
    let events = reader.events().iter();
    let mut attrs = events.map(|event| &event.attr);
    let attr = attrs.find(|attr| attr.sample_type.has(SampleType::TIME))?;
    if !attr.flags.has(AttrFlags::USE_CLOCKID) {
        return Some(About::SCHEDULER_CLOCK.to_owned());
    }
    Some(match attr.clockid {
        0 => "realtime".to_owned(),
        1 => "monotonic".to_owned(),
        4 => "monotonic_raw".to_owned(),
        7 => "boottime".to_owned(),
        11 => "tai".to_owned(),
        other => format!("{other}"),
    })
}

/// What samples cover, in words.
fn covered(coverage: feature::SampleCoverage, reader: &Reader) -> String {
    let event = usize::try_from(coverage.event).ok();
    let event = event.and_then(|event| reader.events().get(event));
    coverage
        .unit
        .words(event.map_or("?", |event| event.name.raw()))
}

/// The name under which `perf record --off-cpu` writes time off the CPU: its periods are nanoseconds.
///
/// Source: `OFFCPU_EVENT`, tools/perf/util/off_cpu.h (v6.1).
const OFF_CPU_TIME: &str = "offcpu-time";

/// Whether perf has written time off the CPU as samples of an event.
pub(crate) fn is_off_cpu_time(event: &RecordedEvent) -> bool {
    let is_software = event.attr.kind == event_type::SOFTWARE;
    is_software && event.name.raw() == OFF_CPU_TIME
}

/// What an event counts.
pub(crate) fn kind_of(event: &RecordedEvent) -> EventKind {
    let attr = &event.attr;
    match attr.kind {
        _ if is_off_cpu_time(event) => EventKind::OffCpuTime,
        event_type::SOFTWARE if matches!(attr.config, sw::CPU_CLOCK | sw::TASK_CLOCK) => {
            EventKind::CpuTime
        }
        // The upper half names the PMU of a hybrid CPU.
        event_type::HARDWARE if attr.config & 0xffff_ffff == hw::CPU_CYCLES => EventKind::Cycles,
        event_type::SOFTWARE | event_type::TRACEPOINT | event_type::BREAKPOINT => {
            EventKind::Occurrence
        }
        _ => EventKind::Counter,
    }
}

/// When samples of an event are taken. Of those of a thinned recording, some stand for more than others.
pub(crate) fn sampling_of(attr: &PerfEventAttr, about: &About) -> Sampling {
    if about
        .thinning
        .is_some_and(|thinning| thinning.dropped() > 0)
    {
        Sampling::Mixed
    } else if attr.flags.has(AttrFlags::FREQ) {
        Sampling::PerSecond(attr.sample_period)
    } else {
        Sampling::Every(attr.sample_period.max(1))
    }
}
