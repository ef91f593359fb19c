//! A count from start to end.

use crate::control::{Refused, Word, words};
use crate::counts_file::{CountsFile, CountsWriter};
use crate::derived::Counted;
use crate::opening::{Cell, Counters, EventState, How, Wanted};
use crate::output::{Footer, Printer, Span};
use crate::rows::{AddedUp, Row, since};
use crate::runs::Runs;
use crate::schedule::{Due, Schedule};
use crate::targets::{Targets, is_of_cpus, online};
use crate::topology::Topology;
use crate::unit::Unit;
use crate::{Error, MetricOfEvents, StatSettings, WhoseEvents};
use rprof_events::Sources;
use rprof_process::{Child, Gated, ResourceUsage, Stdout};
use rprof_ringbuf::Poller;
use rprof_ringbuf::count::KernelDoor;
use rprof_ringbuf::sys::{Signal, Signals};
use rprof_targets::{CgroupFolder, ControlLines};
use std::io::Write;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// How it ended.
#[derive(Debug)]
pub struct StatEnd {
    /// Child processes that ran already, and were not counted.
    pub uncounted_children: usize,
    /// The command's, of its last run.
    pub status: Option<ExitStatus>,
    /// Events that this machine has, and that never got a counter: too many of them, or a group that is too
    /// large.
    pub never_counted: Vec<String>,
    /// Events of the kernel that this user may not count.
    pub not_permitted: Vec<String>,
    /// Words on the pipe that were not obeyed, with the reason.
    pub refused: Vec<String>,
}

/// Counts, and writes what was counted; into a file, too, if there is one: of a single run.
///
/// # Errors
/// [`Error`].
pub fn stat(
    settings: &StatSettings,
    file: Option<CountsFile>,
    out: &mut dyn Write,
) -> Result<StatEnd, Error> {
    let uncounted_children = match (&settings.watch, settings.children) {
        (WhoseEvents::Processes(pids), false) => rprof_process::started_by(pids).len(),
        _ => 0,
    };
    let mut whole = Whole::new(settings, out)?;
    whole.file = file;
    let signals = Signals::block().map_err(Error::system("blocking signals"))?;
    let mut status = None;
    let mut n_done = 0;
    while settings.repeat == 0 || n_done < settings.repeat {
        let run = whole.run(&signals)?;
        n_done += 1;
        status = run.status;
        whole.last = Some(run.counted);
        whole.cpu_time = run.cpu_time;
        if run.is_stopped {
            break;
        }
    }
    whole.finish()?;
    Ok(StatEnd {
        status,
        uncounted_children,
        never_counted: whole.never_counted(),
        not_permitted: whole.not_permitted(),
        refused: whole.refused.in_words(),
    })
}

/// What several runs share.
struct Whole<'w> {
    settings: &'w StatSettings,
    out: &'w mut dyn Write,
    printer: Printer<'w>,
    online: Vec<u32>,
    topology: Topology,
    counted: Vec<(usize, Option<CgroupFolder>)>,
    /// Of each control group.
    metrics: Vec<MetricOfEvents>,
    /// To be begun, and begun.
    file: Option<CountsFile>,
    control: Option<ControlLines>,
    refused: Refused,
    writer: Option<CountsWriter>,
    runs: Runs,
    last: Option<LastCounters>,
    cpu_time: Option<ResourceUsage>,
}

/// Counters of a run that is over, and whose they were.
struct LastCounters {
    events: Vec<crate::opening::StatEvent>,
    targets: Targets,
}

/// One run that is over.
struct RunEnd {
    counted: LastCounters,
    status: Option<ExitStatus>,
    cpu_time: Option<ResourceUsage>,
    /// Somebody wants an end.
    is_stopped: bool,
}

/// A run that goes on.
struct Running<'r> {
    counters: &'r Counters<KernelDoor>,
    targets: &'r Targets,
    child: Option<Child>,
    start: Instant,
    /// At the end of the last interval.
    before: (Duration, Vec<Vec<Cell>>),
    is_stopped: bool,
}

