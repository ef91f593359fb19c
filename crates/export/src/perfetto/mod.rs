//! Perfetto's traces: samples with stacks, and where a recording has context switches, what threads did and who woke
//! them. Perfetto's trace processor makes its tables of them: `thread_state`, `sched_slice`, `perf_sample`.
//!
//! Packets are written while the recording is read. Samples and names of tasks come in order of time, then come threads'
//! runs and waits: readers put all in order.
//!
//! Stacks, frames and names are written once and have numbers from then on ([`stacks`]). What was numbered is forgotten
//! when it takes too much memory, and readers are told so.

mod cpus;
mod error;
mod facts;
mod messages;
mod packets;
mod pass;
mod samples;
mod stacks;
mod states;
mod tasks;
#[cfg(test)]
mod tests;

pub use error::PerfettoError;

use cpus::CpuEvents;
use packets::{Machine, PacketWriter};
use pass::TracePass;
use rprof_analysis::{
    Error, Options, Progress, Query, Recording, SampleOrder, StackEndCounts, check_filter,
    code_query, find_locations, for_each_thread_event, has_thread_events, progress_of, run_ordered,
};
use rprof_perfdata::Reader;
use rprof_profile::Profile;
use samples::SampleWriter;
use stacks::Names;
use states::ThreadStates;
use std::fmt;
use std::io::{self, Write};

/// What was written of a recording.
#[derive(Debug)]
pub struct WrittenTrace {
    /// What is to be said of the samples; it has no stacks.
    pub profile: Profile,
    /// How many samples the filter shows.
    pub n_samples: u64,
}

/// Writes recordings as one trace of Perfetto: each is a machine of its own, with its own CPUs, processes and clock.
pub struct PerfettoTrace<'a> {
    out: &'a mut dyn Write,
    machine: Machine,
    /// Whether there is more than one recording.
    are_several: bool,
}

impl fmt::Debug for PerfettoTrace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("PerfettoTrace");
        fields
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

impl<'a> PerfettoTrace<'a> {
    /// A trace of one recording, or of several.
    pub fn new(out: &'a mut dyn Write, are_several: bool) -> Self {
        Self {
            out,
            machine: Machine::default(),
            are_several,
        }
    }

    /// Adds a recording. `progress` is told how far it is.
    ///
    /// # Errors
    /// [`PerfettoError`] if the recording cannot be read at all or has no times, or the writer fails.
    pub fn add(
        &mut self,
        reader: &Reader,
        options: &Options,
        progress: &mut Progress<'_>,
    ) -> Result<WrittenTrace, PerfettoError> {
        let path = reader.path().to_string_lossy();
        let name = self.are_several.then(|| path.into_owned());
        let mut packets = PacketWriter::new(self.out, self.machine);
        let written = write_recording((reader, name), options, &mut packets, progress)?;
        self.machine = self.machine.next(reader.events().len());
        Ok(written)
    }
}

fn write_recording(
    (reader, machine_name): (&Reader, Option<String>),
    options: &Options,
    packets: &mut PacketWriter<'_>,
    progress: &mut Progress<'_>,
) -> Result<WrittenTrace, PerfettoError> {
    check_filter(reader, &options.filter)?;
    let recording = Recording::open(reader, &options.locator, SampleOrder::Time)?;
    if recording.sample_times().is_none() && recording.index.n_samples > 0 {
        return Err(PerfettoError::NoTimes);
    }
    let (query, request) = code_query(&recording, options)?;
    let n_chunks = recording.n_chunks();
    let found = find_locations(&query, |_, _| {}, &mut |done| {
        progress(progress_of(0.1, 0.3, done, n_chunks));
    })?;
    let mut symbols = query.symbolize(found.locations, request)?;
    facts::write(&recording, machine_name, packets)?;
    let pass = TracePass {
        query: &query,
        symbols: &symbols,
    };
    let names = Names::new(&recording, &symbols);
    let mut samples = SampleWriter::new(&query, names);
    let n_samples = usize::try_from(recording.index.n_samples).unwrap_or(usize::MAX);
    let (mut n_done, mut written) = (0, Ok(()));
    let result = run_ordered(&query, &pass, &mut |bytes, n| {
        n_done += n;
        progress(progress_of(0.4, 0.4, n_done, n_samples));
        written = samples.take(bytes, packets);
        written.is_ok()
    })?;
    written?;
    let mut ends = StackEndCounts::default();
    for local in result.locals {
        ends.merge(&local.ends);
    }
    let n_samples = samples.n_written();
    let lost = samples.sequences();
    symbols.warnings.extend(write_threads(&query, packets)?);
    let profile = result.samples.profile(&query, Some(symbols), ends)?;
    facts::write_losses(&query, &profile, &lost, packets)?;
    progress(1.0);
    Ok(WrittenTrace { profile, n_samples })
}

/// Writes what threads did. Returns what could not be used, one sentence each.
fn write_threads(
    query: &Query<'_>,
    packets: &mut PacketWriter<'_>,
) -> Result<Vec<String>, PerfettoError> {
    let recording = query.recording;
    if !has_thread_events(recording) {
        return Ok(Vec::new());
    }
    let mut states = ThreadStates::new(query, CpuEvents::default());
    let mut written: io::Result<()> = Ok(());
    let told = for_each_thread_event(recording, &mut |is_everybody, event| {
        if written.is_ok() {
            written = states.take(is_everybody, event, packets);
        }
    });
    let mut warnings = match told {
        Ok(warnings) => warnings,
        // Samples are of use without.
        Err(Error::NoSwitchesIn) => vec![format!(
            "the trace has no states of threads: {}",
            Error::NoSwitchesIn
        )],
        Err(error) => return Err(error.into()),
    };
    written?;
    warnings.extend(states.finish(packets)?);
    Ok(warnings)
}
