//! Recordings of machines that are not there, made of one that is.

use anyhow::{Result, ensure};
use rprof_abi::RecordKind;
use rprof_perfdata::{Reader, Step};
use std::path::Path;

use crate::repeat::{Changes, rewrite, sample_times, write_copy};

const HOUR_NS: u64 = 3_600_000_000_000;
const DAY_NS: u64 = 24 * HOUR_NS;

/// The recording that all machines are made of.
pub(crate) struct Base {
    reader: Reader,
    first_ns: u64,
    last_ns: u64,
    /// One of this many samples is a machine's.
    every: u64,
    n_samples: u64,
}

/// A machine, and the day of its recording.
pub(crate) struct Machine {
    pub(crate) number: u64,
    pub(crate) day: u64,
}

impl Base {
    /// Opens it: each machine gets about this many samples, if there are as many.
    pub(crate) fn open(recording: &Path, samples: u64) -> Result<Self> {
        let reader = Reader::open(recording)?;
        let (first_ns, last_ns) = sample_times(&reader)?.into_inner();
        let mut n_samples = 0;
        reader.walk(reader.data(), |_, raw| {
            n_samples += u64::from(raw.kind == RecordKind::SAMPLE);
            Step::On
        })?;
        ensure!(n_samples > 0 && samples > 0, "no samples");
        Ok(Self {
            reader,
            first_ns,
            last_ns,
            every: (n_samples / samples).max(1),
            n_samples,
        })
    }

    /// How many samples a machine has.
    pub(crate) fn samples(&self) -> u64 {
        self.n_samples / self.every
    }

    /// How many different recordings machines have, but for their names.
    pub(crate) fn distinct(&self) -> u64 {
        self.every
    }

    /// Writes the recording of a machine: one of [`Self::distinct`] parts of the samples, stretched to an hour.
    pub(crate) fn record(&self, machine: &Machine, to: &Path) -> Result<()> {
        let host = format!("host-{:05}", machine.number);
        let span_ns = u128::from(self.last_ns - self.first_ns).max(1);
        let stretched = |time_ns: u64| {
            let since = u128::from(time_ns.saturating_sub(self.first_ns));
            let since = since * u128::from(HOUR_NS) / span_ns;
            self.first_ns + u64::try_from(since).unwrap_or(0) + machine.day * DAY_NS
        };
        let changes = Changes {
            keeps: &|kind, n| {
                kind != RecordKind::SAMPLE || n % self.every == machine.number % self.every
            },
            time_ns: &stretched,
        };
        rewrite(&self.reader, to, Some(&host), |out| {
            write_copy(&self.reader, &changes, out)
        })
    }
}
