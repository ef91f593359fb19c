//! `rprof symbols`, and names for a recording to carry.

use super::reading::{open, with_progress};
use super::record::size;
use crate::args::{LimitArgs, SymbolsArgs};
use crate::screen::PagerArgs;
use crate::{say, target};
use anyhow::{Context, Result, bail};
use rprof_analysis::{load_symbols, symbol_section};
use rprof_inspect::{JsonFields, visit_symbols, write_symbols};
use rprof_locate::Locator;
use rprof_perfdata::{FeatureId, Form, Reader, add_feature_to, rewrite_with};
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &SymbolsArgs, paging: PagerArgs) -> Result<ExitCode> {
    if args.embed {
        let output = args.output.as_deref();
        let locator = |reader: &Reader| args.locator(reader);
        let path = args.recording.path();
        say::line(embed(path, output, args.limits, locator)?);
        return Ok(ExitCode::SUCCESS);
    }
    let reader = open(args.recording.path(), args.limits)?;
    let locator = args.locator(&reader);
    let symbols = with_progress(&reader, |show| load_symbols(&reader, &locator, show))?;
    if !args.json {
        symbols.warnings.iter().for_each(say::warning);
    }
    let pager = args.paging.or(paging).pager();
    pager.write(|mut out| {
        let written = if args.json {
            out.write_all(&JsonFields::line(|json| visit_symbols(&symbols, json)))
        } else {
            write_symbols(&symbols, args.all, &mut out)
        };
        written.context("writing symbol sources")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What was put into a recording.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// Bytes of the whole file now.
    pub(crate) size_bytes: u64,
    section_bytes: u64,
    addresses: usize,
    named: usize,
}

impl fmt::Display for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            addresses, named, ..
        } = self;
        let size = size(self.section_bytes);
        let of = if named == addresses {
            String::new()
        } else {
            format!(" of {addresses}")
        };
        write!(
            f,
            "embedded the symbols of {named}{of} addresses in the file ({size})"
        )
    }
}

/// Puts the names of all that samples hit into a recording, or into a new file of its records.
pub(crate) fn embed(
    path: &Path,
    output: Option<&Path>,
    limits: LimitArgs,
    locator: impl Fn(&Reader) -> Locator,
) -> Result<Embedded> {
    let reader = open(path, limits)?;
    if reader.form() == Form::Pipe && output.is_none() {
        bail!(
            "{}: recorded through a pipe, so it has no room for symbols; use -o FILE to write a new file with them",
            path.display()
        );
    }
    let section = symbol_section(&reader, &locator(&reader), &mut |_| {})?;
    section.warnings.iter().for_each(say::warning);
    let section_bytes = section.bytes.len() as u64;
    let finished = match output {
        Some(new) => target::make(new, |file| {
            let names = (FeatureId::SYMBOLS, section.bytes);
            rewrite_with(&reader, (file, new), names).context("rewriting the recording")
        })?,
        None => add_feature_to(&reader, FeatureId::SYMBOLS, &section.bytes)
            .context("adding symbols to the recording (use -o FILE to write them to a new one)")?,
    };
    Ok(Embedded {
        size_bytes: finished.size_bytes,
        section_bytes,
        addresses: section.addresses,
        named: section.named,
    })
}
