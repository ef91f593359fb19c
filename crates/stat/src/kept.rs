//! Counts of a file, ours or perf's, shown again.

use crate::counts_file::{
    ROUND_INTERVAL, TAG_AGGREGATION, TAG_INTERVAL, TAG_SCALE, aggregation_of,
};
use crate::derived::Counted;
use crate::opening::{Cell, EventState, StatEvent};
use crate::output::{Footer, Printer, Span};
use crate::rows::AddedUp;
use crate::runs::Runs;
use crate::targets::Thread;
use crate::topology::Topology;
use crate::{Aggregation, Error, Style};
use rprof_perfdata::feature::decode_strings;
use rprof_perfdata::file_record::{CpuMap, EventUpdate, Stat, Update};
use rprof_perfdata::{FeatureId, FileRecord, Reader, Step, file_kind};
use rprof_ringbuf::count::Reading;
use rprof_untrusted::Untrusted;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

/// How kept counts are shown.
#[derive(Clone, Debug)]
pub struct KeptSettings {
    /// What is added up, if not as it was recorded.
    pub aggregation: Option<Aggregation>,
    /// How it is written.
    pub style: Style,
}

/// Shows the counts of a recording; returns what is wrong with the file.
///
/// # Errors
/// There are no counts in it, or they cannot be written.
pub fn show_kept(
    reader: &Reader,
    settings: &KeptSettings,
    out: &mut dyn Write,
) -> Result<Vec<String>, Error> {
    let mut kept = Kept::new(reader);
    let mut problem = None;
    let walked = reader.walk(reader.data(), |_, raw| {
        if raw.kind < file_kind::HEADER_ATTR {
            return Step::On;
        }
        let Ok(record) = FileRecord::parse(raw, reader.endian()) else {
            kept.n_bad += 1;
            return Step::On;
        };
        match kept.take(record, settings, out) {
            Ok(()) => Step::On,
            Err(error) => {
                problem = Some(error);
                Step::Stop
            }
        }
    });
    if let Some(error) = problem {
        return Err(error);
    }
    kept.finish(settings, out)?;
    let walked = walked.map_err(Error::File)?;
    let warnings = reader.warnings().iter().chain(&walked);
    let mut warnings: Vec<String> = warnings.map(ToString::to_string).collect();
    if kept.n_bad > 0 {
        warnings.push(format!("{} records could not be read", kept.n_bad));
    }
    Ok(warnings)
}

/// Values of one event, by CPU and thread.
type Values = BTreeMap<(i32, u32), Reading>;

/// What was read so far.
struct Kept<'r> {
    reader: &'r Reader,
    events: Vec<StatEvent>,
    threads: Vec<Thread>,
    cpus: Vec<u32>,
    aggregation: Option<u64>,
    interval: u64,
    scale: bool,
    /// Since the last interval, so that each value is looked at once.
    now: Vec<Values>,
    /// The latest before.
    before: Vec<Values>,
    n_rounds: u64,
    ended: Duration,
    printer_heads: u32,
    n_bad: u64,
    held: rprof_untrusted::Held,
}

/// Bytes that one value takes.
const VALUE_BYTES: u64 = 160;

impl<'r> Kept<'r> {
    fn new(reader: &'r Reader) -> Self {
        let events = reader.events().iter();
        let events: Vec<StatEvent> = events
            .map(|event| StatEvent::new(event.name.raw(), &event.attr))
            .collect();
        Self {
            now: vec![Values::new(); events.len()],
            before: vec![Values::new(); events.len()],
            held: reader.budget().hold_nothing(),
            reader,
            events,
            threads: Vec::new(),
            cpus: Vec::new(),
            aggregation: None,
            interval: 0,
            scale: true,
            n_rounds: 0,
            ended: Duration::ZERO,
            printer_heads: 0,
            n_bad: 0,
        }
    }

