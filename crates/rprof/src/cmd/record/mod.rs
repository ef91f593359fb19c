//! `rprof record`.

mod attr_dump;
mod events;
mod flight;
mod settings;
mod stacks;
mod summary;
mod targets;

use super::symbols::embed;
use crate::args::{LimitArgs, RecordArgs};
use crate::say;
use anyhow::Result;
pub(super) use events::with_filters;
use rprof_locate::Locator;
use rprof_perfdata::Reader;
use rprof_process::exit_code;
use rprof_record::{Note, Output, Summary, record};
use rprof_ringbuf::sys::Rights;
pub(super) use settings::settings;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use summary::{brief, sentence, tell};
pub(super) use summary::{size, tell_of_end};

/// Why rprof lacks rights that its file seems to have.
pub(super) const DROPPED: &str = "this rprof is executable by everybody: dropping its file capabilities, which are \
    meant for a group (README.md, \"For a team\")";

pub(crate) fn run(args: &RecordArgs, rights: Rights) -> Result<ExitCode> {
    run_telling(args, rights, sentence)
}

/// Records for a reader that follows: does not mention the file.
pub(super) fn run_briefly(args: &RecordArgs, rights: Rights) -> Result<ExitCode> {
    run_telling(args, rights, brief)
}

/// Records, and prints the result with `what`.
fn run_telling(
    args: &RecordArgs,
    rights: Rights,
    what: fn(&Summary) -> String,
) -> Result<ExitCode> {
    if rights == Rights::Dropped && !args.quiet {
        say::line(DROPPED);
    }
    let mut note = |note: Note| match &note {
        Note::Opened(event) if args.verbose > 1 => {
            say::line(event);
            say::block(&attr_dump::dump(&event.attr));
        }
        Note::Opened(_) => {}
        _ if args.verbose > 0 || !(args.quiet || note.is_detail()) => say::line(&note),
        _ => {}
    };
    if let Some(list) = args.fields.list() {
        writeln!(std::io::stdout(), "{list}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let settings = settings(args)?;
    let mut summary = match record(&settings, &mut note) {
        Err(error) if is_reader_gone(&error, &settings.output) => return Ok(reader_gone(&error)),
        Err(error) if rights == Rights::Dropped && args.quiet => {
            // It may be why.
            say::line(DROPPED);
            return Err(error.into());
        }
        recorded => recorded?,
    };
    if let (true, Output::File(path)) = (args.output.embed_symbols, &summary.output)
        && summary.samples > 0
    {
        let locator = |reader: &Reader| Locator {
            kept: settings.kept_files.clone(),
            budget: reader.budget().clone(),
            ..Locator::default()
        };
        match embed(path, None, LimitArgs::default(), locator) {
            Ok(done) => {
                summary.size_bytes = done.size_bytes;
                if !args.quiet {
                    say::line(done);
                }
            }
            // The recording is whole all the same.
            Err(error) => say::warning(format_args!("symbols were not embedded: {error:#}")),
        }
    }
    tell(&summary, what, args.quiet, args.verbose);
    Ok(match summary.status {
        Some(status) => ExitCode::from(exit_code(status)),
        None => ExitCode::SUCCESS,
    })
}

/// Whether the reader of the pipe has exited.
fn is_reader_gone(error: &rprof_record::Error, output: &Output) -> bool {
    let rprof_record::Error::Write {
        source: rprof_perfdata::Error::Io { source, .. },
        ..
    } = error
    else {
        return false;
    };
    matches!(output, Output::Pipe(_)) && source.kind() == ErrorKind::BrokenPipe
}

/// Not an error: the reader chose to exit. Passes on the command's status.
fn reader_gone(error: &rprof_record::Error) -> ExitCode {
    say::line("the reader of the pipe has exited: later samples are not recorded");
    match error {
        rprof_record::Error::Write {
            status: Some(status),
            ..
        } => ExitCode::from(exit_code(*status)),
        _ => ExitCode::SUCCESS,
    }
}
