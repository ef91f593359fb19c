//! `rprof trace`: from a recording, or while it is recorded.

mod live;

use super::reading::{open, progress};
use crate::args::TraceArgs;
use crate::say;
use crate::screen::PagerArgs;
use anyhow::Result;
use rprof_analysis::machine_name;
use rprof_profile::Profile;
use rprof_ringbuf::sys::Rights;
use rprof_trace::{TraceOptions, Tracer};
use std::collections::HashSet;
use std::process::ExitCode;

pub(crate) fn run(args: TraceArgs, rights: Rights, paging: PagerArgs) -> Result<ExitCode> {
    let Some(path) = &args.input else {
        return live::run(args, rights);
    };
    let reader = open(path, args.limits)?;
    let options = TraceOptions {
        form: args.form(),
        is_live: false,
    };
    let mut tracer = Tracer::new(&machine_name(&reader), options);
    let mut progress = progress(&reader);
    let pager = args.paging.or(paging).pager();
    let profile = pager.write(|mut out| {
        let options = args.options(&reader);
        let show = &mut |share| progress.show(share);
        let profile = tracer.read(&reader, &options, show, &mut out)?;
        tracer.end(&mut out)?;
        Ok(profile)
    })?;
    drop(progress);
    let mut quality = TraceQuality::default();
    if let Some(profile) = &profile {
        quality.add(profile);
    }
    quality.say(&tracer, 0);
    Ok(ExitCode::SUCCESS)
}

/// What is to be said of what was read.
#[derive(Default)]
struct TraceQuality {
    said: HashSet<String>,
    n_lost: u64,
    at_least: bool,
}

/// Warnings that are remembered; beyond them, all are forgotten.
const MOST_SAID: usize = 1024;

impl TraceQuality {
    /// Says what was not said before, and adds up the rest.
    fn add(&mut self, profile: &Profile) {
        if self.said.len() > MOST_SAID {
            self.said.clear();
        }
        for warning in &profile.warnings {
            if self.said.insert(warning.clone()) {
                say::warning(warning);
            }
        }
        let losses = profile.events.iter().map(|event| &event.loss);
        for loss in losses {
            self.n_lost = self.n_lost.saturating_add(loss.samples);
            self.at_least |= loss.at_least;
        }
    }

    /// Says what all came to; some events were dropped by rprof itself.
    fn say(&self, tracer: &Tracer, n_dropped: u64) {
        let n_lost = self.n_lost;
        if n_lost > 0 {
            let least = if self.at_least { "at least " } else { "" };
            say::warning(format_args!(
                "the kernel lost {least}{n_lost} events: calls are missing, or lack their beginning or end (record \
                 with a larger -m)"
            ));
        }
        if n_dropped > 0 {
            say::warning(format_args!(
                "{n_dropped} events were dropped, since they came faster than they could be read: calls are missing, \
                 or lack their beginning or end"
            ));
        }
        let n_nameless = tracer.n_nameless();
        if n_nameless > 0 {
            say::warning(format_args!(
                "{n_nameless} returns do not say from which call: they are not counted"
            ));
        }
    }
}
