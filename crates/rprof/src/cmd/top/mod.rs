//! `rprof top`: a live view of a recording in progress.
//!
//! The recorder runs in this thread, as always, and passes its segments to another thread, which reads and shows them.

#[cfg(feature = "tui")]
mod interface;
mod stdio;
mod viewer;
mod warnings;
mod window;

use super::record;
use crate::args::TopArgs;
use crate::say;
use crate::usage::usage;
use anyhow::Result;
use rprof_process::exit_code;
use rprof_profile::Account;
use rprof_record::{Note, OffCpu, Output, RotateOn, Rotation, Space, Summary, segments};
use rprof_ringbuf::sys::{Rights, Signal};
use std::process::ExitCode;
use viewer::Viewer;

/// What lacks.
const NO_WAITS: &str = "-s cause and -s state need the time of threads: add --off-cpu or --wall";

pub(crate) fn run(args: TopArgs, rights: Rights) -> Result<ExitCode> {
    let (view, is_quiet) = (args.view.clone(), args.quiet);
    if view.lacks_waits() {
        return Err(usage(NO_WAITS));
    }
    if rights == Rights::Dropped && !is_quiet {
        say::line(record::DROPPED);
    }
    let mut settings = record::settings(&args.record().map_err(usage)?)?;
    let (output, segments) = segments();
    settings.output = Output::Segments(output.clone());
    settings.writing.rotation = Some(Rotation {
        on: RotateOn::Time(view.delay),
        most_files: None,
    });
    if view.account() != Account::OnCpu {
        settings.off_cpu = Some(OffCpu::default());
    }
    settings.fields.only_in = match (view.hide_kernel, view.hide_user) {
        (true, _) => Some(Space::User),
        (_, true) => Some(Space::Kernel),
        (false, false) => None,
    };
    let mut viewer = Viewer::of(view, segments)?;
    settings.hides_command = viewer.has_terminal();
    let mut note = |note: Note| match &note {
        // By now the command is forked, which must come before any other thread.
        Note::Opened(_) => viewer.start(),
        _ if is_quiet || note.is_detail() => {}
        _ => viewer.say(&note),
    };
    let recorded = rprof_record::record(&settings, &mut note);
    output.end();
    let is_over = match &recorded {
        Ok(summary) => summary.ended_by.is_some(),
        Err(_) => true,
    };
    let shown = viewer.end(is_over);
    let summary = recorded?;
    let later = shown?;
    if !is_quiet {
        record::tell_of_end(&summary);
    }
    code_of(&summary, later)
}

/// The command's, if there was one; else as a shell says which signal ended it, also if that came `later`, when the
/// recording was over. SIGINT is how to end it.
fn code_of(summary: &Summary, later: Option<i32>) -> Result<ExitCode> {
    let is_end = |&signal: &i32| signal != Signal::INTERRUPT;
    let of_signal = |signal: i32| Ok(ExitCode::from(u8::try_from(128 + signal)?));
    match (
        later.filter(is_end),
        summary.status,
        summary.ended_by.filter(is_end),
    ) {
        (Some(signal), _, _) | (None, None, Some(signal)) => of_signal(signal),
        (None, Some(status), _) => Ok(ExitCode::from(exit_code(status))),
        (None, None, None) => Ok(ExitCode::SUCCESS),
    }
}
