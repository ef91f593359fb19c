//! The recording's clock against that of files.

use rprof_perfdata::feature::ClockData;
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
        let feature = |id| {
            let section = reader.feature(id).ok()??;
            Feature::parse(id, &section, reader.endian()).ok()
        };
        let Feature::ClockData(clock) = feature(FeatureId::CLOCK_DATA)? else {
            return None;
        };
        let last_ns = match feature(FeatureId::SAMPLE_TIME) {
            Some(Feature::SampleTime(times)) => Some(times.last_ns),
            _ => None,
        };
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
    let written = std::fs::metadata(reader.path()).ok();
    let written = written.filter(std::fs::Metadata::is_file);
    let written = written.and_then(|meta| meta.modified().ok());
    let last = clock.and_then(|clock| clock.wall(clock.last_ns?));
    let last = last.and_then(|last| last.checked_add(SLACK));
    written.into_iter().chain(last).min()
}

/// Clocks are set, and files' times are those of the last timer tick.
pub(crate) const SLACK: Duration = Duration::from_secs(1);
