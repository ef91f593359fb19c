//! `rprof top`: a recording that is looked at while it goes on.
//!
//! The recorder has this thread, as always, and its segments go to another one, which reads and shows them.

#[cfg(feature = "tui")]
mod interface;
mod stdio;
mod viewer;
mod window;

use super::record;
use crate::args::TopArgs;
use crate::say;
use crate::usage::usage;
use anyhow::Result;
use rprof_process::exit_code;
use rprof_record::{Note, Output, Space, SwitchOn, SwitchOutput, segments};
use rprof_ringbuf::sys::Rights;
use std::process::ExitCode;
use viewer::Viewer;

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
    let is_interrupted = recorded
        .as_ref()
        .is_ok_and(|summary| summary.is_interrupted);
    let shown = viewer.end(is_interrupted || recorded.is_err());
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
