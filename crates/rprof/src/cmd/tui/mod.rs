//! `rprof tui`.

mod code;
mod face;
mod samples;

pub(super) use code::{CodeReader, answer};
pub(super) use face::{free_name, save_view};

use super::event::choose;
use super::reading::warn_of;
use super::report;
use super::several::OpenedRecordings;
use crate::args::TuiArgs;
use crate::say;
use crate::screen::{self, PagerArgs};
use crate::usage::usage;
use anyhow::{Context, Result};
use crossbeam_channel::unbounded;
use face::TerminalFace;
use rprof_profile::Account;
use rprof_profile::view::SortKey;
use rprof_tui::{App, RunError, SampleScope, TuiData, TuiSettings, Wires, run as run_interface};
use samples::SampleReader;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

/// Environment variable with the name of a log file: one line per key, with its response time.
const LOG: &str = "RPROF_TUI_LOG";

pub(crate) fn run(args: TuiArgs, paging: PagerArgs) -> Result<ExitCode> {
    let (look, size) = match screen::interface() {
        Ok(terminal) => terminal,
        Err(why) => {
            say::line(format_args!("{why}; printing the report"));
            return report::run(&args.into_report()?, paging);
        }
    };
    args.check_keys().map_err(usage)?;
    // Threads that nobody waits for use them until the program ends.
    let args: &'static TuiArgs = Box::leak(Box::new(args));
    // Before threads start: they are to block the same signals.
    let mut wires = Wires::of(|| Box::new(io::stdout()), log()?)?;
    let (reading, data) = match wires.read(move || first_samples(args)) {
        Ok(Some(read)) => read?,
        Ok(None) => {
            say::hush();
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => {
            say::hush();
            return ended(error);
        }
    };
    let account = data.scope.account;
    let reader = &reading.opened.first;
    let profile = &data.sampled.profile;
    let event = choose(profile, args.event.as_deref())?.unwrap_or(0);
    let is_shown = {
        let mut samples = data.sampled.samples.iter();
        samples.any(|sample| sample.stack.is_some())
    };
    warn_of(profile, reader, &args.input, is_shown);
    let settings = TuiSettings {
        look,
        size,
        keys: args.keys(),
        weighing: args.weighing(reader.has_call_chains()),
        event,
        is_live: false,
    };
    let code = CodeReader::of(args, &reading.opened.paths)?;
    let locator = args.input.options(reader).locator;
    let has_waits = !data.accounts.is_empty();
    let mut app = App::new(data, settings);
    if has_waits && account == Account::OnCpu {
        app.say("time on CPUs; w: time spent waiting, or both");
    }
    let (asked, wanted) = unbounded();
    let (reads, wanted_reads) = unbounded();
    let (to, updates) = unbounded();
    let mut face = TerminalFace { asked, reads };
    wires.updates = updates;
    let reading = Arc::new(reading.quiet());
    let (of_code, to_code) = (Arc::clone(&reading), to.clone());
    beside("rprof-code", move || {
        code.run((&of_code.opened.first, &locator), &wanted, &to_code);
    })?;
    beside("rprof-read", move || reading.run(&wanted_reads, &to))?;
    match run_interface(&mut app, &mut face, wires) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => ended(error),
    }
}

/// The samples that are shown first, and what reads others.
fn first_samples(args: &'static TuiArgs) -> Result<(SampleReader, TuiData)> {
    let opened = OpenedRecordings::open(&args.input.recordings, &args.input.samples)?;
    let reading = SampleReader { args, opened };
    let scope = SampleScope {
        account: args.input.filter().account,
        by: SortKey::dimensions(&args.keys()),
    };
    let data = reading.data(&scope)?;
    Ok((reading, data))
}

/// The exit code after an interface that something ended.
fn ended(error: RunError) -> Result<ExitCode> {
    match error {
        // As a shell says what ended something.
        RunError::Ended(signal) => Ok(ExitCode::from(u8::try_from(128 + signal)?)),
        error => Err(error.into()),
    }
}

/// Starts a thread that ends with the program: what it reads nobody waits for.
fn beside(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.spawn(run).map(drop).context("starting a thread")
}

/// The log of key response times, if requested.
pub(super) fn log() -> Result<Option<Box<dyn Write>>> {
    let Some(path) = std::env::var_os(LOG).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let file = File::create(&path).with_context(|| format!("{LOG}: {}", path.display()))?;
    Ok(Some(Box::new(file)))
}
