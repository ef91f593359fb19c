//! What the table `recordings` says: events and their units, losses, the machine.

use super::columns::{Batch, Kind, TableFile, Wanted};
use super::files::{Files, FoundFile};
use super::key::RecordingKey;
use crate::Error;
use crate::recording::{Counts, ImportedEvent, Sampled};
use rprof_abi::{Encoder, Endian};
use rprof_perfdata::FeatureId;
use rprof_perfdata::feature::{ClockData, encode_nr_cpus, encode_string, encode_strings};
use rprof_untrusted::Budget;
use std::collections::BTreeMap;

/// Events of a recording at most.
const MOST_EVENTS: usize = 1024;

/// Samples that were lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) samples: u64,
    pub(super) at_least: bool,
}

/// A recording, as its rows say.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) events: Vec<(ImportedEvent, Option<Lost>)>,
    /// Whether times are those of the day.
    pub(super) has_wall_times: bool,
    n_cpus: Option<u32>,
    /// In the order of [`TEXTS`].
    texts: [Option<Vec<u8>>; TEXTS.len()],
}

const fn wanted(name: &'static str, kind: Kind) -> Wanted {
    Wanted {
        name,
        kind,
        is_required: false,
    }
}

const COLUMNS: [Wanted; 15] = [
    Wanted {
        name: "recording",
        kind: Kind::Text,
        is_required: true,
    },
    wanted("machine", Kind::Text),
    wanted("event", Kind::Text),
    wanted("unit", Kind::Text),
    wanted("rate_hz", Kind::Number),
    wanted("every", Kind::Number),
    wanted("lost", Kind::Number),
    wanted("lost_at_least", Kind::Number),
    wanted("wall_offset_ns", Kind::Number),
    wanted("n_cpus", Kind::Number),
    wanted("kernel", Kind::Text),
    wanted("arch", Kind::Text),
    wanted("cpu_model", Kind::Text),
    wanted("recorder", Kind::Text),
    wanted("command", Kind::Text),
];

/// The first column with a text of a feature section, and the sections.
const FIRST_TEXT: usize = 10;
const TEXTS: [FeatureId; 5] = [
    FeatureId::OSRELEASE,
    FeatureId::ARCH,
    FeatureId::CPUDESC,
    FeatureId::VERSION,
    FeatureId::CMDLINE,
];

/// Reads the table.
pub(super) fn facts_of(
    files: &Files,
    budget: &Budget,
) -> Result<BTreeMap<RecordingKey, Facts>, Error> {
    let mut all = BTreeMap::new();
    let mut held = budget.hold_nothing();
    for file in files.of("recordings") {
        let table = TableFile::open(file, &COLUMNS)?;
        table.for_each_batch(budget, |batch| {
            for row in 0..batch.n_rows {
                let text = |column| batch.text(column, row).unwrap_or_default();
                let bytes: usize = (0..COLUMNS.len()).map(|at| text(at).len()).sum();
                let grown = held.grow(bytes as u64 + ROW_BYTES);
                grown.map_err(|_| Error::memory(&file.path, budget))?;
                let facts: &mut Facts = all.entry(key(file, batch, row)).or_default();
                if facts.events.len() >= MOST_EVENTS {
                    return Err(Error::table(&file.path, "a recording with too many events"));
                }
                facts.add(batch, row);
            }
            Ok(())
        })?;
    }
    Ok(all)
}

/// What a row takes beside its texts.
const ROW_BYTES: u64 = 400;

/// Machine and recording of a row of `recordings`.
fn key(file: &FoundFile, batch: &Batch, row: usize) -> RecordingKey {
    let machine = if batch.has(1) {
        batch.text(1, row).map(<[u8]>::to_vec)
    } else {
        file.partition("machine")
    };
    RecordingKey {
        recording: batch.text(0, row).unwrap_or_default().to_vec(),
        machine,
    }
}

impl Facts {
    /// Of a recording that is in no table: times are those of the day, if there are any.
    pub(super) fn unlisted(has_times: bool) -> Self {
        Self {
            has_wall_times: has_times,
            ..Self::default()
        }
    }

    fn add(&mut self, batch: &Batch, row: usize) {
        let number = |column| {
            let number = batch.number(column, row);
            number.and_then(|number| u64::try_from(number).ok())
        };
        let name = batch.text(2, row).unwrap_or_default();
        let counts = match batch.text(3, row) {
            Some(b"nanoseconds") => Counts::CpuTime,
            Some(b"cycles") => Counts::Cycles,
            _ => Counts::Other,
        };
        let sampled = match (number(4), number(5)) {
            (Some(rate), _) if rate > 0 => Sampled::PerSecond(rate),
            (_, Some(period)) if period > 0 => Sampled::Every(period),
            _ => Sampled::Every(1),
        };
        let lost = number(6).filter(|&samples| samples > 0);
        let event = ImportedEvent {
            name: String::from_utf8_lossy(name).into_owned(),
            counts,
            sampled,
        };
        let lost = lost.map(|samples| Lost {
            samples,
            at_least: number(7) == Some(1),
        });
        self.events.push((event, lost));
        self.has_wall_times = batch.number(8, row).is_some();
        self.n_cpus = number(9).and_then(|n| u32::try_from(n).ok());
        for (at, text) in (FIRST_TEXT..).zip(&mut self.texts) {
            *text = batch.text(at, row).map(<[u8]>::to_vec);
        }
    }

    /// What the recording's file says of the machine, as sections.
    pub(super) fn sections(&self, machine: Option<&[u8]>) -> Vec<(FeatureId, Vec<u8>)> {
        let mut sections = Vec::new();
        let mut add = |id: FeatureId, encode: &dyn Fn(&mut Encoder<'_>)| {
            let mut bytes = Vec::new();
            encode(&mut Encoder::new(&mut bytes, Endian::NATIVE));
            sections.push((id, bytes));
        };
        if let Some(machine) = machine {
            add(FeatureId::HOSTNAME, &|encoder| {
                encode_string(machine, encoder)
            });
        }
        for (id, text) in TEXTS.into_iter().zip(&self.texts) {
            match text {
                Some(text) if id == FeatureId::CMDLINE => {
                    add(id, &|encoder| {
                        encode_strings([&text[..]].into_iter(), encoder)
                    });
                }
                Some(text) => add(id, &|encoder| encode_string(text, encoder)),
                None => {}
            }
        }
        if let Some(n) = self.n_cpus {
            add(FeatureId::NRCPUS, &|encoder| encode_nr_cpus(n, n, encoder));
        }
        if self.has_wall_times {
            let clock = ClockData {
                clockid: 0,
                wall_ns: 0,
                clock_ns: 0,
            };
            add(FeatureId::CLOCK_DATA, &|encoder| clock.encode(encoder));
        }
        sections
    }
}
