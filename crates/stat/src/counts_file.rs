//! A file of counts, as `perf stat record` writes it: events, whom they are of, and after each span the values
//! of all counters.

use crate::opening::{Cell, StatEvent};
use crate::targets::Targets;
use crate::{Aggregation, Error, StatSettings};
use rprof_abi::{AttrFlags, ReadFormat, SampleType, WireError};
use rprof_perfdata::file_record::{
    CpuMap, EventUpdate, Stat, StatConfigTerm, StatRound, ThreadMapEntry, Update,
};
use rprof_perfdata::{FeatureId, Writer, WrittenEvent};
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// Where counts are kept.
#[derive(Debug)]
pub struct CountsFile {
    /// An empty file.
    pub file: File,
    /// Its name, for messages.
    pub path: PathBuf,
    /// What it says of the machine and the command.
    pub features: Vec<(FeatureId, Vec<u8>)>,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct CountsWriter {
    writer: Writer,
    features: Vec<(FeatureId, Vec<u8>)>,
    path: PathBuf,
    /// Of each event's counters, in the order of its cells.
    ids: Vec<Vec<u64>>,
}

/// How counts are added up, in perf's numbers.
///
/// Source: `enum aggr_mode` in `tools/perf/util/stat.h` (v6.1); later versions have others from 4 on.
const AGGREGATIONS: [(Aggregation, u64); 7] = [
    (Aggregation::Cpu, 0),
    (Aggregation::Global, 1),
    (Aggregation::Socket, 2),
    (Aggregation::Die, 3),
    (Aggregation::Core, 4),
    (Aggregation::Thread, 5),
    (Aggregation::Node, 7),
];

/// Tags of STAT_CONFIG.
pub(crate) const TAG_AGGREGATION: u64 = 0;
pub(crate) const TAG_INTERVAL: u64 = 1;
pub(crate) const TAG_SCALE: u64 = 2;

/// Kinds of STAT_ROUND.
pub(crate) const ROUND_INTERVAL: u64 = 0;
const ROUND_FINAL: u64 = 1;

/// What a number of perf's means.
pub(crate) fn aggregation_of(number: u64) -> Option<Aggregation> {
    let found = AGGREGATIONS.iter().find(|(_, of)| *of == number);
    found.map(|(aggregation, _)| *aggregation)
}

impl CountsWriter {
    pub(crate) fn begin(
        file: CountsFile,
        settings: &StatSettings,
        events: &[StatEvent],
        ids: Vec<Vec<u64>>,
        targets: &Targets,
    ) -> Result<Self, Error> {
        let written = |(event, ids): (&StatEvent, &Vec<u64>)| WrittenEvent {
            name: event.name.clone(),
            attr: attr(event),
            ids: ids.clone(),
        };
        let written: Vec<WrittenEvent> = events.iter().zip(&ids).map(written).collect();
        let writer = Writer::start(file.file, &file.path, &written, Vec::new());
        let mut this = Self {
            writer: writer.map_err(Error::File)?,
            features: file.features,
            path: file.path,
            ids,
        };
        let mut head = Vec::new();
        let encoded = this.head(settings, events, targets, &mut head);
        encoded.map_err(|source| this.too_long(&source))?;
        this.writer.write(&head).map_err(Error::File)?;
        Ok(this)
    }

    fn head(
        &self,
        settings: &StatSettings,
        events: &[StatEvent],
        targets: &Targets,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        for (event, ids) in events.iter().zip(&self.ids) {
            let Some(&id) = ids.first().filter(|_| !event.unit.name.is_empty()) else {
                continue;
            };
            for update in [
                Update::Unit(event.unit.name.as_bytes()),
                Update::Scale(event.unit.scale),
            ] {
                EventUpdate { id, update }.encode(out)?;
            }
        }
        let everybody = [ThreadMapEntry { tid: -1, comm: b"" }];
        let threads: Vec<ThreadMapEntry<'_>> = targets
            .threads
            .iter()
            .map(|thread| ThreadMapEntry {
                tid: thread.tid.into(),
                comm: &thread.comm,
            })
            .collect();
        let threads = if threads.is_empty() {
            &everybody[..]
        } else {
            &threads
        };
        ThreadMapEntry::encode_all(threads, out)?;
        let cpus: Vec<i32> = targets.cpus.iter().map(|cpu| cpu.cast_signed()).collect();
        let cpus = if cpus.is_empty() { vec![-1] } else { cpus };
        CpuMap::encode_cpus(&cpus, out)?;
        let number = AGGREGATIONS
            .iter()
            .find(|(of, _)| *of == settings.aggregation);
        let interval = settings.interval.unwrap_or_default().as_millis();
        let terms = [
            (TAG_AGGREGATION, number.map_or(1, |(_, number)| *number)),
            (TAG_INTERVAL, u64::try_from(interval).unwrap_or(u64::MAX)),
            (TAG_SCALE, settings.scale.into()),
        ];
        let terms = terms.map(|(tag, value)| StatConfigTerm { tag, value });
        StatConfigTerm::encode_all(&terms, out)
    }

    /// Writes the values of all counters.
    pub(crate) fn round(
        &mut self,
        cells: &[Vec<Cell>],
        at: Duration,
        is_last: bool,
    ) -> Result<(), Error> {
        let mut out = Vec::new();
        for (cells, ids) in cells.iter().zip(&self.ids) {
            for (cell, &id) in cells.iter().zip(ids) {
                let stat = Stat {
                    id,
                    cpu: cell.cpu.map_or(-1, u32::cast_signed),
                    thread: u32::try_from(cell.thread).unwrap_or(u32::MAX),
                    value: cell.reading.count,
                    enabled_ns: cell.reading.enabled_ns,
                    running_ns: cell.reading.running_ns,
                };
                stat.append_record(&mut out)
                    .map_err(|source| self.too_long(&source))?;
            }
        }
        let round = StatRound {
            kind: if is_last { ROUND_FINAL } else { ROUND_INTERVAL },
            time_ns: u64::try_from(at.as_nanos()).unwrap_or(u64::MAX),
        };
        round
            .append_record(&mut out)
            .map_err(|source| self.too_long(&source))?;
        self.writer.write(&out).map_err(Error::File)
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        let finished = self.writer.finish(self.features);
        finished.map(drop).map_err(Error::File)
    }

    fn too_long(&self, source: &WireError) -> Error {
        Error::Unwritable {
            path: self.path.clone(),
            why: source.to_string(),
        }
    }
}

/// As it was opened; and found by the ids of its counters, as perf wants it.
fn attr(event: &StatEvent) -> rprof_abi::PerfEventAttr {
    let flags = event.attr.flags.without(AttrFlags::FREQ);
    rprof_abi::PerfEventAttr {
        flags: flags.with(AttrFlags::DISABLED),
        sample_period: 0,
        sample_type: SampleType::IDENTIFIER,
        read_format: ReadFormat::TOTAL_TIME_ENABLED.with(ReadFormat::TOTAL_TIME_RUNNING),
        ..event.attr.clone()
    }
}
