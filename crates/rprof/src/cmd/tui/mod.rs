//! `rprof tui`.

mod code;
mod face;

pub(super) use code::{CodeReader, answer};
pub(super) use face::{free_name, save_view};

use super::event::choose;
use super::reading::warn_of;
use super::report;
use super::several::OpenedRecordings;
use crate::args::{Recordings, TuiArgs};
use crate::say;
use crate::screen::{self, PagerArgs};
use anyhow::{Context, Result};
use crossbeam_channel::unbounded;
use face::TerminalFace;
use rprof_analysis::{Options, bookkeeping_events};
use rprof_inspect::header_text;
use rprof_perfdata::Reader;
use rprof_profile::{Account, EventChoice, Filter, SampledProfile};
use rprof_report::{quality_advice, quality_line};
use rprof_tui::{App, RunError, TuiData, TuiSettings, Wires, run as run_interface};
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
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
    let args = &args;
    let opened = OpenedRecordings::open(&args.input.recordings, &args.input.samples)?;
    let reader = &opened.first;
    let has_chains = reader.has_call_chains();
    let mut options = Options {
        stacks: has_chains,
        self_time: args.self_time.self_time(),
        ..args.input.options(reader)
    };
    if args.event.is_none() {
        options.filter.events = EventChoice::Asked;
    }
    let sampled: SampledProfile = opened.read(&options)?;
    let profile = &sampled.profile;
    let event = choose(profile, args.event.as_deref())?.unwrap_or(0);
    let is_shown = sampled.samples.iter().any(|sample| sample.stack.is_some());
    warn_of(profile, reader, &args.input, is_shown);
    let settings = TuiSettings {
        look,
        size,
        keys: args.keys(),
        weighing: args.weighing(has_chains),
        event,
        is_live: false,
    };
    let code = CodeReader::of(args, &opened.paths)?;
    let mut data = data(&opened.paths, reader, sampled);
    data.title += &filtered(&options.filter);
    let mut app = App::new(data, settings);
    let is_on_cpu = options.filter.account == Account::OnCpu;
    if is_on_cpu && args.event.is_none() && !bookkeeping_events(reader).is_empty() {
        app.say("time on CPUs; rprof tui --off-cpu shows the time spent waiting, --wall both");
    }
    let (asked, wanted) = unbounded();
    let (to, updates) = unbounded();
    let mut face = TerminalFace { asked };
    // Before threads start: they are to block the same signals.
    let wires = Wires {
        updates,
        ..Wires::of(|| Box::new(io::stdout()), log()?)?
    };
    // It ends with the program: what it reads nobody waits for.
    let thread = thread::Builder::new().name("rprof-code".to_owned());
    let (reader, locator) = (opened.first, options.locator);
    let beside = move || code.run((&reader, &locator), &wanted, &to);
    thread.spawn(beside).context("starting a thread")?;
    match run_interface(&mut app, &mut face, wires) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // As a shell says what ended something.
        Err(RunError::Ended(signal)) => Ok(ExitCode::from(u8::try_from(128 + signal)?)),
        Err(error) => Err(error.into()),
    }
}

/// What the title says of filters: samples that they leave out are nowhere on the screen.
fn filtered(filter: &Filter) -> String {
    match &filter.times {
        Some(times) => format!(" (--time {})", times.text()),
        None if !filter.accepts_all() => " (filtered)".to_owned(),
        None => String::new(),
    }
}

/// The data shown for recordings.
fn data(paths: &Recordings, reader: &Reader, sampled: SampledProfile) -> TuiData {
    let profile = &sampled.profile;
    let (about, _) = header_text(reader, false);
    let about = about.lines().map(str::to_owned);
    let title = match (paths.first().path(), paths.others()) {
        (path, []) => path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned(),
        _ => paths.name(),
    };
    TuiData {
        title,
        quality: quality_line(profile),
        advice: quality_advice(profile),
        about: about.chain(profile.warnings.iter().cloned()).collect(),
        sampled,
    }
}

/// The log of key response times, if requested.
pub(super) fn log() -> Result<Option<Box<dyn Write>>> {
    let Some(path) = std::env::var_os(LOG).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let file = File::create(&path).with_context(|| format!("{LOG}: {}", path.display()))?;
    Ok(Some(Box::new(file)))
}
