//! What a recording says of the scheduler, in order of time.

use super::account::leaves_out_cpus;
use super::lost::lost_times;
use super::ordered::{Item, WantedRecords, for_each_batch};
use super::query::Query;
use super::sched_decoder::{KnownStates, SchedDecoder, SchedEvent};
use crate::Error;
use crate::pauses::pauses_of;
use crate::samples::{DecodedSample, IgnoredSamples};
use rprof_scheduling::LostTimes;
use std::ops::RangeInclusive;

/// The scheduler's events of a recording.
#[derive(Debug)]
pub struct SchedEvents<'q, 'a> {
    query: &'q Query<'a>,
    decoder: SchedDecoder<'a>,
}

impl<'q, 'a> SchedEvents<'q, 'a> {
    /// Finds the events.
    ///
    /// # Errors
    /// [`Error::NoSwitches`] if the recording has no `sched_switch`, or no times or CPUs.
    pub fn new(query: &'q Query<'a>) -> Result<Self, Error> {
        let decoder = SchedDecoder::new(query.recording.reader);
        if !query.recording.index.has_times || !decoder.has_switches() {
            return Err(Error::NoSwitches);
        }
        Ok(Self { query, decoder })
    }

    /// Whether the recording has [`SchedEvent::RunTime`].
    pub fn have_run_times(&self) -> bool {
        self.decoder.has_run_times()
    }

    /// When the recording was paused, nanoseconds: in order, apart from each other. What happened then may be recorded in
    /// part.
    pub fn pauses(&self) -> Vec<RangeInclusive<u64>> {
        let reader = self.query.recording.reader;
        pauses_of(reader, |event| self.decoder.is_of_scheduler(event))
    }

    /// When records were lost: what threads did then is not known.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read.
    pub fn lost_times(&self) -> Result<LostTimes, Error> {
        lost_times(self.query.recording)
    }

    /// Whether nothing was recorded of some CPUs: a thread that is on none may be on one of those.
    pub fn miss_cpus(&self) -> bool {
        leaves_out_cpus(self.query.recording.reader)
    }

    /// Calls `visit` for each event, in order of time; stops when it returns false. A damaged one is left out, and
    /// counted.
    ///
    /// # Errors
    /// [`Error`] if the recording cannot be read.
    pub fn for_each(
        &self,
        mut visit: impl FnMut(&DecodedSample<'_>, SchedEvent) -> bool,
    ) -> Result<IgnoredSamples, Error> {
        let records = WantedRecords {
            kinds: None,
            in_file_order: false,
        };
        let mut n_bad = 0;
        let mut states = KnownStates::default();
        let mut ignored = for_each_batch(self.query, records, |batch| {
            for item in batch.items(self.query, 0..batch.entries.len()) {
                let Item::Sample(decoded) = item else {
                    continue;
                };
                if !self.decoder.is_of_scheduler(decoded.event) {
                    continue;
                }
                match self.decoder.decode(&decoded, &mut states) {
                    Some(event) if !visit(&decoded, event) => return false,
                    Some(_) => {}
                    None => n_bad += 1,
                }
            }
            true
        })?;
        ignored.n_bad += n_bad;
        Ok(ignored)
    }
}
