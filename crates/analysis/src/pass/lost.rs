//! When records were lost of which it matters that they are missing: switches and wake-ups.

use crate::Error;
use crate::index::has_sideband_rings;
use crate::recording::Recording;
use crate::samples::DecodedSample;
use foldhash::HashMap;
use rprof_abi::record::Record;
use rprof_abi::{Misc, RawRecord, RecordKind};
use rprof_perfdata::Step;
use rprof_scheduling::LostTimes;
use std::ops::RangeInclusive;

/// The ring that a record was in, as far as it says: whether it is one without samples, and the CPU; the thread, if it
/// has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ring {
    is_sideband: bool,
    cpu: Option<u32>,
    tid: i32,
}

impl Ring {
    fn of(is_sideband: bool, cpu: Option<u32>, tid: i32) -> Self {
        Self {
            is_sideband,
            cpu,
            tid: if cpu.is_some() { 0 } else { tid },
        }
    }
}

/// What is known of a ring so far.
#[derive(Debug, Default)]
struct Records {
    /// The time of the last one.
    last_ns: u64,
    lost: Vec<RangeInclusive<u64>>,
}

/// Records that are missing, as the kernel counts them in two ways.
#[derive(Clone, Copy, Debug, Default)]
struct Missing {
    /// Where it could say so, between others.
    n_placed: u64,
    /// In all.
    n_lost: u64,
}

/// Rings so far. Records of each come in order.
#[derive(Debug, Default)]
struct Rings {
    all: HashMap<Ring, Records>,
    /// Whether sideband has rings of its own; else it is in those of samples.
    has_sideband: bool,
    /// Of rings with samples, and of those without: what one of them has lost says nothing of the other.
    samples: Missing,
    sideband: Missing,
}

/// When records of a recording were lost.
pub(in crate::pass) fn lost_times(recording: &Recording<'_>) -> Result<LostTimes, Error> {
    let kinds = &recording.index.other_kinds;
    let tells = [RecordKind::LOST, RecordKind::LOST_SAMPLES];
    if !tells.iter().any(|kind| kinds.contains_key(kind)) {
        return Ok(LostTimes::default());
    }
    let reader = recording.reader;
    let mut rings = Rings {
        has_sideband: has_sideband_rings(reader),
        ..Rings::default()
    };
    reader.walk(reader.data(), |offset, raw| {
        // A damaged one says nothing.
        let _ = rings.take(recording, offset, raw);
        Step::On
    })?;
    Ok(rings.finish())
}

impl Rings {
    fn take(&mut self, recording: &Recording<'_>, offset: u64, raw: RawRecord<'_>) -> Option<()> {
        let is_loss = match raw.kind {
            RecordKind::SAMPLE => {
                let sample = DecodedSample::of(recording, offset, raw)?;
                let ring = Ring::of(false, sample.head.cpu, sample.tid);
                self.see(ring, sample.head.time_ns?);
                return Some(());
            }
            RecordKind::LOST | RecordKind::LOST_SAMPLES => true,
            RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE => false,
            _ => return Some(()),
        };
        let reader = recording.reader;
        let recorded = reader.events().get(reader.event_of(raw)?)?;
        let (record, id) = Record::parse(raw, &recorded.layout).ok()?;
        let is_sideband = self.has_sideband && recorded.is_dummy();
        let ring = Ring::of(is_sideband, id.cpu, id.tid.unwrap_or(-1));
        let missing = if is_sideband {
            &mut self.sideband
        } else {
            &mut self.samples
        };
        match record {
            Record::Lost(lost) => {
                missing.n_placed = missing.n_placed.saturating_add(lost.lost);
                self.lose(ring, id.time_ns?);
            }
            Record::LostSamples(lost) if !raw.misc.has(Misc::LOST_SAMPLES_BPF) => {
                missing.n_lost = missing.n_lost.saturating_add(lost.lost);
            }
            _ if is_loss => {}
            _ => self.see(ring, id.time_ns?),
        }
        Some(())
    }

    fn see(&mut self, ring: Ring, time_ns: u64) {
        let records = self.all.entry(ring).or_default();
        records.last_ns = records.last_ns.max(time_ns);
    }

    /// Records were lost after the last one, up to a moment.
    fn lose(&mut self, ring: Ring, time_ns: u64) {
        let records = self.all.entry(ring).or_default();
        let lost = records.last_ns.min(time_ns)..=time_ns;
        match records.lost.last_mut() {
            // As many as a file has of them may follow each other.
            Some(last) if lost.start() <= last.end() => {
                *last = *last.start()..=time_ns.max(*last.end());
            }
            _ => records.lost.push(lost),
        }
    }

    /// The kernel says that records are lost when it writes the next one. What it never could say was lost at the end,
    /// of whichever ring of its kind.
    fn finish(mut self) -> LostTimes {
        for (is_sideband, missing) in [(false, self.samples), (true, self.sideband)] {
            if missing.n_lost > missing.n_placed {
                let all = self.all.iter_mut();
                let rings = all.filter(|(ring, _)| ring.is_sideband == is_sideband);
                rings.for_each(|(_, records)| records.lost.push(records.last_ns..=u64::MAX));
            }
        }
        let rings = self.all.into_iter();
        LostTimes::new(rings.map(|(ring, records)| (ring.cpu, records.lost)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: [Ring; 2] = [
        Ring {
            is_sideband: false,
            cpu: Some(0),
            tid: 0,
        },
        Ring {
            is_sideband: false,
            cpu: Some(1),
            tid: 0,
        },
    ];

    fn rings() -> Rings {
        let mut rings = Rings::default();
        for (cpu, time_ns) in [(0, 10), (1, 15), (0, 20)] {
            rings.see(ON[cpu], time_ns);
        }
        rings.lose(ON[0], 30);
        rings.see(ON[0], 31);
        rings.see(ON[1], 40);
        rings
    }

    #[test]
    fn records_are_lost_between_those_of_their_ring() {
        let lost = rings().finish();
        assert_eq!(lost.first(0, 100), Some(20));
        assert_eq!(lost.first_on(Some(0), 25, 100), Some(25));
        assert_eq!(lost.first_on(Some(0), 30, 100), None);
        assert_eq!(lost.first_on(Some(1), 0, 100), None);
    }

    #[test]
    fn what_the_kernel_could_not_place_was_lost_at_the_end() {
        let lost = |samples: (u64, u64), sideband: (u64, u64)| {
            let mut rings = rings();
            let missing = |(n_placed, n_lost)| Missing { n_placed, n_lost };
            (rings.samples, rings.sideband) = (missing(samples), missing(sideband));
            let quiet = Ring {
                is_sideband: true,
                ..ON[1]
            };
            rings.see(quiet, 60);
            let lost = rings.finish();
            [(0, 31), (1, 39), (1, 55)].map(|(cpu, from)| lost.first_on(Some(cpu), from, 100))
        };
        assert_eq!(lost((3, 3), (0, 0)), [None; 3]);
        assert_eq!(lost((3, 4), (0, 0)), [Some(31), Some(40), Some(55)]);
        // What rings without samples have lost is theirs: it neither hides losses of samples, nor is it one.
        assert_eq!(lost((3, 4), (9, 9)), [Some(31), Some(40), Some(55)]);
        assert_eq!(lost((3, 3), (9, 9)), [None; 3]);
        assert_eq!(lost((3, 3), (0, 2)), [None, Some(60), Some(60)]);
    }
}
