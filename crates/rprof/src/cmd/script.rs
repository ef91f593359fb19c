//! `rprof script`.

use super::header;
use super::no_match;
use super::reading::{ending, open_any, progress};
use crate::args::ScriptArgs;
use crate::say;
use crate::screen::PagerArgs;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_script::{FieldSelection, ScriptOptions, write_script};
use std::io::{self, IsTerminal};
use std::process::ExitCode;

/// What to do instead of running perf's scripts.
const NO_SCRIPTS: &str = "rprof runs no scripts: use rprof script --json, which prints one line per sample (docs: \
    crates/JSON.md)";

pub(crate) fn run(args: &ScriptArgs, paging: PagerArgs) -> Result<ExitCode> {
    let path = args.recording.path();
    let is_perfs = ["record", "report"]
        .iter()
        .any(|word| path.as_os_str() == *word);
    if args.script.is_some() || args.gen_script.is_some() || is_perfs && !path.exists() {
        return Err(usage(NO_SCRIPTS));
    }
    let mut fields = FieldSelection::default();
    let added = args.fields.iter().try_for_each(|text| fields.add(text));
    added.map_err(usage)?;
    let reader = open_any(args.recording.path(), args.samples.limits)?;
    let pager = args.paging.or(paging).pager();
    let header = header::text(&args.header, &reader);
    if args.header.header_only {
        return header::only(&header, &pager);
    }
    let options = ScriptOptions {
        filter: args.samples.filter(),
        fields,
        chains: !args.hide_call_graph,
        inlines: !args.samples.no_inline,
        stop_at: args.stop_bt.clone(),
        nanoseconds: args.ns,
        times: args.times(),
        json: args.json,
        records: args.records(),
        locator: args.samples.locator(&reader),
        demangling: args.samples.demangling(),
    };
    // Where lines go to a terminal, they say themselves how far it is.
    let mut progress = (!io::stdout().is_terminal()).then(|| progress(&reader));
    let printed = pager.write(|mut out| {
        out.write_all(header.as_bytes())
            .context("writing the header")?;
        let mut show = |share| {
            if let Some(progress) = &mut progress {
                progress.show(share);
            }
        };
        Ok(write_script(&reader, &options, &mut show, &mut out)?)
    })?;
    drop(progress);
    let Some(printed) = printed else {
        return Ok(ExitCode::SUCCESS);
    };
    let profile = &printed.profile;
    profile.warnings.iter().for_each(say::warning);
    if printed.none_match {
        say::warning(no_match::sentence(&reader, &args.samples));
    }
    profile.events.iter().for_each(say::loss);
    say::stacks(&profile.unwound);
    if !printed.none_match {
        say::quality(profile);
    }
    Ok(ending(args.strict, profile))
}