/// How often it is looked whether watched tasks still run.
const ALIVE_EVERY: Duration = Duration::from_millis(100);

impl<'w> Whole<'w> {
    fn new(settings: &'w StatSettings, out: &'w mut dyn Write) -> Result<Self, Error> {
        let wanted = settings.cpus.as_deref();
        let online = online(wanted, is_of_cpus(settings), &sources(settings))?;
        let counted = settings.cgroups.events(settings.events.len())?;
        Ok(Self {
            settings,
            out,
            printer: Printer {
                style: &settings.style,
                aggregation: settings.aggregation,
                title: settings.title(),
                is_interval: settings.interval.is_some(),
                is_repeated: settings.repeat != 1,
                n_headed: 0,
            },
            topology: Topology::read(&settings.sysfs, &online),
            online,
            metrics: of_each_group(settings, counted.len()),
            counted,
            file: None,
            control: settings
                .control
                .as_ref()
                .map(ControlLines::open)
                .transpose()?,
            refused: Refused::default(),
            writer: None,
            runs: Runs::new(settings.style.table),
            last: None,
            cpu_time: None,
        })
    }

    /// Runs the command once, or counts until somebody stops it.
    fn run(&mut self, signals: &Signals) -> Result<RunEnd, Error> {
        let settings = self.settings;
        let gated = if settings.command.is_empty() {
            None
        } else {
            Some(Gated::spawn(&settings.command, Stdout::Inherited)?)
        };
        let child = gated.as_ref().map(Gated::pid);
        let targets = Targets::of(settings, child, &self.online)?;
        let is_at_once = settings.delay.is_none() && !settings.starts_off;
        let on_exec = settings.watch == WhoseEvents::Command && is_at_once;
        let wanted = Wanted {
            events: &settings.events,
            counted: &self.counted,
        };
        let how = How {
            inherit: settings.inherit,
            enable_on_exec: on_exec,
        };
        let sources = sources(settings);
        let unit = |event: &_| Unit::of(event, &sources);
        let counters = Counters::open(&KernelDoor, &wanted, &targets, how, unit)?;
        counters.set_filters()?;
        if let Some(file) = self.file.take() {
            let ids = counters.ids().map_err(Error::system("asking for ids"))?;
            let begun = CountsWriter::begin(file, settings, &counters.events, ids, &targets)?;
            self.writer = Some(begun);
        }
        let before = counters.read().map_err(Error::system("reading counters"))?;
        if !on_exec && is_at_once {
            switch(&counters, true)?;
        }
        let start = Instant::now();
        let mut running = Running {
            child: gated.map(Gated::started).transpose()?,
            counters: &counters,
            targets: &targets,
            start,
            before: (Duration::ZERO, before),
            is_stopped: false,
        };
        let by_count = self.wait(&mut running, signals)?;
        let wall = start.elapsed();
        if !on_exec {
            switch(&counters, false)?;
        }
        let cells = counters.read().map_err(Error::system("reading counters"))?;
        if settings.interval.is_some() && !by_count {
            self.interval(&mut running, wall, cells.clone())?;
        }
        if let Some(mut writer) = self.writer.take() {
            if settings.interval.is_none() {
                writer.round(&cells, wall, true)?;
            }
            writer.finish()?;
        }
        let rows = self.rows(&cells);
        self.runs.add(&rows, wall.as_secs_f64());
        let (mut child, is_stopped) = (running.child, running.is_stopped);
        Ok(RunEnd {
            status: child.as_mut().and_then(|child| child.try_wait().ok()?),
            cpu_time: child.as_ref().and_then(Child::cpu_time),
            counted: LastCounters {
                events: counters.events,
                targets,
            },
            is_stopped,
        })
    }

