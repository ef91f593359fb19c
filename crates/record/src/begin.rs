//! How a recording begins, however its samples are taken: with a file, and a thread that writes it.

use crate::cpu_budget::Budget;
use crate::drain::Drain;
use crate::interrupts::Interrupts;
use crate::output::Created;
use crate::output::files::Files;
use crate::run::{Begin, Run};
use crate::sink::Sink;
use crate::{Error, Note, Output, Settings, Watch};
use rprof_process::{Gated, Stdout};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Waits for processes that are to be recorded, if that was asked for; returns since when.
pub(crate) fn wait_for_processes(
    settings: &Settings,
    interrupts: &Interrupts,
    note: &mut dyn FnMut(Note),
) -> Result<Option<Instant>, Error> {
    match (&settings.watch, settings.wait) {
        (Watch::Matching(matching), true) => matching.wait(interrupts, note),
        _ => Ok(None),
    }
}

/// Says that processes that were waited for were found, once they are recorded.
pub(crate) fn note_found(
    started: &Result<(), Error>,
    waited_since: Option<Instant>,
    note: &mut dyn FnMut(Note),
) {
    if let (Ok(()), Some(since)) = (started, waited_since) {
        let within = since.elapsed();
        note(Note::Found { within });
    }
}

/// Forks the command, if there is one. It waits until it may begin.
pub(crate) fn spawn(settings: &Settings) -> Result<Option<Gated>, Error> {
    if settings.command.is_empty() {
        return Ok(None);
    }
    let stdout = match settings.output {
        _ if settings.hides_command => Stdout::Nowhere,
        Output::File(_) => Stdout::Inherited,
        Output::Pipe(_) | Output::Segments(_) => Stdout::ToStderr,
    };
    Ok(Some(Gated::spawn(&settings.command, stdout)?))
}

impl<'a> Run<'a> {
    /// Makes the file, and starts the thread that writes it.
    pub(crate) fn begin(settings: &'a Settings, begin: Begin) -> Result<Self, Error> {
        let Begin {
            plan,
            interrupts,
            sideband_layout,
            ..
        } = begin;
        let unwinds = plan.unwinder.is_some();
        let budget = settings.cpu_percent.map(|percent| {
            Budget::new(percent, begin.rate, plan.control.has_dump_sizes(), unwinds)
        });
        let mut created = Created::new(&settings.output)?;
        let files = Files::new(settings.writing.switch, plan.written, begin.known);
        let compression = settings.writing.compression;
        let writer = created.start(files.begin(Vec::new()), compression, &interrupts)?;
        let taken = Arc::clone(&created.taken);
        let sink = Sink::start(writer, plan.unwinder, Rc::clone(&interrupts), taken)?;
        Ok(Self {
            settings,
            sink,
            drain: Drain::new(
                begin.drained_layout,
                plan.stacks,
                begin.left_out,
                settings.clock,
            ),
            control: plan.control,
            budget,
            unreadable: plan.unreadable,
            opened: begin.opened,
            switching: begin.switching,
            interrupts,
            sideband_layout,
            child: None,
            created,
            files,
            trigger: begin.trigger,
        })
    }
}