    fn take(
        &mut self,
        record: FileRecord<'_>,
        settings: &KeptSettings,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        match record {
            FileRecord::EventUpdate(update) => self.update(&update),
            FileRecord::ThreadMap(threads) => {
                let thread = |thread: &rprof_perfdata::file_record::ThreadMapEntry<'_>| Thread {
                    tid: i32::try_from(thread.tid).unwrap_or(-1),
                    comm: thread.comm.to_vec(),
                };
                self.threads = threads.iter().map(thread).collect();
            }
            FileRecord::CpuMap(CpuMap::Cpus(cpus)) => {
                let cpus = cpus.into_iter();
                self.cpus = cpus.filter_map(|cpu| u32::try_from(cpu).ok()).collect();
            }
            FileRecord::StatConfig(terms) => {
                for term in terms {
                    match term.tag {
                        TAG_AGGREGATION => self.aggregation = Some(term.value),
                        TAG_INTERVAL => self.interval = term.value,
                        TAG_SCALE => self.scale = term.value != 0,
                        _ => {}
                    }
                }
            }
            FileRecord::Stat(stat) => self.value(&stat)?,
            FileRecord::StatRound(round) => {
                self.n_rounds += 1;
                let at = Duration::from_nanos(round.time_ns);
                if self.interval > 0 && round.kind == ROUND_INTERVAL {
                    self.interval(at, settings, out)?;
                }
                self.ended = at;
            }
            _ => {}
        }
        Ok(())
    }

    fn update(&mut self, update: &EventUpdate<'_>) {
        let event = self.reader.event_of_id(update.id);
        let Some(event) = event.and_then(|event| self.events.get_mut(event)) else {
            return;
        };
        match &update.update {
            Update::Unit(unit) => event.unit.name = Untrusted::of_bytes(unit).to_string(),
            Update::Scale(scale) if scale.is_finite() && *scale > 0.0 => event.unit.scale = *scale,
            Update::Name(name) => event.name = Untrusted::of_bytes(name).to_string(),
            _ => {}
        }
    }

    fn value(&mut self, stat: &Stat) -> Result<(), Error> {
        let event = self.reader.event_of_id(stat.id);
        let Some(values) = event.and_then(|event| self.now.get_mut(event)) else {
            self.n_bad += 1;
            return Ok(());
        };
        let key = (stat.cpu, stat.thread);
        let before = event.and_then(|event| self.before.get(event));
        let is_known = before.is_some_and(|before| before.contains_key(&key));
        let reading = Reading {
            count: stat.value,
            enabled_ns: stat.enabled_ns,
            running_ns: stat.running_ns,
        };
        if values.insert(key, reading).is_none() && !is_known {
            self.held.grow(2 * VALUE_BYTES).map_err(Error::TooMuch)?;
        }
        Ok(())
    }

    fn aggregation(&self, settings: &KeptSettings) -> Result<Aggregation, Error> {
        let asked = settings.aggregation;
        let kept = self.aggregation.and_then(aggregation_of);
        let aggregation = asked.or(kept).unwrap_or(Aggregation::Global);
        match aggregation {
            Aggregation::Global | Aggregation::Cpu | Aggregation::Thread => Ok(aggregation),
            _ => Err(Error::NoTopology),
        }
    }

    fn printer<'s>(
        &self,
        settings: &'s KeptSettings,
        is_interval: bool,
    ) -> Result<Printer<'s>, Error> {
        Ok(Printer {
            style: &settings.style,
            aggregation: self.aggregation(settings)?,
            // Intervals have none, and there may be very many of them.
            title: if is_interval {
                String::new()
            } else {
                self.title()
            },
            is_interval,
            is_repeated: false,
            n_headed: self.printer_heads,
        })
    }

    fn title(&self) -> String {
        let command = self.reader.feature(FeatureId::CMDLINE).ok().flatten();
        let command = command.unwrap_or_default();
        let words = decode_strings(&command, self.reader.endian()).unwrap_or_default();
        let words: Vec<String> = words
            .into_iter()
            .map(|word| Untrusted::of_bytes(word).to_string())
            .collect();
        format!("'{}'", words.join(" "))
    }

    fn cells(&self, values: &[Values], before: Option<&[Values]>) -> Vec<Vec<Cell>> {
        let of_event = |(nth, values): (usize, &Values)| {
            let before = before.and_then(|before| before.get(nth));
            let cell = |(&(cpu, thread), reading): (&(i32, u32), &Reading)| {
                let earlier = before.and_then(|before| before.get(&(cpu, thread)));
                Cell {
                    cpu: u32::try_from(cpu).ok(),
                    thread: thread as usize,
                    reading: reading.since(&earlier.copied().unwrap_or_default()),
                }
            };
            values.iter().map(cell).collect()
        };
        values.iter().enumerate().map(of_event).collect()
    }

    fn interval(
        &mut self,
        at: Duration,
        settings: &KeptSettings,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let cells = self.cells(&self.now, Some(&self.before));
        let mut printer = self.printer(settings, true)?;
        let wall = at.saturating_sub(self.ended);
        self.show(&mut printer, &cells, wall, Some(at), out)?;
        self.printer_heads = printer.n_headed;
        for (before, now) in self.before.iter_mut().zip(&mut self.now) {
            before.extend(std::mem::take(now));
        }
        Ok(())
    }

    fn finish(&mut self, settings: &KeptSettings, out: &mut dyn Write) -> Result<(), Error> {
        if self.n_rounds == 0 {
            return Err(Error::NoCounts);
        }
        if self.interval > 0 {
            return Ok(());
        }
        let cells = self.cells(&self.now, None);
        let mut printer = self.printer(settings, false)?;
        self.show(&mut printer, &cells, self.ended, None, out)?;
        let mut runs = Runs::default();
        runs.add(
            &vec![Vec::new(); self.events.len()],
            self.ended.as_secs_f64(),
        );
        let written = Footer::default().write(&printer, &runs, out);
        written.map_err(Error::Write)
    }

    fn show(
        &self,
        printer: &mut Printer<'_>,
        cells: &[Vec<Cell>],
        wall: Duration,
        at: Option<Duration>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let topology = Topology::default();
        let added_up = AddedUp {
            aggregation: printer.aggregation,
            topology: &topology,
            scale: self.scale,
        };
        let rows: Vec<_> = cells.iter().map(|cells| added_up.rows(cells)).collect();
        let mut events = self.events.clone();
        for (event, cells) in events.iter_mut().zip(cells) {
            if cells.is_empty() {
                event.state = EventState::NotSupported;
            }
        }
        let span = Span {
            counted: Counted {
                events: &events,
                rows: &rows,
                metrics: &[],
                wall_ns: 1e9 * wall.as_secs_f64(),
            },
            threads: &self.threads,
            at,
        };
        printer.span(&span, out).map_err(Error::Write)
    }
}