    /// Until it ends; returns whether that was by the number of intervals.
    fn wait(&mut self, running: &mut Running<'_>, signals: &Signals) -> Result<bool, Error> {
        let settings = self.settings;
        let mut schedule = Schedule::new(
            settings.delay,
            settings.interval,
            settings.interval_count,
            settings.timeout,
        );
        let mut poller = Poller::default();
        poller.add(signals);
        if let Some(control) = &self.control {
            poller.add(control);
        }
        let mut n_intervals = 0;
        loop {
            let now = running.start.elapsed();
            while let Some(due) = schedule.due(now) {
                match due {
                    Due::Begin => switch(running.counters, true)?,
                    Due::Interval => {
                        n_intervals += 1;
                        let cells = running.counters.read();
                        let cells = cells.map_err(Error::system("reading counters"))?;
                        self.interval(running, now, cells)?;
                    }
                    Due::End => match &running.child {
                        Some(child) => child.terminate(),
                        None => return Ok(settings.interval_count == Some(n_intervals)),
                    },
                }
            }
            if running.has_ended()? {
                let is_by_count = settings.interval_count == Some(n_intervals);
                return Ok(is_by_count && settings.interval.is_some());
            }
            let next = schedule.next().map(|next| next.saturating_sub(now));
            let wait = match running.child {
                Some(_) => next.unwrap_or(Duration::from_secs(3600)),
                None => next.map_or(ALIVE_EVERY, |next| next.min(ALIVE_EVERY)),
            };
            // Not before it is due: time-outs are whole milliseconds.
            let wait = Duration::from_millis(
                wait.as_nanos()
                    .div_ceil(1_000_000)
                    .try_into()
                    .unwrap_or(1000),
            );
            let waited = poller.wait(wait).map(Iterator::count);
            waited.map_err(Error::system("waiting"))?;
            while let Some(signal) = signals.next() {
                running.hear(signal);
            }
            self.obey(running)?;
            if running.is_stopped && running.child.is_none() {
                return Ok(false);
            }
        }
    }

    /// Does what the pipe says.
    fn obey(&mut self, running: &mut Running<'_>) -> Result<(), Error> {
        let Some(control) = &mut self.control else {
            return Ok(());
        };
        for word in words(control) {
            let switched = match &word {
                Word::Enable(is_on, None) => running.counters.enable(*is_on).map(|()| true),
                Word::Enable(is_on, Some(event)) => running.counters.enable_of(event, *is_on),
                Word::Ping => Ok(true),
                Word::Stop => {
                    running.stop();
                    Ok(true)
                }
                Word::Unknown(_) => Ok(false),
            };
            if switched.map_err(Error::system("switching counters"))? {
                control.acknowledge()
            } else {
                self.refused.add(&word)
            }
        }
        Ok(())
    }

    /// Writes what came since the last interval.
    fn interval(
        &mut self,
        running: &mut Running<'_>,
        now: Duration,
        cells: Vec<Vec<Cell>>,
    ) -> Result<(), Error> {
        let (then, before) = &running.before;
        let rows = self.rows(&since(&cells, before));
        let span = Span {
            counted: Counted {
                events: &running.counters.events,
                rows: &rows,
                metrics: &self.metrics,
                wall_ns: 1e9 * now.saturating_sub(*then).as_secs_f64(),
            },
            threads: &running.targets.threads,
            at: Some(now),
        };
        let written = self.printer.span(&span, self.out);
        (written.and_then(|()| self.out.flush())).map_err(Error::Write)?;
        if let Some(writer) = &mut self.writer {
            writer.round(&cells, now, false)?;
        }
        running.before = (now, cells);
        Ok(())
    }

    fn rows(&self, cells: &[Vec<Cell>]) -> Vec<Vec<Row>> {
        let added_up = AddedUp {
            aggregation: self.settings.aggregation,
            topology: &self.topology,
            scale: self.settings.scale,
        };
        cells.iter().map(|cells| added_up.rows(cells)).collect()
    }

