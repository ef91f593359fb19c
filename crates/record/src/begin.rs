//! How a recording begins, however its samples are taken: with a file, and a thread that writes it.

use crate::cpu_budget::Budget;
use crate::drain::Drain;
use crate::output::Created;
use crate::output::files::Files;
use crate::run::{Begin, Run};
use crate::sink::Sink;
use crate::{Error, Settings};
use std::rc::Rc;
use std::sync::Arc;

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
        let created = Created::new(&settings.output)?;
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
