//! `--header`, `--header-only`, `-I` of `rprof report` and `rprof script`.

use crate::args::HeaderArgs;
use crate::say;
use crate::screen::Pager;
use anyhow::{Context, Result};
use rprof_inspect::header_text;
use rprof_perfdata::Reader;
use std::process::ExitCode;

/// The header, if it was asked for; says what could not be read of it.
pub(crate) fn text(args: &HeaderArgs, reader: &Reader) -> String {
    if !args.is_shown() {
        return String::new();
    }
    let (text, warnings) = header_text(reader, args.show_info);
    warnings.iter().for_each(say::warning);
    text
}

/// Writes it and nothing else.
pub(crate) fn only(text: &str, pager: &Pager) -> Result<ExitCode> {
    pager.write(|out| out.write_all(text.as_bytes()).context("writing the header"))?;
    Ok(ExitCode::SUCCESS)
}
