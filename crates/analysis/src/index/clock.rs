//! The recording's clock against that of files.

use rprof_perfdata::feature::{ClockData, SampleTime};
use rprof_perfdata::{Feature, FeatureId, Reader};
use std::time::{Duration, SystemTime};

/// The recording's clock against that of files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WallClock {
    pub(crate) clock: ClockData,
    /// When the last sample was taken.
    pub(crate) last_ns: Option<u64>,
}

impl WallClock {
    /// `None` if the recording does not say.
    pub(crate) fn of(reader: &Reader) -> Option<Self> {
        let Feature::ClockData(clock) = feature(reader, FeatureId::CLOCK_DATA)? else {
            return None;
        };
        let last_ns = sample_times(reader).map(|times| times.last_ns);
        Some(Self { clock, last_ns })
    }

    /// A moment of the recording by the clock of files.
    pub(crate) fn wall(self, time_ns: u64) -> Option<SystemTime> {
        let ClockData {
            wall_ns, clock_ns, ..
        } = self.clock;
        let wall_ns = i128::from(wall_ns) + i128::from(time_ns) - i128::from(clock_ns);
        let since = Duration::from_nanos(u64::try_from(wall_ns).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }
}

/// When a recording was over at the latest, by the clock of files. What is in files that were written to later was not
/// recorded.
pub(crate) fn recording_ended(reader: &Reader, clock: Option<WallClock>) -> Option<SystemTime> {
    let written = written(reader);
    let last = clock.and_then(|clock| clock.wall(clock.last_ns?));
    let last = last.and_then(|last| last.checked_add(SLACK));
    written.into_iter().chain(last).min()
}

/// A moment of a recording by the clock of files, or one after it. The earliest is when sampling began:
/// what was there before has no time. A recording that does not say what time it was by its clock was
/// written after its last sample.
pub(crate) fn wall_at_the_latest(
    reader: &Reader,
    clock: Option<WallClock>,
    time_ns: u64,
) -> Option<SystemTime> {
    let times = sample_times(reader)?;
    let time_ns = time_ns.max(times.first_ns);
    if let Some(clock) = clock {
        return clock.wall(time_ns);
    }
    let before_end = times.last_ns.checked_sub(time_ns)?;
    written(reader)?.checked_sub(Duration::from_nanos(before_end))
}

/// When the recording was written, by its file.
fn written(reader: &Reader) -> Option<SystemTime> {
    let meta = std::fs::metadata(reader.path()).ok();
    meta.filter(std::fs::Metadata::is_file)?.modified().ok()
}

fn sample_times(reader: &Reader) -> Option<SampleTime> {
    match feature(reader, FeatureId::SAMPLE_TIME)? {
        Feature::SampleTime(times) => Some(times),
        _ => None,
    }
}

fn feature(reader: &Reader, id: FeatureId) -> Option<Feature> {
    let section = reader.feature(id).ok()??;
    Feature::parse(id, &section, reader.endian()).ok()
}

/// Clocks are set, and files' times are those of the last timer tick.
pub(crate) const SLACK: Duration = Duration::from_secs(1);
