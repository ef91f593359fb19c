//! `rprof top`: a recording that is looked at while it goes on.
//!
//! The recorder has this thread, as always, and its segments go to another one, which reads and shows them.

mod stdio;
mod window;

use super::record;
use crate::args::TopArgs;
use crate::say;
use crate::usage::usage;
use anyhow::{Context, Result, anyhow};
use rprof_process::exit_code;
use rprof_record::{Note, Output, Segments, Space, SwitchOn, SwitchOutput, segments};
use rprof_ringbuf::sys::Rights;
use std::process::ExitCode;
use std::thread::{self, JoinHandle};
use stdio::Tables;
use window::LiveWindow;

pub(crate) fn run(args: TopArgs, rights: Rights) -> Result<ExitCode> {
    let (view, is_quiet) = (args.view.clone(), args.quiet);
    if rights == Rights::Dropped && !is_quiet {
        say::line(record::DROPPED);
    }
    let mut settings = record::settings(&args.record().map_err(usage)?)?;
    let (output, segments) = segments();
    settings.output = Output::Segments(output.clone());
    settings.writing.switch = Some(SwitchOutput {
        on: SwitchOn::Time(view.delay),
        most_files: None,
    });
    settings.fields.only_in = match (view.hide_kernel, view.hide_user) {
        (true, _) => Some(Space::User),
        (_, true) => Some(Space::Kernel),
        (false, false) => None,
    };
    let mut viewer = Viewer::Waits(
        Box::new(Tables::new(LiveWindow::new(&view), view)),
        segments,
    );
    let mut note = |note: Note| match &note {
        // By now the command is forked, which must come before any other thread.
        Note::Opened(_) => viewer.start(),
        _ if is_quiet || note.is_detail() => {}
        _ => say::line(&note),
    };
    let recorded = rprof_record::record(&settings, &mut note);
    output.end();
    let shown = viewer.end();
    let summary = recorded?;
    shown?;
    if !is_quiet {
        record::tell_of_end(&summary);
    }
    Ok(match summary.status {
        Some(status) => ExitCode::from(exit_code(status)),
        None => ExitCode::SUCCESS,
    })
}

/// The thread that shows what is recorded.
enum Viewer {
    Waits(Box<Tables>, Segments),
    Runs(JoinHandle<Result<()>>),
    /// It could not be started.
    Failed(std::io::Error),
    Starts,
}

impl Viewer {
    fn start(&mut self) {
        *self = match std::mem::replace(self, Self::Starts) {
            Self::Waits(mut tables, segments) => {
                let thread = thread::Builder::new().name("rprof-top".to_owned());
                match thread.spawn(move || tables.show(&segments)) {
                    Ok(thread) => Self::Runs(thread),
                    Err(error) => Self::Failed(error),
                }
            }
            other => other,
        };
    }

    /// Waits for its end.
    fn end(self) -> Result<()> {
        match self {
            Self::Runs(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(anyhow!("the thread that shows samples has failed"))),
            Self::Failed(error) => Err(error).context("starting a thread"),
            Self::Waits(..) | Self::Starts => Ok(()),
        }
    }
}
