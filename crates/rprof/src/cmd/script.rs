//! `rprof script`.

use super::header;
use super::no_match;
use super::reading::{ending, progress};
use super::several::{OpenedRecordings, SharedWarnings};
use crate::args::ScriptArgs;
use crate::say;
use crate::screen::PagerArgs;
use crate::usage::usage;
use anyhow::{Context, Result};
use rprof_perfdata::Reader;
use rprof_profile::{JoinedProfile, Profile};
use rprof_script::{FieldSelection, Printed, ScriptOptions, write_script};
use rprof_untrusted::printable;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// What to do instead of running perf's scripts.
const NO_SCRIPTS: &str = "rprof runs no scripts: use rprof script --json, which prints one line per sample (docs: \
    crates/JSON.md)";

pub(crate) fn run(args: &ScriptArgs, paging: PagerArgs) -> Result<ExitCode> {
    let path = args.recordings.first().path();
    let is_perfs = ["record", "report"]
        .iter()
        .any(|word| path.as_os_str() == *word);
    if args.script.is_some() || args.gen_script.is_some() || is_perfs && !path.exists() {
        return Err(usage(NO_SCRIPTS));
    }
    let mut fields = FieldSelection::default();
    let added = args.fields.iter().try_for_each(|text| fields.add(text));
    added.map_err(usage)?;
    let opened = OpenedRecordings::open(&args.recordings, &args.samples)?;
    let pager = args.paging.or(paging).pager();
    let options = |reader: &Reader| ScriptOptions {
        filter: args.samples.filter(),
        fields: fields.clone(),
        chains: !args.hide_call_graph,
        inlines: !args.samples.no_inline,
        stop_at: args.stop_bt.clone(),
        keep_stacks: args.keep.names(),
        nanoseconds: args.ns,
        times: args.times(),
        json: args.json,
        records: args.records(),
        locator: args.samples.locator(reader),
        demangling: args.samples.demangling(),
    };
    let written = pager.write(|mut out| {
        let mut written = Written::default();
        opened.each(|reader| {
            write_heading(args, reader, opened.count(), &mut out)?;
            if args.header.header_only {
                return Ok(());
            }
            // Where lines go to a terminal, they say themselves how far it is.
            let mut progress = (!io::stdout().is_terminal()).then(|| progress(reader));
            let mut show = |share| {
                if let Some(progress) = &mut progress {
                    progress.show(share);
                }
            };
            let printed = write_script(reader, &options(reader), &mut show, &mut out)?;
            written.add(reader.path(), &printed);
            Ok(())
        })?;
        Ok(written)
    })?;
    let Some(written) = written.filter(|_| !args.header.header_only) else {
        return Ok(ExitCode::SUCCESS);
    };
    let none_match = !written.has_matches;
    let profile = written.into_profile(opened.count());
    profile.warnings.iter().for_each(say::warning);
    if none_match {
        say::warning(why_none(args, &opened.first));
    }
    profile.events.iter().for_each(say::loss);
    say::stacks(&profile);
    if !none_match {
        say::quality(&profile);
    }
    Ok(ending(args.strict, &profile))
}

/// Why nothing is printed.
fn why_none(args: &ScriptArgs, reader: &Reader) -> String {
    if args.keep.is_filter() && args.samples.filter().accepts_all() {
        return args.keep.none_is_left();
    }
    no_match::sentence(reader, &args.samples)
}

/// Writes what goes before the samples of a recording: which one it is, if there are several, and its header.
fn write_heading(
    args: &ScriptArgs,
    reader: &Reader,
    n_recordings: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let header = header::text(&args.header, reader);
    // In JSON, the line before its samples says it.
    if n_recordings > 1 && (!args.json || args.header.header_only) {
        writeln!(
            out,
            "# recording: {}",
            printable(&reader.path().to_string_lossy())
        )
        .context("writing the header")?;
    }
    out.write_all(header.as_bytes())
        .context("writing the header")
}

/// What is to be said of all recordings once their samples are printed.
#[derive(Default)]
struct Written {
    joined: JoinedProfile,
    warnings: SharedWarnings,
    /// Whether the filter left samples of any.
    has_matches: bool,
}

impl Written {
    fn add(&mut self, path: &Path, printed: &Printed) {
        self.joined.add(&printed.profile);
        self.warnings.add(path, &printed.profile.warnings);
        self.has_matches |= !printed.none_match;
    }

    /// Of this many recordings: which of them a warning is about is said if there are several.
    fn into_profile(self, n_recordings: usize) -> Profile {
        let mut profile = self.joined.finish();
        if n_recordings > 1 {
            profile.warnings = self.warnings.into_sentences();
        }
        profile
    }
}
