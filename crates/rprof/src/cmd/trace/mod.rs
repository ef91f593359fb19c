//! `rprof trace`: from a recording, or while it is recorded.

mod live;

use super::no_match;
use super::reading::{open, progress};
use crate::args::TraceArgs;
use crate::say;
use crate::screen::{self, PagerArgs};
use crate::usage::usage;
use anyhow::Result;
use rprof_analysis::machine_name;
use rprof_base::Counted;
use rprof_profile::Profile;
use rprof_ringbuf::sys::Rights;
use rprof_trace::{TraceOptions, Tracer};
use std::collections::HashSet;
use std::process::ExitCode;

/// What a recording lacks.
const NO_CHAINS: &str =
    "-g needs callers, but the recording has no call chains: record with rprof record -g";

pub(crate) fn run(args: TraceArgs, rights: Rights, paging: PagerArgs) -> Result<ExitCode> {
    let Some(path) = &args.input else {
        return live::run(args, rights);
    };
    let reader = open(path, args.limits)?;
    if args.has_stacks() && !reader.has_call_chains() {
        return Err(usage(NO_CHAINS));
    }
    let options = TraceOptions {
        form: args.form(),
        is_live: false,
        fit: screen::fit(),
        selection: args.selection(&machine_name(&reader)).map_err(usage)?,
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
    if profile.is_some() && tracer.is_empty() {
        say::warning(no_match::of_options(&reader, &args.options(&reader)));
    }
    quality.say(&tracer, 0);
    Ok(ExitCode::SUCCESS)
}

const ONE_NAMELESS: &str = "return does not say from which call: it is not counted";
const MANY_NAMELESS: &str = "returns do not say from which call: they are not counted";

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
                "the kernel lost {least}{}: calls are missing, or lack their beginning or end (record \
                 with a larger -m)",
                Counted::new(n_lost, "event", "events")
            ));
        }
        if n_dropped > 0 {
            say::warning(format_args!(
                "{}, since they came faster than they could be read: calls are missing, or lack their beginning or end",
                Counted::new(n_dropped, "event was dropped", "events were dropped")
            ));
        }
        let n_nameless = tracer.n_nameless();
        if n_nameless > 0 {
            say::warning(format_args!(
                "{}",
                Counted::new(n_nameless, ONE_NAMELESS, MANY_NAMELESS)
            ));
        }
    }
}