    /// Writes the counts of all runs.
    fn finish(&mut self) -> Result<(), Error> {
        let Some(last) = &self.last else {
            return Ok(());
        };
        if self.printer.is_interval {
            if !self.settings.style.summary {
                return Ok(());
            }
            self.printer.is_interval = false;
        }
        let rows = self.runs.rows();
        let span = Span {
            counted: Counted {
                events: &last.events,
                rows: &rows,
                metrics: &self.metrics,
                wall_ns: 1e9 * self.runs.wall().mean(),
            },
            threads: &last.targets.threads,
            at: None,
        };
        // What a command beside took of the CPUs is not what was counted.
        let of_command = self.settings.watch == WhoseEvents::Command;
        let cpu_time = self.cpu_time.filter(|_| of_command);
        let footer = Footer {
            cpu: cpu_time.map(|time| (time.user, time.system)),
        };
        if self.printer.is_repeated {
            let n = self.runs.wall().n();
            self.printer.title = format!("{} ({n} runs)", self.printer.title);
        }
        let written = (self.printer.span(&span, self.out))
            .and_then(|()| footer.write(&self.printer, &self.runs, self.out))
            .and_then(|()| self.out.flush());
        written.map_err(Error::Write)
    }

    fn not_permitted(&self) -> Vec<String> {
        let events = self.last.iter().flat_map(|last| &last.events);
        let denied = events.filter(|event| event.state == EventState::NotPermitted);
        denied.map(|event| event.name.clone()).collect()
    }

    fn never_counted(&self) -> Vec<String> {
        let Some(last) = &self.last else {
            return Vec::new();
        };
        let rows = self.runs.rows();
        let both = last.events.iter().zip(&rows);
        // Enabled, and not for a moment on the PMU; a task that did not run is something else.
        let is_starved = |rows: &Vec<Row>| {
            let enabled = rows.iter().any(|row| row.enabled_ns > 0.0);
            enabled && rows.iter().all(|row| !row.is_counted())
        };
        let starved = both.filter(|(event, rows)| event.is_counted() && is_starved(rows));
        starved.map(|(event, _)| event.name.clone()).collect()
    }
}

impl Running<'_> {
    fn has_ended(&mut self) -> Result<bool, Error> {
        if let Some(child) = &mut self.child {
            let status = child.try_wait().map_err(Error::system("waiting"))?;
            return Ok(status.is_some());
        }
        let threads = &self.targets.threads;
        let is_alive = |tid| rprof_process::process_of(tid).is_ok();
        Ok(!threads.is_empty() && !threads.iter().any(|thread| is_alive(thread.tid)))
    }

    /// Somebody wants an end.
    fn stop(&mut self) {
        if let Some(child) = &self.child {
            child.terminate();
        }
        self.is_stopped = true;
    }

    fn hear(&mut self, signal: Signal) {
        let Signal::Stop {
            is_from_terminal, ..
        } = signal
        else {
            return;
        };
        if let Some(child) = &self.child {
            match self.is_stopped {
                true => child.kill(),
                // It has the signal, too.
                false if is_from_terminal => {}
                false => child.terminate(),
            }
        }
        self.is_stopped = true;
    }
}

/// The metrics of the events, as often as these are counted.
fn of_each_group(settings: &StatSettings, n_counted: usize) -> Vec<MetricOfEvents> {
    let n_events = settings.events.len().max(1);
    let starts = (0..n_counted).step_by(n_events);
    starts
        .flat_map(|by| settings.metrics.iter().map(move |metric| metric.moved(by)))
        .collect()
}

fn switch(counters: &Counters<KernelDoor>, is_on: bool) -> Result<(), Error> {
    let switched = counters.enable(is_on);
    switched.map_err(Error::system("switching counters"))
}

fn sources(settings: &StatSettings) -> Sources {
    Sources {
        sysfs: settings.sysfs.clone(),
        ..Sources::default()
    }
}
