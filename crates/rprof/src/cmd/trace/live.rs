//! Tracing while it is recorded: the recorder runs in this thread, and passes its segments to another one, which reads
//! them.

use super::TraceQuality;
use crate::args::TraceArgs;
use crate::cmd::record;
use crate::say;
use crate::screen;
use crate::usage::usage;
use anyhow::{Context, Result, anyhow};
use rprof_analysis::Options;
use rprof_process::exit_code;
use rprof_record::{
    Cgroups, NextSegment, Note, Output, RecordedSegment, RotateOn, Rotation, Segments, Space,
    segments,
};
use rprof_ringbuf::sys::{Rights, Signal, give_back_free_memory};
use rprof_syscalls::SyscallSelection;
use rprof_trace::{TraceForm, TraceOptions, Tracer};
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How often lines are written.
const LINES_EVERY: Duration = Duration::from_millis(200);

/// How often calls are counted.
const COUNTED_EVERY: Duration = Duration::from_secs(1);

/// Timeout of one wait for a segment.
const WAIT: Duration = Duration::from_secs(3600);

/// So often, in segments, memory is given back.
const TRIM_EVERY: u64 = 16;

/// In a list, the second would be of returns alone.
const ONE_CGROUP: &str = "-G traces one control group: use --for-each-cgroup for several";

/// What lacks.
const NO_TARGET: &str = "nothing to trace: give a command (rprof trace -- cmd), -p PID or -a";

pub(super) fn run(args: TraceArgs, rights: Rights) -> Result<ExitCode> {
    let is_quiet = args.quiet;
    if rights == Rights::Dropped && !is_quiet {
        say::line(record::DROPPED);
    }
    let form = args.form();
    let (output, segments) = segments();
    let selection = args.selection(std::env::consts::ARCH).map_err(usage)?;
    let reading = Reading::new(&args, selection.clone(), segments);
    let mut settings = record::settings(&args.record(selection.as_ref()).map_err(usage)?)?;
    if matches!(&settings.cgroups, Cgroups::ByEvent(names) if names.len() > 1) {
        return Err(usage(ONE_CGROUP));
    }
    settings.output = Output::Segments(output.clone());
    settings.writing.rotation = Some(Rotation {
        on: RotateOn::Time(match form {
            TraceForm::Summary => COUNTED_EVERY,
            _ => LINES_EVERY,
        }),
        most_files: None,
    });
    settings.fields.chains_of = Some(Space::User);
    let mut thread = TraceThread::Waits(Box::new(reading));
    let mut note = |note: Note| match &note {
        // By now the command is forked, which must come before any other thread.
        Note::Opened(_) => thread.start(),
        _ if is_quiet || note.is_detail() => {}
        _ => say::line(&note),
    };
    let recorded = rprof_record::record(&settings, &mut note);
    output.end();
    let read = thread.end();
    let summary = match recorded {
        Err(rprof_record::Error::NothingToRecord) => return Err(usage(NO_TARGET)),
        recorded => recorded?,
    };
    read?;
    let is_end = |&signal: &i32| signal != Signal::INTERRUPT;
    Ok(match (summary.status, summary.ended_by.filter(is_end)) {
        (_, Some(signal)) => ExitCode::from(u8::try_from(128 + signal)?),
        (Some(status), None) => ExitCode::from(exit_code(status)),
        (None, None) => ExitCode::SUCCESS,
    })
}

/// The thread that reads segments.
enum TraceThread {
    Waits(Box<Reading>),
    Runs(JoinHandle<Result<()>>),
    /// It could not be started.
    Failed(std::io::Error),
    Starts,
}

impl TraceThread {
    fn start(&mut self) {
        *self = match std::mem::replace(self, Self::Starts) {
            Self::Waits(reading) => {
                let thread = thread::Builder::new().name("rprof-trace".to_owned());
                match thread.spawn(move || reading.run()) {
                    Ok(thread) => Self::Runs(thread),
                    Err(error) => Self::Failed(error),
                }
            }
            other => other,
        };
    }

    fn end(self) -> Result<()> {
        match self {
            Self::Runs(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("the thread that reads system calls failed"))),
            Self::Failed(error) => Err(error).context("starting a thread"),
            Self::Waits(_) | Self::Starts => Ok(()),
        }
    }
}

/// What reads segments.
struct Reading {
    segments: Segments,
    tracer: Tracer,
    quality: TraceQuality,
    options: Options,
    n_read: u64,
    n_dropped: u64,
    /// Segments were dropped, before the one that was taken last or after it.
    had_drops: bool,
}

impl Reading {
    fn new(args: &TraceArgs, selection: Option<SyscallSelection>, segments: Segments) -> Self {
        let options = TraceOptions {
            form: args.form(),
            is_live: true,
            selection,
            fit: screen::fit(),
        };
        Self {
            segments,
            tracer: Tracer::new(std::env::consts::ARCH, options),
            quality: TraceQuality::default(),
            options: Options {
                stacks: args.has_stacks(),
                known_names: Some(Arc::default()),
                locator: args.sources.local(),
                ..Options::default()
            },
            n_read: 0,
            n_dropped: 0,
            had_drops: false,
        }
    }

    /// Reads each segment as it comes, until the recording ends, or nobody reads what is written.
    fn run(mut self) -> Result<()> {
        let done = self.read_all();
        // Whatever went wrong, there is no use in recording more.
        self.segments.stop();
        done
    }

    fn read_all(&mut self) -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout());
        loop {
            match self.segments.next(WAIT) {
                NextSegment::End => break,
                NextSegment::NotYet => {}
                NextSegment::Segment(segment) => {
                    self.note_drops();
                    self.take(segment, &mut out)?;
                }
            }
        }
        self.note_drops();
        self.tracer.end(&mut out)?;
        self.quality.say(&self.tracer, self.n_dropped);
        Ok(())
    }

    /// What was dropped is between two segments that were taken: the last two, or the last one and the next.
    fn note_drops(&mut self) {
        let n_dropped = self.segments.take_dropped();
        if n_dropped > 0 || self.had_drops {
            self.tracer.lose();
        }
        self.had_drops = n_dropped > 0;
        self.n_dropped = self.n_dropped.saturating_add(n_dropped);
    }

    fn take(&mut self, segment: RecordedSegment, out: &mut dyn Write) -> Result<()> {
        let reading = "reading the recorded system calls";
        let reader = segment.open().context(reading)?;
        self.options.locator.budget = reader.budget().clone();
        let profile = self.tracer.read(&reader, &self.options, &mut |_| {}, out)?;
        self.quality.add(&profile);
        self.n_read += 1;
        if self.n_read.is_multiple_of(TRIM_EVERY) {
            give_back_free_memory();
        }
        Ok(())
    }
}
